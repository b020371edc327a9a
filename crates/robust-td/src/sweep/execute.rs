//! Runs a study on the engine.

use std::sync::Mutex;
use std::time::Instant;

use robust_td_engine::{Options, Progress, Results};

use super::row::{self, SweepRow};
use super::spec::Mode;
use super::study::Study;
use crate::error::Result;

/// The time, threads and updates of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The kernel that ran.
    pub kernel: &'static str,
    /// The threads that ran.
    pub threads: usize,
    /// Wall time of this invocation.
    pub seconds: f64,
    /// TD updates of the whole sweep, including those before a resume.
    pub lane_steps: u64,
    /// TD updates of this invocation.
    pub computed: u64,
}

/// Runs a study.
pub(super) fn execute(study: &Study, options: Options<'_>) -> Result<(Vec<SweepRow>, Execution)> {
    // The work done before this invocation, and the total.
    let work: Mutex<Option<Progress>> = Mutex::new(None);
    let watch = |progress: Progress| {
        if let Ok(mut work) = work.lock() {
            work.get_or_insert(progress);
        }
        if let Some(callback) = options.progress {
            callback(progress);
        }
    };
    let (kernel, threads) = (options.kernel, robust_td_engine::threads(options.threads));
    let watched = Options {
        progress: Some(&watch),
        checkpoint: options.checkpoint.clone(),
        ..options
    };
    let start = Instant::now();
    let results = run(study, &watched)?;
    let seconds = start.elapsed().as_secs_f64();
    let before = work
        .into_inner()
        .unwrap_or(None)
        .map_or(0, |work| work.done);
    let execution = Execution {
        kernel: kernel.name(),
        threads,
        seconds,
        lane_steps: results.lane_steps,
        computed: results.lane_steps.saturating_sub(before),
    };
    Ok((row::rows(study, results.lanes), execution))
}

fn run(study: &Study, options: &Options<'_>) -> Result<Results> {
    let outcome = match study.mode {
        Mode::Exact => robust_td_engine::exact(study.plan(), options),
        Mode::Published | Mode::Algorithm | Mode::Tdx => {
            robust_td_engine::run(study.plan(), options)
        }
    };
    Ok(outcome?.finished()?)
}
