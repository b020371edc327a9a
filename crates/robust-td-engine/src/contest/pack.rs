//! Holds methods of TD(0) type as vector lanes, eight to a pack.

use robust_td_core::learner::recipe::{Output, Recipe};
use robust_td_core::learner::td0::projection_limit;
use robust_td_core::learner::{DIVERGENCE_THRESHOLD, Learner};
use robust_td_core::registry::AnyLearner;
use robust_td_core::schedule::Schedule;

use super::dispatch;
use super::judge::Answer;
use super::saved::PackState;
use super::step::Job;
use super::trajectories::{BLOCK, Course, Walkers};
use crate::kernel::{Kernel, Line, PACK};

/// The recipe of a learner that can run as a lane, which requires a single running average.
pub fn lane_recipe(learner: &AnyLearner) -> Option<Recipe> {
    let recipe = learner.recipe()?;
    (recipe.output != Output::DoublingTail).then_some(recipe)
}

/// Up to eight methods, with their steps and weights of the current block.
#[derive(Debug)]
pub struct Pack {
    recipes: Vec<Recipe>,
    /// -lambda, R and the |theta|^2 above which a lane is projected.
    pull: Line,
    radius: Line,
    radius_sq: Line,
    /// For each step; 0 where a method drops the sample.
    eta: Vec<Line>,
    weight: Vec<Line>,
    /// Sums of the weights so far.
    pub totals: [f64; PACK],
}

impl Pack {
    /// A pack of up to eight recipes, before the first block. Lanes without a method stay at zero.
    pub fn new(recipes: Vec<Recipe>) -> Self {
        let line = |value: fn(&Recipe) -> f64, none: f64| {
            Line::new(std::array::from_fn(|lane| {
                recipes.get(lane).map_or(none, value)
            }))
        };
        let radius = line(
            |recipe| recipe.radius.unwrap_or(f64::INFINITY),
            f64::INFINITY,
        );
        Self {
            pull: line(|recipe| -recipe.regulariser, 0.0),
            radius,
            radius_sq: Line::new(radius.0.map(projection_limit)),
            eta: vec![Line::default(); BLOCK],
            weight: vec![Line::default(); BLOCK],
            totals: [0.0; PACK],
            recipes,
        }
    }

    /// Tabulates the steps and weights of the `count` samples after the first `done`.
    pub fn tabulate(&mut self, done: u64, count: usize) {
        for (lane, recipe) in self.recipes.iter().enumerate() {
            let mut j = recipe.samples.updates(done);
            for i in 0..count {
                let (mut eta, mut weight) = (0.0, 0.0);
                if recipe.samples.uses(done + i as u64) {
                    eta = recipe.steps.step_size(j);
                    weight = recipe.output.weight(j, eta);
                    j += 1;
                }
                self.eta[i].0[lane] = eta;
                self.weight[i].0[lane] = weight;
                self.totals[lane] += weight;
            }
        }
    }

    /// The number of updates that a method makes on `samples` samples.
    pub fn updates(&self, lane: usize, samples: u64) -> u64 {
        self.recipes[lane].samples.updates(samples)
    }
}

/// Up to eight runs of a pack.
#[derive(Debug)]
pub struct PackRuns {
    runs: usize,
    dimension: usize,
    state: PackState,
    /// For each step of the block: the sum over these runs of |theta_t|^2.
    norms: Vec<Line>,
}

impl PackRuns {
    /// `runs` runs at theta_0 = 0.
    pub fn new(dimension: usize, runs: usize) -> Self {
        Self {
            runs,
            dimension,
            state: PackState::new(dimension, runs),
            norms: vec![Line::default(); BLOCK],
        }
    }

    /// What is saved.
    pub fn state(&self) -> &PackState {
        &self.state
    }

    /// Takes a saved state, unless it cannot be that of these lanes after `done` samples.
    pub fn restore(&mut self, state: PackState, done: u64) -> bool {
        let fits = state.fits(&self.state, done);
        if fits {
            self.state = state;
        }
        fits
    }

    /// Follows the trajectories of a course through a block of at most [`BLOCK`] steps.
    pub fn advance(
        &mut self,
        pack: &Pack,
        course: &Course<'_>,
        walkers: &Walkers,
        kernel: Kernel,
        count: usize,
    ) {
        self.norms[..count].fill(Line::default());
        let mut job = Job {
            steps: count,
            runs: self.runs,
            dimension: self.dimension,
            entries: walkers.entries(),
            table: course.table(),
            eta: &pack.eta,
            weight: &pack.weight,
            pull: &pack.pull,
            radius: &pack.radius,
            radius_sq: &pack.radius_sq,
            theta: &mut self.state.theta,
            sum: &mut self.state.sum,
            max: &mut self.state.max,
            projections: &mut self.state.projections,
            norms: &mut self.norms,
        };
        dispatch::run(kernel, &mut job);
    }

    /// Adds |theta_t|^2 of a method over these runs to the sums of the block's steps.
    pub fn add_norms(&self, lane: usize, sums: &mut [f64]) {
        for (sum, norms) in sums.iter_mut().zip(&self.norms) {
            *sum += norms.0[lane];
        }
    }

    /// The current answers of the runs of a method.
    pub fn answers(&self, pack: &Pack, lane: usize) -> impl Iterator<Item = Answer> {
        let last = pack.recipes[lane].output.last_weight();
        let total = pack.totals[lane] + last;
        let (theta, sum) = (&self.state.theta, &self.state.sum);
        let coordinates = theta.chunks(self.dimension).zip(sum.chunks(self.dimension));
        coordinates.map(move |(theta, sum)| {
            let average = |(theta, sum): (&Line, &Line)| {
                let (theta, sum) = (theta.0[lane], sum.0[lane]);
                // The last iterate itself, and an average without weight, need no sum.
                if pack.totals[lane] > 0.0 {
                    (sum + last * theta) / total
                } else {
                    theta
                }
            };
            Answer {
                theta: theta.iter().zip(sum).map(average).collect(),
            }
        })
    }

    /// The number of diverged runs of a method.
    pub fn diverged(&self, lane: usize) -> usize {
        let iterates = self.state.theta.chunks(self.dimension);
        let diverged = |(theta, max): &(&[Line], &Line)| {
            // NaN persists in the iterate, but the maximum does not show it.
            let lost = theta.iter().any(|theta| !theta.0[lane].is_finite());
            lost || !(max.0[lane] <= DIVERGENCE_THRESHOLD)
        };
        iterates.zip(&self.state.max).filter(diverged).count()
    }

    /// The number of projections in all runs of a method, if it projects.
    pub fn projections(&self, pack: &Pack, lane: usize) -> Option<u64> {
        let runs = self.state.projections.iter();
        let count = || runs.map(|run| run.0[lane] as u64).sum();
        pack.recipes[lane].radius.map(|_| count())
    }
}
