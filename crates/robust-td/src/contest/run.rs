//! Sets up a field of methods for the engine.

use robust_td_core::Problem;
use robust_td_core::schedule::SHORTEST_HORIZON;
use robust_td_engine::contest::{Contest, Entrant, Score};

use super::error::ContestError;
use super::field::Contestant;

/// The size of a contest.
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

/// The maximum number of runs: enough for any standard error, few enough to hold in memory.
pub const MOST_RUNS: u64 = 1_000_000;

impl Length {
    /// Checks the limits.
    pub fn check(&self) -> Result<(), ContestError> {
        if self.horizon < SHORTEST_HORIZON {
            return Err(ContestError::Horizon {
                horizon: self.horizon,
            });
        }
        if !(1..=MOST_RUNS).contains(&self.runs) {
            return Err(ContestError::Runs { runs: self.runs });
        }
        if !(1..=1000).contains(&self.points_per_decade) {
            return Err(ContestError::PointsPerDecade {
                points: self.points_per_decade,
            });
        }
        Ok(())
    }
}

/// The scores of a contest and its wall time.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One score per contestant.
    pub scores: Vec<Score>,
    /// Wall time.
    pub seconds: f64,
}

/// The contestants on the same trajectories, within the limits of [`Length::check`].
pub fn race(problem: &Problem, contestants: &[Contestant], length: Length) -> Contest {
    let entrant = |contestant: &Contestant| Entrant {
        label: contestant.label.clone(),
        learner: contestant.prepared.learner.clone(),
    };
    Contest {
        problem: problem.clone(),
        entrants: contestants.iter().map(entrant).collect(),
        horizon: length.horizon,
        // At most MOST_RUNS.
        runs: length.runs as usize,
        seed: length.seed,
        points_per_decade: length.points_per_decade,
    }
}
