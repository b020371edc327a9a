//! Runs learners of any kind one by one, with one copy per run.

use robust_td_core::learner::Learner;
use robust_td_core::registry::AnyLearner;

use super::judge::Answer;
use super::saved::learner_fits;
use super::trajectories::{BLOCK, Course, Walkers};

/// Up to eight runs of one entrant.
#[derive(Debug)]
pub struct Solo {
    learners: Vec<AnyLearner>,
    /// Per step of the block: the sum over these runs of |theta_t|^2.
    norms: Vec<f64>,
}

impl Solo {
    /// `runs` copies of a learner, before their first step.
    pub fn new(learner: &AnyLearner, runs: usize) -> Self {
        Self {
            learners: vec![learner.clone(); runs],
            norms: vec![0.0; BLOCK],
        }
    }

    /// Follows the trajectories through a block.
    pub fn advance(&mut self, course: &Course<'_>, walkers: &Walkers, count: usize) {
        self.norms[..count].fill(0.0);
        let transitions = course.transitions();
        for (run, learner) in self.learners.iter_mut().enumerate() {
            let entries = walkers.entries()[..count].iter();
            for (entries, norm) in entries.zip(&mut self.norms) {
                learner.step(&transitions[entries[run] as usize]);
                *norm += learner.theta().iter().map(|x| x * x).sum::<f64>();
            }
        }
    }

    /// The learners, to be saved.
    pub fn learners(&self) -> &[AnyLearner] {
        &self.learners
    }

    /// Takes saved learners, unless they cannot be these after `done` samples.
    pub fn restore(&mut self, learners: Vec<AnyLearner>, done: u64) -> bool {
        let fits = learners.len() == self.learners.len()
            && (learners.iter().zip(&self.learners)).all(|(own, new)| learner_fits(own, new, done));
        if fits {
            self.learners = learners;
        }
        fits
    }

    /// Adds |theta_t|^2 over these runs to the sums of the block's steps.
    pub fn add_norms(&self, sums: &mut [f64]) {
        for (sum, norm) in sums.iter_mut().zip(&self.norms) {
            *sum += norm;
        }
    }

    /// The current answers of the runs.
    pub fn answers(&self) -> impl Iterator<Item = Answer> {
        self.learners.iter().map(|learner| Answer {
            theta: learner.output(),
        })
    }

    /// The number of diverged runs.
    pub fn diverged(&self) -> usize {
        let diverged = |learner: &&AnyLearner| learner.health().diverged();
        self.learners.iter().filter(diverged).count()
    }

    /// Projections in all runs, for a method that projects.
    pub fn projections(&self) -> Option<u64> {
        let counts = self.learners.iter().map(Learner::projections);
        counts.reduce(|sum, count| Some(sum?.saturating_add(count?)))?
    }

    /// Updates of each run.
    pub fn updates(&self) -> u64 {
        self.learners.first().map_or(0, Learner::updates)
    }
}
