//! Defines the errors of a sweep.

use robust_td_engine::{Family, Projection};

use super::grid::C_RANGE;

/// Names as a list in words.
fn names<const N: usize>(names: [&str; N]) -> String {
    names.map(|name| format!("{name:?}")).join(", ")
}

/// Why a sweep is refused before it starts.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// No horizon was given.
    #[error("the horizon (steps) is missing")]
    NoHorizon,
    /// log T must be positive, and Algorithm 1 requires T >= 3.
    #[error("steps is {steps}, but the horizon must be at least 3")]
    Horizon {
        /// The horizon given.
        steps: u64,
    },
    /// The number of simulated steps is zero or beyond the horizon.
    #[error("simulate is {simulate}, but must be from 1 to {steps} (steps)")]
    Simulate {
        /// Steps to simulate.
        simulate: u64,
        /// The horizon.
        steps: u64,
    },
    /// Too few or too many runs.
    #[error("runs is {runs}, but must be from 1 to 1000000")]
    Runs {
        /// The number given.
        runs: u64,
    },
    /// Too few or too many points in the learning curves.
    #[error("curve_points_per_decade is {points}, but must be from 1 to 1000")]
    CurvePoints {
        /// The number given.
        points: u32,
    },
    /// A seed in a mode that does not use one.
    #[error("seed applies only to mode algorithm, not to mode {mode}")]
    Seed {
        /// The mode.
        mode: &'static str,
    },
    /// An indexing in a mode that has its own.
    #[error("indexing applies only to mode exact, not to mode {mode}")]
    Indexing {
        /// The mode.
        mode: &'static str,
    },
    /// No value of c.
    #[error("there is no value of c")]
    NoConstants,
    /// A value of c whose step sizes leave the range of floating-point numbers.
    #[error("c is {c:?}, but must be from {:e} to {:e}", C_RANGE.start(), C_RANGE.end())]
    Constant {
        /// The value given.
        c: f64,
    },
    /// The same value of c twice.
    #[error("c has the value {c} twice")]
    ConstantTwice {
        /// The value.
        c: f64,
    },
    /// More of something than a sweep can have.
    #[error("the sweep has {found} {what}; the limit is {most}")]
    TooMany {
        /// What.
        what: &'static str,
        /// How many.
        found: u64,
        /// The limit.
        most: u64,
    },
    /// No feature scaling.
    #[error("scales is empty")]
    NoScales,
    /// A feature scaling that is not a positive finite number.
    #[error("scales must be positive and finite, not {scale:?}")]
    Scale {
        /// The value given.
        scale: f64,
    },
    /// The same scaling twice.
    #[error("scales has the value {scale} twice")]
    ScaleTwice {
        /// The value.
        scale: f64,
    },
    /// The scaled features do not make a problem.
    #[error("scale {scale:?}: {message}")]
    ScaledProblem {
        /// The scaling.
        scale: f64,
        /// What is wrong.
        message: String,
    },
    /// No step size schedule.
    #[error("schedule is empty")]
    NoSchedules,
    /// An unknown schedule.
    #[error("schedule is {name:?}, but must be {} or a list of these", names(Family::ALL.map(Family::name)))]
    Schedule {
        /// The name.
        name: String,
    },
    /// An unknown projection.
    #[error("projection is {name:?}, but must be {} or a list of these", names(Projection::ALL.map(Projection::name)))]
    Projection {
        /// The name.
        name: String,
    },
    /// No projection, not even "none".
    #[error("projection is empty")]
    NoProjections,
    /// The same projection twice.
    #[error("projection names {name} twice")]
    ProjectionTwice {
        /// The name.
        name: &'static str,
    },
    /// A projection in exact mode.
    #[error(
        "projection is {name}, but mode exact works only with none: a projection is not linear"
    )]
    ExactProjection {
        /// The name.
        name: &'static str,
    },
    /// The same schedule twice.
    #[error("schedule names the same step sizes twice")]
    ScheduleTwice,
    /// A TOML text that does not describe a sweep.
    #[error("{message}")]
    Spec {
        /// The line and what is wrong with it.
        message: String,
    },
}
