//! Defines what a checkpoint holds of a contest in progress.
//!
//! As in `restored.rs`, nothing that is read is used before it was compared with what the contest itself makes.

use robust_td_core::learner::Learner;
use robust_td_core::registry::AnyLearner;
use serde::{Deserialize, Serialize};

use super::score::{CurvePoint, Score};
use super::{Contest, trajectories::Position};
use crate::diagnostics::Peak;
use crate::grid::log_spaced;
use crate::kernel::{Line, PACK};
use crate::restored::peak_fits;

/// A contest after the same number of samples of all its entrants.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Saved {
    /// Samples of each run.
    pub done: u64,
    /// The trajectories, by groups of eight runs.
    pub positions: Vec<Position>,
    /// The teams, in the order in which the contest forms them.
    pub teams: Vec<SavedTeam>,
    /// The statistics of the entrants.
    pub records: Vec<Record>,
}

/// The state of a team.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum SavedTeam {
    /// Vector lanes: the sums of their weights, and the groups of runs.
    Pack([f64; PACK], Vec<PackState>),
    /// Learners, by groups of runs.
    Solo(Vec<Vec<AnyLearner>>),
}

/// Up to eight runs of a pack of lanes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PackState {
    /// For each run and coordinate: the iterate.
    pub theta: Vec<Line>,
    /// For each run and coordinate: the weighted sum of iterates.
    pub sum: Vec<Line>,
    /// For each run: the maximum of |theta_t|^2.
    pub max: Vec<Line>,
    /// For each run: the number of projections.
    pub projections: Vec<Line>,
}

impl PackState {
    /// `runs` runs at theta_0 = 0.
    pub fn new(dimension: usize, runs: usize) -> Self {
        let lines = |count: usize| vec![Line::default(); count];
        Self {
            theta: lines(runs * dimension),
            sum: lines(runs * dimension),
            max: lines(runs),
            projections: lines(runs),
        }
    }

    /// Whether it can be a state of the same lanes as a new one, after `done` samples.
    pub fn fits(&self, new: &Self, done: u64) -> bool {
        let sizes =
            |state: &Self| [&state.theta, &state.sum, &state.max, &state.projections].map(Vec::len);
        let counts = Line::numbers(&self.projections);
        sizes(self) == sizes(new)
            && (counts.iter()).all(|count| (0.0..=done as f64).contains(count))
    }
}

/// The statistics of an entrant so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Record {
    /// The largest sum over runs of |theta_t|^2.
    pub peak: Peak,
    /// f of the output over time.
    pub curve: Vec<CurvePoint>,
}

impl Saved {
    /// Whether the counts and statistics can be those of the contest; teams and trajectories check their own parts.
    pub fn fits(&self, contest: &Contest) -> bool {
        let cuts = log_spaced(contest.horizon, contest.points_per_decade);
        self.done <= contest.horizon
            && self.records.len() == contest.entrants.len()
            && self.records.iter().all(|record| {
                peak_fits(&record.peak, self.done) && curve_fits(&record.curve, &cuts, self.done)
            })
    }
}

/// Whether a learner can be that of an entrant after `done` samples.
pub fn learner_fits(own: &AnyLearner, new: &AnyLearner, done: u64) -> bool {
    own.id() == new.id()
        && own.dimension() == new.dimension()
        && own.discount() == new.discount()
        && own.theta().len() == new.theta().len()
        && own.steps() == done
}

fn curve_fits(curve: &[CurvePoint], cuts: &[u64], done: u64) -> bool {
    let steps = cuts.iter().take_while(|&&cut| cut <= done);
    curve.iter().map(|point| &point.samples).eq(steps)
}

impl Contest {
    /// Whether these can be the scores of the entrants.
    pub(super) fn scores_fit(&self, scores: &[Score]) -> bool {
        let cuts = log_spaced(self.horizon, self.points_per_decade);
        scores.len() == self.entrants.len()
            && scores.iter().all(|score| {
                score.f_of_runs.len() == self.runs
                    && curve_fits(&score.curve, &cuts, self.horizon)
                    && (0.0..=1.0).contains(&score.divergence_rate)
                    && score.updates <= self.horizon
                    && score.peak_step <= self.horizon
            })
    }
}
