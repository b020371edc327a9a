//! Turns an episodic task into a continuing chain that looks the same to a TD learner.
//!
//! An end state is added after the others. Its features are zero, and its only transition leads back to the
//! start with reward 0. On entering it, the learner sees the target `r + gamma * 0`, as at the end of an
//! episode. On leaving it, the direction `g = delta * phi` is zero and nothing is learned. So theta moves
//! exactly as in the episodic task (with one idle step per episode), and `theta*` is the episodic fixed
//! point: with `N(s)` the expected visits per episode, `pi(s) = N(s) / (1 + sum N)`, which is a common factor
//! in `A` and `c`. The *true* values of the joined chain differ: there the end state is worth
//! `gamma V(start)`, the value of the next episode.

use crate::error::Result;
use crate::matrix::{Matrix, SparseMatrix};
use crate::model::chain::Chain;
use crate::model::problem::{Problem, Reward};

/// One possible move of an episodic task.
pub(super) struct Move {
    pub from: usize,
    /// The next state; `None` when the episode ends.
    pub to: Option<usize>,
    pub probability: f64,
    pub reward: f64,
}

/// The continuing problem of an episodic task; `feature(s, j)` is called only for the task's own states.
pub(super) fn continuing(
    states: usize,
    start: usize,
    moves: impl IntoIterator<Item = Move>,
    dimension: usize,
    feature: impl Fn(usize, usize) -> f64,
    discount: f64,
) -> Result<Problem> {
    let end = states;
    let mut transitions = vec![(end, start, 1.0)];
    let mut rewards = Vec::new();
    for step in moves {
        let to = step.to.unwrap_or(end);
        transitions.push((step.from, to, step.probability));
        rewards.push((step.from, to, step.reward));
    }
    let transition = SparseMatrix::from_triplets("transition", states + 1, transitions)?;
    let reward = SparseMatrix::from_triplets("reward", states + 1, rewards)?;
    let features = Matrix::from_fn(states + 1, dimension, |s, j| {
        if s == end { 0.0 } else { feature(s, j) }
    });
    Problem::new(
        Chain::from_sparse(transition)?,
        features,
        Reward::Sparse(reward),
        discount,
        start,
    )
}
