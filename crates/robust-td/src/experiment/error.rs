//! Defines the errors of an experiment.

use crate::contest::ContestError;
use crate::error::Error;

/// Why an experiment is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// An invalid method or size.
    #[error(transparent)]
    Contest(#[from] ContestError),
    /// No methods.
    #[error("algorithms is empty")]
    NoAlgorithms,
    /// More than one thing varies.
    #[error("only one thing varies at a time, not {}", .names.join(" and "))]
    SeveralVary {
        /// What varies.
        names: Vec<String>,
    },
    /// A mean over no agents.
    #[error("agents has {agents}, but must be at least 1")]
    Agents {
        /// The number.
        agents: u64,
    },
    /// A split into bias and spread from one run.
    #[error("agents need at least 2 runs, to separate bias from spread")]
    AgentsNeedRuns,
    /// Something that is both fixed and varied.
    #[error("{name} is both {how} and varied")]
    FixedAndVaried {
        /// Its name.
        name: String,
        /// How it is fixed.
        how: &'static str,
    },
    /// A name of nothing that can vary.
    #[error(
        "{name:?} is not free to vary: it is neither horizon nor an unset parameter of {problem} or of a method"
    )]
    NothingToVary {
        /// The name.
        name: String,
        /// The problem.
        problem: String,
    },
    /// More of something than an experiment can have.
    #[error("{name} has {found} entries; the limit is {most}")]
    TooMany {
        /// What.
        name: String,
        /// How many.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// More learners than an experiment can have.
    #[error(
        "{methods} algorithms at {values} values are {} learners; the limit is {most}: use fewer, or several experiments",
        methods * values
    )]
    TooManyLearners {
        /// The number of algorithms.
        methods: usize,
        /// The number of values of what varies.
        values: usize,
        /// The limit.
        most: usize,
    },
    /// No values of what varies.
    #[error("{name} has no values")]
    NoValues {
        /// What varies.
        name: String,
    },
    /// A value that is infinite or NaN.
    #[error("{name} takes the value {value}, which is not finite")]
    NotFinite {
        /// What varies.
        name: String,
        /// The value.
        value: f64,
    },
    /// A value that occurs twice.
    #[error("{name} takes the value {value} twice")]
    RepeatedValue {
        /// What varies.
        name: String,
        /// The value.
        value: f64,
    },
    /// A horizon that is not an integer, or too short.
    #[error("horizon takes the value {value}, not an integer >= 3")]
    HorizonValue {
        /// The value.
        value: f64,
    },
    /// No horizon.
    #[error("missing key `horizon`")]
    NoHorizon,
    /// A value at which the experiment cannot run.
    #[error("at {name} = {value}: {source}")]
    At {
        /// What varies.
        name: String,
        /// The value.
        value: f64,
        /// What is wrong there.
        source: Box<Error>,
    },
}
