//! Runs a study on the engine, with progress and checkpoints.

use std::path::Path;
use std::time::Instant;

use robust_td_engine::{Error, Kernel, Options, Outcome, Progress};

use super::row::{Row, rows};
use super::study::Study;
use crate::failure::Failure;
use crate::progress::Bar;

/// The file that a killed run leaves in the output directory.
pub const CHECKPOINT: &str = "checkpoint";

/// How to run; nothing here changes the results.
#[derive(Debug, Clone, clap::Args)]
pub struct Machine {
    /// Number of threads; 0 means one per CPU
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,

    /// Code that computes the updates: auto, scalar, portable, avx2 or avx512
    #[arg(long, value_name = "KERNEL", default_value = "auto")]
    pub kernel: String,

    /// Continue from the checkpoint in the output directory, if there is one
    #[arg(long)]
    pub resume: bool,
}

/// What a run cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The kernel that ran.
    pub kernel: String,
    /// The threads that ran.
    pub threads: usize,
    /// Wall time of this invocation.
    pub seconds: f64,
    /// TD updates of the whole study, those before a resume included.
    pub lane_steps: u64,
    /// TD updates of this invocation.
    pub computed: u64,
}

/// Runs a study; its checkpoint lives in `directory`.
pub fn execute(
    study: &Study,
    machine: &Machine,
    directory: &Path,
) -> Result<(Vec<Row>, Execution), Failure> {
    let kernel: Kernel = machine.kernel.parse().map_err(failure)?;
    let threads = match machine.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let bar = Bar::new("lane-steps");
    let first = std::sync::OnceLock::new();
    let show = |progress: Progress| {
        first.get_or_init(|| progress.done);
        bar.show(progress.done, progress.total);
    };
    let options = Options {
        threads,
        kernel: kernel.check().map_err(failure)?,
        checkpoint: Some(directory.join(CHECKPOINT)),
        resume: machine.resume,
        progress: Some(&show),
        ..Options::default()
    };
    let start = Instant::now();
    let results = match robust_td_engine::run(study.plan(), &options).map_err(failure)? {
        Outcome::Finished(results) => results,
        Outcome::Cancelled(_) => return Err(Failure::Run("the run was cancelled".into())),
    };
    let execution = Execution {
        kernel: kernel.name().into(),
        threads,
        seconds: start.elapsed().as_secs_f64(),
        lane_steps: results.lane_steps,
        computed: results.lane_steps - first.get().copied().unwrap_or(0).min(results.lane_steps),
    };
    Ok((rows(study, results.lanes), execution))
}

/// Tells what the user can mend from what went wrong underway.
pub fn failure(error: Error) -> Failure {
    match error {
        Error::CheckpointIo { .. } | Error::Threads { .. } => Failure::Run(error.to_string()),
        Error::CheckpointDamaged { .. }
        | Error::CheckpointVersion { .. }
        | Error::CheckpointForeign { .. } => Failure::Usage(format!(
            "{error}; remove it, or run without --resume to start anew"
        )),
        _ => Failure::Usage(error.to_string()),
    }
}
