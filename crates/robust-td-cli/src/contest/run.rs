//! Runs a field of methods on the engine, with progress.

use std::time::Instant;

use robust_td_core::Problem;
use robust_td_engine::contest::{Contest, ContestOptions, Entrant, Score, contest};
use robust_td_engine::{Error, Progress};

use super::field::Contestant;
use crate::failure::Failure;
use crate::machine::Machine;
use crate::progress::Bar;

/// How long and how often to run.
#[derive(Debug, Clone, Copy)]
pub struct Length {
    /// T, the samples of a run.
    pub horizon: u64,
    /// Independent runs.
    pub runs: u64,
    /// Seed of the trajectories.
    pub seed: u64,
    /// Points per decade of samples in the learning curves.
    pub points_per_decade: u32,
}

/// The runs that are allowed: enough for any standard error, few enough to hold in memory.
const MOST_RUNS: u64 = 1_000_000;

impl Length {
    /// Refuses what cannot be run.
    pub fn check(&self) -> Result<(), String> {
        if self.horizon < 3 {
            return Err(format!(
                "horizon is {}, but a horizon is at least 3, so that log T > 1",
                self.horizon
            ));
        }
        if !(1..=MOST_RUNS).contains(&self.runs) {
            return Err(format!(
                "runs is {}, but must lie in 1..={MOST_RUNS}",
                self.runs
            ));
        }
        if !(1..=1000).contains(&self.points_per_decade) {
            return Err(format!(
                "points per decade is {}, but must lie in 1..=1000",
                self.points_per_decade
            ));
        }
        Ok(())
    }
}

/// What a contest found and cost.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One score per contestant.
    pub scores: Vec<Score>,
    /// Wall time.
    pub seconds: f64,
}

/// Runs the contestants on the same trajectories.
pub fn run(
    problem: &Problem,
    contestants: &[Contestant],
    length: Length,
    machine: &Machine,
) -> Result<Outcome, Failure> {
    length.check().map_err(Failure::Usage)?;
    let entrant = |contestant: &Contestant| Entrant {
        label: contestant.label.clone(),
        learner: contestant.prepared.learner.clone(),
    };
    let race = Contest {
        problem: problem.clone(),
        entrants: contestants.iter().map(entrant).collect(),
        horizon: length.horizon,
        // At most MOST_RUNS.
        runs: length.runs as usize,
        seed: length.seed,
        points_per_decade: length.points_per_decade,
    };
    let kernel = machine.kernel()?;
    let bar = Bar::new("samples");
    let show = |progress: Progress| bar.show(progress.done, progress.total);
    let options = ContestOptions {
        threads: machine.threads(),
        kernel,
        progress: Some(&show),
    };
    let start = Instant::now();
    let scores = contest(&race, &options).map_err(|error| match error {
        Error::Threads { .. } => Failure::Run(error.to_string()),
        _ => Failure::Usage(error.to_string()),
    })?;
    Ok(Outcome {
        scores,
        seconds: start.elapsed().as_secs_f64(),
    })
}
