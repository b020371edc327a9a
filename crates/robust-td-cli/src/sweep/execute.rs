//! Runs a study on the engine, with progress and checkpoints.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use robust_td_engine::{Error, ExactOutcome, Kernel, Options, Outcome, Progress};

use super::row::{self, Row};
use super::spec::Mode;
use super::study::Study;
use crate::failure::Failure;
use crate::machine;
use crate::progress::Bar;

/// The file that a killed run leaves in the output directory.
pub const CHECKPOINT: &str = "checkpoint";

/// How to run; nothing here changes the results.
#[derive(Debug, Clone, clap::Args)]
pub struct Machine {
    #[command(flatten)]
    machine: machine::Machine,

    /// Continue from the checkpoint in the output directory, if there is one
    #[arg(long)]
    pub resume: bool,
}

impl Machine {
    /// Refuses a kernel that does not exist or that this CPU lacks, before anything is written.
    pub fn check(&self) -> Result<(), Failure> {
        self.kernel().map(|_| ())
    }

    fn kernel(&self) -> Result<Kernel, Failure> {
        self.machine.kernel()
    }

    fn threads(&self) -> usize {
        self.machine.threads()
    }
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
    let kernel = machine.kernel()?;
    let bar = Bar::new("lane-steps");
    // What was done when this invocation began, and what there is to do.
    let work: Mutex<Option<Progress>> = Mutex::new(None);
    let show = |progress: Progress| {
        if let Ok(mut work) = work.lock() {
            work.get_or_insert(progress);
        }
        bar.show(progress.done, progress.total);
    };
    let options = Options {
        threads: machine.threads(),
        kernel,
        checkpoint: Some(directory.join(CHECKPOINT)),
        resume: machine.resume,
        progress: Some(&show),
        ..Options::default()
    };
    let start = Instant::now();
    let rows = match study.mode {
        Mode::Exact => exact_rows(study, &options)?,
        Mode::Published | Mode::Algorithm => sampled_rows(study, &options)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let work = work.into_inner().unwrap_or(None);
    let (before, total) = work.map_or((0, 0), |work| (work.done, work.total));
    let execution = Execution {
        kernel: kernel.name().into(),
        threads: machine.threads(),
        seconds,
        lane_steps: total,
        computed: total - before,
    };
    Ok((rows, execution))
}

fn sampled_rows(study: &Study, options: &Options<'_>) -> Result<Vec<Row>, Failure> {
    match robust_td_engine::run(study.plan(), options).map_err(failure)? {
        Outcome::Finished(results) => Ok(row::sampled(study, results.lanes)),
        Outcome::Cancelled(_) => Err(cancelled()),
    }
}

fn exact_rows(study: &Study, options: &Options<'_>) -> Result<Vec<Row>, Failure> {
    match robust_td_engine::exact(study.plan(), options).map_err(failure)? {
        ExactOutcome::Finished(lanes) => Ok(row::exact(study, lanes)),
        ExactOutcome::Cancelled(_) => Err(cancelled()),
    }
}

fn cancelled() -> Failure {
    Failure::Run("the run was cancelled; --resume continues it".into())
}

/// The exact expectations next to the threshold of divergence, where sampled means mislead.
///
/// Near the threshold `E|theta_t|^2` peaks within the first steps, so that a short run suffices; lanes that peaked later are
/// left out, and so are problems on which exactness would take longer than the sweep.
pub fn exact_near_threshold(
    study: &Study,
    rows: &[Row],
    machine: &Machine,
) -> Result<Vec<Row>, Failure> {
    const STEPS: u64 = 6_000;
    const NEIGHBOURS: usize = 3;
    const LARGEST: usize = 100_000;
    let problem = &study.variants[0].problem;
    let size = problem.chain().transition().stored() * problem.dimension().pow(2);
    if study.mode == Mode::Exact || size > LARGEST || problem.dimension() > 16 {
        return Ok(Vec::new());
    }
    let mut chosen = Vec::new();
    for lane in rows.chunk_by(|a, b| (a.figure, a.variant) == (b.figure, b.variant)) {
        let quiet = lane
            .iter()
            .rev()
            .take_while(|row| row.found.divergence_rate == Some(0.0));
        let first = lane.len() - quiet.count();
        let near = first.saturating_sub(NEIGHBOURS)..(first + NEIGHBOURS).min(lane.len());
        // Where nothing diverged there is no threshold to look at.
        if first > 0 {
            chosen.extend(
                lane[near]
                    .iter()
                    .filter(|row| row.found.peak_step <= STEPS / 2),
            );
        }
    }
    if chosen.is_empty() {
        return Ok(chosen.into_iter().cloned().collect());
    }
    let mut plan = study.plan();
    plan.simulate = study.simulate.min(STEPS);
    let family = |number: usize| study.figures.iter().find(|figure| figure.number == number);
    plan.lanes = chosen
        .iter()
        .filter_map(|row| {
            let family = family(row.figure)?.family;
            Some(robust_td_engine::Lane {
                variant: row.variant,
                family,
                c: row.c,
            })
        })
        .collect();
    let options = Options {
        threads: machine.threads(),
        kernel: machine.kernel()?,
        ..Options::default()
    };
    let ExactOutcome::Finished(lanes) = robust_td_engine::exact(plan, &options).map_err(failure)?
    else {
        return Err(cancelled());
    };
    let with_expectation = |(row, lane): (&Row, &robust_td_engine::ExactLane)| Row {
        found: row::expected(lane),
        ..row.clone()
    };
    Ok(chosen
        .into_iter()
        .zip(&lanes)
        .map(with_expectation)
        .collect())
}

/// Tells what the user can mend from what went wrong underway.
fn failure(error: Error) -> Failure {
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
