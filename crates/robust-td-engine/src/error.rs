//! Names what can be wrong with a plan, a kernel choice or a checkpoint.

use std::path::PathBuf;

/// What the engine refuses or fails at. Divergence is a result, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The plan has no lanes.
    #[error("the plan has no lanes")]
    NoLanes,
    /// The plan has no feature variants.
    #[error("the plan has no problem")]
    NoVariants,
    /// The number of runs is zero.
    #[error("the number of runs must be at least 1")]
    NoRuns,
    /// log T must exceed zero, and Algorithm 1 asks for T >= 3.
    #[error("the horizon must be at least 3, not {horizon}")]
    Horizon {
        /// The horizon given.
        horizon: u64,
    },
    /// The number of simulated steps is zero or beyond the horizon.
    #[error("cannot simulate {simulate} steps: it must lie in 1..={horizon}")]
    Simulate {
        /// Steps to simulate.
        simulate: u64,
        /// The horizon of the stepsizes.
        horizon: u64,
    },
    /// A lane names a variant that does not exist.
    #[error("lane {lane} names feature variant {variant}, but there are {variants}")]
    UnknownVariant {
        /// Index of the lane.
        lane: usize,
        /// The variant it names.
        variant: usize,
        /// Number of variants.
        variants: usize,
    },
    /// The stepsize parameter of a lane is not a positive finite number.
    #[error("lane {lane}: the stepsize parameter must be positive and finite, not {value}")]
    StepsizeParameter {
        /// Index of the lane.
        lane: usize,
        /// The value given.
        value: f64,
    },
    /// The contest has no entrants.
    #[error("the contest has no entrants")]
    NoEntrants,
    /// An entrant does not fit the contest.
    #[error("entrant {label}: {what}")]
    Entrant {
        /// Its label.
        label: String,
        /// What does not fit.
        what: String,
    },
    /// The tables of a problem do not fit together.
    #[error("problem tables: {what}")]
    Tables {
        /// What does not fit.
        what: String,
    },
    /// Two variants of one plan differ in more than their features.
    #[error(
        "feature variant {variant} has another chain, reward, discount or start than variant 0"
    )]
    VariantMismatch {
        /// Index of the variant.
        variant: usize,
    },
    /// The CPU lacks the instructions of the kernel asked for.
    #[error("this CPU cannot run the {kernel} kernel")]
    KernelUnavailable {
        /// Name of the kernel.
        kernel: &'static str,
    },
    /// A kernel name that does not exist.
    #[error("unknown kernel `{name}`: one of auto, scalar, portable, avx2, avx512")]
    UnknownKernel {
        /// The name given.
        name: String,
    },
    /// The thread pool could not be started.
    #[error("cannot start {threads} threads: {why}")]
    Threads {
        /// Number of threads asked for.
        threads: usize,
        /// The system's reason.
        why: String,
    },
    /// The run was cancelled on the way.
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
    /// The file is not a checkpoint, or a truncated or altered one.
    #[error("checkpoint {} is damaged: {what}", path.display())]
    CheckpointDamaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: &'static str,
    },
    /// The checkpoint was written by another version of the format.
    #[error("checkpoint {} has format version {found}, this program reads version {expected}", path.display())]
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
