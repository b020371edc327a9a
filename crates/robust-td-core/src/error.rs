//! Defines the errors of this crate, each with the offending value.

use crate::catalog::Setting;
use crate::number::{entries, plain};
use crate::suggestion::or_known;

/// An invalid chain, problem, schedule or request.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A matrix whose rows differ in length, or whose data do not match its shape.
    #[error("{what}: row {row} has {}, but needs {expected}", entries(*.found))]
    Ragged {
        /// Which matrix.
        what: &'static str,
        /// The row that is too short or too long.
        row: usize,
        /// The expected number of entries.
        expected: usize,
        /// The actual number of entries.
        found: usize,
    },
    /// A matrix of the wrong shape.
    #[error("{what} is {rows} x {columns} where {expected} is needed")]
    Shape {
        /// Which matrix or vector.
        what: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// The expected shape, in words.
        expected: String,
    },
    /// Sums that are not finite.
    #[error("the features or rewards are too large: their products overflow; rescale them")]
    Overflow,
    /// A vector or list of the wrong length.
    #[error("{what} has {}, but needs {expected}", entries(*.found))]
    Length {
        /// Which list.
        what: &'static str,
        /// The expected number of entries.
        expected: usize,
        /// The actual number of entries.
        found: usize,
    },
    /// A sparse entry outside the matrix.
    #[error("{what}: entry ({row}, {column}) lies outside a matrix with {states} states")]
    OutOfRange {
        /// Which matrix.
        what: &'static str,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Number of states.
        states: usize,
    },
    /// Two values for one sparse entry.
    #[error("{what}: entry ({row}, {column}) is given twice")]
    Duplicate {
        /// Which matrix.
        what: &'static str,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
    },
    /// A number that is NaN or infinite where a finite one is needed.
    #[error("{what}: row {row}, column {column} is {value}, not a finite number")]
    NotFinite {
        /// Which matrix.
        what: &'static str,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The value.
        value: f64,
    },
    /// An entry of a transition matrix or policy outside [0, 1].
    #[error("{what}: row {row}, column {column} is {value:?}, not a probability in [0, 1]")]
    NotAProbability {
        /// Which matrix.
        what: String,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A row of a transition matrix or policy that does not sum to one.
    #[error("{what}: row {row} sums to {sum:?}, not to 1 within 1e-9")]
    RowSum {
        /// Which matrix.
        what: String,
        /// The row.
        row: usize,
        /// Its sum.
        sum: f64,
    },
    /// No states, or more than the index type can hold.
    #[error("a chain needs between 1 and {} states, not {states}", u32::MAX)]
    StateCount {
        /// The number given.
        states: usize,
    },
    /// A chain with more than one communicating class.
    #[error("the chain is reducible: {}", describe_classes(.classes))]
    Reducible {
        /// The communicating classes, each sorted, by smallest state, with whether it is closed.
        classes: Vec<CommunicatingClass>,
    },
    /// An irreducible chain that returns only at multiples of its period.
    #[error(
        "the chain is periodic with period {period}: it never forgets its start; \
         a small probability of staying put in one state would make it aperiodic"
    )]
    Periodic {
        /// The period, at least 2.
        period: usize,
    },
    /// The iteration for the stationary distribution of a large chain did not converge.
    #[error(
        "the stationary distribution did not converge: residual {residual:e} after {iterations} \
         iterations; the chain is too large to eliminate directly and mixes too slowly to iterate"
    )]
    StationaryNotConverged {
        /// The 1-norm of pi P - pi.
        residual: f64,
        /// The number of iterations.
        iterations: usize,
    },
    /// A discount outside [0, 1).
    #[error("discount is {}, outside [0, 1)", plain(*value))]
    Discount {
        /// The value.
        value: f64,
    },
    /// A start state that does not exist.
    #[error("start is {start}, but the states are 0 to {}", .states - 1)]
    Start {
        /// The value.
        start: usize,
        /// Number of states.
        states: usize,
    },
    /// Features whose columns are linearly dependent.
    #[error(
        "features have rank {rank}, below their dimension {dimension}: \
         drop or change {} column(s)", .dimension - .rank
    )]
    RankDeficient {
        /// Numerical rank.
        rank: usize,
        /// Number of columns.
        dimension: usize,
    },
    /// Features so large or so small that their powers over- or underflow.
    #[error(
        "features: the largest norm phi_inf is {phi_inf:e}, outside [1e-70, 1e70]; rescale the columns"
    )]
    FeatureRange {
        /// Largest feature norm.
        phi_inf: f64,
    },
    /// A solution outside the range of floating-point numbers.
    #[error(
        "the solution leaves the range of floating-point numbers (omega = {omega:e}, \
         |theta*| = {theta_star_norm:e}); rescale the features or the rewards"
    )]
    SolutionRange {
        /// Smallest eigenvalue of `Phi' D Phi`.
        omega: f64,
        /// Norm of the fixed point.
        theta_star_norm: f64,
    },
    /// A decomposition of the linear-algebra library that did not converge.
    #[error("the {what} could not be computed: the decomposition did not converge")]
    Decomposition {
        /// What was being computed.
        what: &'static str,
    },
    /// A parameter outside its range.
    #[error("{name} is {}, but must be {expected}", plain(*value))]
    Parameter {
        /// Its name.
        name: &'static str,
        /// The value.
        value: f64,
        /// The valid range in words.
        expected: &'static str,
    },
    /// A catalog name that does not exist.
    #[error("unknown catalog problem {name:?}; known problems: {}", .known.join(", "))]
    UnknownProblem {
        /// The name requested.
        name: String,
        /// The names that exist.
        known: Vec<&'static str>,
    },
    /// A parameter that a catalog problem does not have.
    #[error("{problem} has no parameter {name:?}; it takes {}", if .known.is_empty() { "none".to_string() } else { .known.join(", ") })]
    UnknownParameter {
        /// The problem.
        problem: &'static str,
        /// The parameter that was given.
        name: String,
        /// The parameters that exist.
        known: Vec<&'static str>,
    },
    /// A feature map that cannot be parsed or built.
    #[error("features {part:?}: {problem}")]
    FeatureSpec {
        /// The part of the description.
        part: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A sparse feature outside the feature vector.
    #[error(
        "sparse features: index {index} at position {position} is not below the dimension {dimension}"
    )]
    FeatureIndex {
        /// Its place in the list of indices.
        position: usize,
        /// The index.
        index: u32,
        /// Length of the feature vector.
        dimension: usize,
    },
    /// Sparse features that are not sorted, or name one index twice.
    #[error(
        "sparse features: index {index} at position {position} follows {previous}; \
         indices must be strictly increasing"
    )]
    FeatureOrder {
        /// Its place in the list of indices.
        position: usize,
        /// The index before it.
        previous: u32,
        /// The index.
        index: u32,
    },
    /// A saved learner whose parts are inconsistent.
    #[error("the saved learner is inconsistent: {contradiction}")]
    Saved {
        /// The inconsistency.
        contradiction: String,
    },
    /// A method that does not exist.
    #[error("unknown algorithm {name:?}; {}", or_known(.name, .known))]
    UnknownMethod {
        /// The id requested.
        name: String,
        /// The ids that exist.
        known: Vec<&'static str>,
    },
    /// A parameter that a method does not have.
    #[error("{method} has no parameter {name:?}; it takes {}", if .known.is_empty() { "none".to_string() } else { .known.join(", ") })]
    UnknownMethodParameter {
        /// The method.
        method: &'static str,
        /// The parameter that was given.
        name: String,
        /// The parameters that exist.
        known: Vec<&'static str>,
    },
    /// A parameter of a method outside its range.
    #[error("{method}: {name} is {}, but must be {expected}", plain(*value))]
    MethodParameter {
        /// The method.
        method: &'static str,
        /// The parameter.
        name: &'static str,
        /// The value.
        value: f64,
        /// The valid range in words.
        expected: String,
    },
    /// A required input that was not given.
    #[error(
        "{method} needs {name} ({meaning}; {expected}), which the data cannot provide; set it explicitly"
    )]
    MissingInput {
        /// The method.
        method: &'static str,
        /// The input.
        name: &'static str,
        /// What it means.
        meaning: &'static str,
        /// The valid range in words.
        expected: String,
    },
    /// A method that cannot run on this problem.
    #[error("{method} does not apply: {why}")]
    NotApplicable {
        /// The method.
        method: &'static str,
        /// The reason.
        why: String,
    },
    /// An operator whose iteration does not converge.
    #[error("no fixed point was found: one more iteration still moves the values by {moved:e}")]
    NoFixedPoint {
        /// The D-norm of the last change.
        moved: f64,
    },
    /// A minimum over more maps from states to actions than can be enumerated.
    #[error(
        "there are {actions}^{states} maps from {states} states to {actions} actions; at most {limit} are tried"
    )]
    TooManyMaps {
        /// Number of states.
        states: usize,
        /// Number of actions.
        actions: usize,
        /// The maximum number that is tried.
        limit: u64,
    },
    /// A parameter of a catalog problem that is given twice.
    #[error("{problem}: {name} is given twice")]
    RepeatedParameter {
        /// The problem.
        problem: &'static str,
        /// The parameter.
        name: &'static str,
    },
    /// A word as the value of a numeric parameter of a catalog problem.
    #[error("{problem}: {name}: {word:?} is not a number; it must be {expected}")]
    ProblemParameterWord {
        /// The problem.
        problem: &'static str,
        /// The parameter.
        name: &'static str,
        /// The word.
        word: String,
        /// The valid range in words.
        expected: &'static str,
    },
    /// A parameter of a catalog problem outside its range.
    #[error("{problem}: {name} is {value}, but must be {expected}")]
    ProblemParameter {
        /// The problem.
        problem: &'static str,
        /// The parameter.
        name: &'static str,
        /// The value.
        value: Setting,
        /// The valid range in words.
        expected: String,
    },
}

/// The result of a fallible operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A set of states that reach each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommunicatingClass {
    /// The states, in increasing order.
    pub states: Vec<usize>,
    /// Whether the chain can never leave it.
    pub closed: bool,
}

/// Lists classes for an error message, abbreviating long ones and long lists.
fn describe_classes(classes: &[CommunicatingClass]) -> String {
    const SHOWN: usize = 6;
    let mut words: Vec<String> = classes
        .iter()
        .take(SHOWN)
        .map(|class| {
            let mut states: Vec<String> = class
                .states
                .iter()
                .take(SHOWN)
                .map(usize::to_string)
                .collect();
            if class.states.len() > SHOWN {
                states.push(format!("... {} states", class.states.len()));
            }
            let kind = if class.closed { "closed" } else { "transient" };
            format!("{{{}}} ({kind})", states.join(", "))
        })
        .collect();
    if classes.len() > SHOWN {
        words.push(format!("... {} classes", classes.len()));
    }
    format!("its communicating classes are {}", words.join(", "))
}
