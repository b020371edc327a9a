//! Defines the errors of plans, kernel choices and checkpoints.

use std::path::PathBuf;

/// An invalid request or a failure of the engine. Divergence is a result, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A projection in exact mode.
    #[error("projections are not linear: mode exact works only without them")]
    ExactProjection,
    /// The plan has no lanes.
    #[error("the plan has no lanes")]
    NoLanes,
    /// The plan has no feature variants.
    #[error("the plan has no feature variants")]
    NoVariants,
    /// The number of runs is zero.
    #[error("the number of runs must be at least 1")]
    NoRuns,
    /// A number that no sweep needs, such as that of a forged description.
    #[error("{found} {what} are too many: the limit is {most}")]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// The number given.
        found: u64,
        /// The largest number.
        most: u64,
    },
    /// Runs that need more memory than is allowed.
    #[error(
        "{runs} runs need about {:.1} GB of memory, but the limit is {:.1} GB; use fewer runs",
        *needed as f64 / 1e9,
        *limit as f64 / 1e9
    )]
    Memory {
        /// The number of runs.
        runs: usize,
        /// The bytes that they need.
        needed: u64,
        /// The bytes that they may take.
        limit: u64,
    },
    /// Expectations that need more memory than is allowed.
    #[error(
        "the expectations of {states} states with {features} features need about {:.1} GB of memory, but the limit is {:.1} GB; use fewer \
         states or features, or another mode",
        *needed as f64 / 1e9,
        *limit as f64 / 1e9
    )]
    ExactMemory {
        /// The number of states.
        states: usize,
        /// The number of features.
        features: usize,
        /// The bytes that they need.
        needed: u64,
        /// The bytes that they may take.
        limit: u64,
    },
    /// log T must exceed zero, and Algorithm 1 requires T >= 3.
    #[error("the horizon must be at least 3, not {horizon}")]
    Horizon {
        /// The horizon given.
        horizon: u64,
    },
    /// The number of simulated steps is zero or beyond the horizon.
    #[error("cannot simulate {simulate} steps: the number must be from 1 to {horizon}")]
    Simulate {
        /// Steps to simulate.
        simulate: u64,
        /// The horizon of the step sizes.
        horizon: u64,
    },
    /// A lane names a variant that does not exist.
    #[error("lane {lane} refers to feature variant {variant}, but there are only {variants}")]
    UnknownVariant {
        /// Index of the lane.
        lane: usize,
        /// The variant it names.
        variant: usize,
        /// Number of variants.
        variants: usize,
    },
    /// The step size parameter of a lane is not a positive finite number.
    #[error("lane {lane}: the step size parameter must be positive and finite, not {value}")]
    StepsizeParameter {
        /// Index of the lane.
        lane: usize,
        /// The value given.
        value: f64,
    },
    /// A state that is damaged, or of another job.
    #[error(transparent)]
    Seal(#[from] robust_td_core::sealed::SealError),
    /// A part of a sweep, or its state, that does not fit the sweep.
    #[error("the parts of the sweep do not fit together: {what}")]
    Part {
        /// What is wrong.
        what: String,
    },
    /// The contest has no entrants.
    #[error("the contest has no entrants")]
    NoEntrants,
    /// An entrant does not fit the contest.
    #[error("entrant {label}: {what}")]
    Entrant {
        /// Its label.
        label: String,
        /// What is wrong.
        what: String,
    },
    /// The tables of a problem do not match each other.
    #[error("problem tables: {what}")]
    Tables {
        /// What is wrong.
        what: String,
    },
    /// Two variants of one plan differ in more than their features.
    #[error(
        "feature variant {variant} differs from variant 0 in its chain, reward, discount or start"
    )]
    VariantMismatch {
        /// Index of the variant.
        variant: usize,
    },
    /// The requested kernel does not exist or cannot run on this CPU.
    #[error(transparent)]
    Kernel(#[from] robust_td_simd::KernelError),
    /// The thread pool could not be started.
    #[error("cannot start {threads} threads: {why}")]
    Threads {
        /// Number of threads requested.
        threads: usize,
        /// The system's reason.
        why: String,
    },
    /// A worker thread panicked: a defect of this program, or a forged checkpoint.
    #[error("internal error in a worker thread: {message}")]
    Worker {
        /// The message of the panic.
        message: String,
    },
    /// The run was cancelled.
    #[error("cancelled after {done} of {total} updates")]
    Cancelled {
        /// Lane-steps done.
        done: u64,
        /// Lane-steps of the whole plan.
        total: u64,
    },
    /// A checkpoint could not be read or written.
    #[error("checkpoint {}: {source}", path.display())]
    CheckpointIo {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is not a checkpoint, or is truncated or altered.
    #[error("checkpoint {} is damaged: {what}", path.display())]
    CheckpointDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// The checkpoint was written by another version of the format.
    #[error("checkpoint {} has format version {found}, but this program reads version {expected}", path.display())]
    CheckpointVersion {
        /// The file.
        path: PathBuf,
        /// Version in the file.
        found: u32,
        /// Version of this program.
        expected: u32,
    },
    /// The checkpoint belongs to another plan.
    #[error("checkpoint {} belongs to another plan (its hash is {found}, this plan's is {expected})", path.display())]
    CheckpointForeign {
        /// The file.
        path: PathBuf,
        /// Plan hash in the file.
        found: String,
        /// Hash of the plan to run.
        expected: String,
    },
}

/// A result of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;
