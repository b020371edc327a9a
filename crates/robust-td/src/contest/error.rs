//! Defines the errors in a choice of methods or the size of a contest.

use robust_td_core::suggestion;

use super::run::MOST_RUNS;
use crate::setting::SettingError;

/// Why methods cannot be compared as requested.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContestError {
    /// A method that does not exist.
    #[error(transparent)]
    UnknownMethod(robust_td_core::Error),
    /// A method whose settings cannot be read.
    #[error("{text:?}: {source}")]
    Settings {
        /// The requested text.
        text: String,
        /// What is wrong with it.
        source: SettingError,
    },
    /// A parameter that cannot be read.
    #[error(transparent)]
    Parameter(#[from] SettingError),
    /// Two identical entries.
    #[error("{label} is given twice; distinguish the entries by settings such as {id}:c=0.1")]
    RepeatedEntry {
        /// The requested text.
        label: String,
        /// The method.
        id: &'static str,
    },
    /// A parameter with two values.
    #[error("the parameter {key} is given twice")]
    RepeatedParameter {
        /// The parameter.
        key: String,
    },
    /// A parameter of a method that is not among those chosen.
    #[error("{key} is set, but {id} is not among the chosen methods")]
    AbsentMethod {
        /// The parameter.
        key: String,
        /// The method.
        id: String,
    },
    /// A parameter that none of the methods has.
    #[error("no method here has a parameter {key:?}; {}", suggestion::or_known(.key, .known))]
    UnknownParameter {
        /// The parameter.
        key: String,
        /// The parameters that exist.
        known: Vec<&'static str>,
    },
    /// No method left.
    #[error("no method applies to this problem")]
    NoneApplies,
    /// No horizon was given.
    #[error("the horizon, the number of samples per run, is missing")]
    NoHorizon,
    /// A horizon without log T > 1.
    #[error("horizon is {horizon}, but must be at least 3, so that log T > 1")]
    Horizon {
        /// The horizon.
        horizon: u64,
    },
    /// No runs, or too many to hold in memory.
    #[error("runs is {runs}, but must be from 1 to {MOST_RUNS}")]
    Runs {
        /// The runs.
        runs: u64,
    },
    /// Learning curves without points, or with too many.
    #[error("points_per_decade is {points}, but must be from 1 to 1000")]
    PointsPerDecade {
        /// The points.
        points: u32,
    },
}
