//! Splits the error of an output into spread, which averaging over independent agents reduces, and bias.
//!
//! For independent outputs X_1, ..., X_N with the law of X and a quadratic f, exactly
//! ```text
//! E f( (X_1 + ... + X_N) / N ) = f(E X) + ( E f(X) - f(E X) ) / N = bias + spread / N
//! ```
//! (one-shot averaging: Liu & Olshevsky, arXiv:2104.07855; Tian, Paschalidis & Olshevsky, arXiv:2403.08896).

use robust_td_core::learner::Learner;
use robust_td_core::learner::recipe::{Output, Samples};
use robust_td_core::moments::Moments;
use robust_td_core::schedule::Schedule;
use robust_td_engine::contest::Score;

use super::plan::{Plan, Point};
use crate::contest::field::Contestant;

/// Bias and spread of one method at one point.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The index of the point in the plan.
    pub point: usize,
    /// The method.
    pub label: String,
    /// Whether it is exact or estimated from the runs.
    pub exact: bool,
    /// f(E X).
    pub bias: f64,
    /// E f(X) - f(E X).
    pub spread: f64,
}

impl Split {
    /// E f of the mean of N outputs.
    #[must_use]
    pub fn f(&self, agents: u64) -> f64 {
        self.bias + self.spread / agents as f64
    }
}

/// The most work that an exact split may cost: samples times transitions times d^2.
const MOST_WORK: f64 = 2e9;

/// The splits of all methods at all points, if the plan has agents: from the runs, and exact where possible.
pub fn splits(plan: &Plan, scores: &[Vec<Score>]) -> Vec<Split> {
    if plan.spec.agents.is_empty() {
        return Vec::new();
    }
    let mut splits = Vec::new();
    for (place, (point, scores)) in plan.points.iter().zip(scores).enumerate() {
        for (contestant, score) in point.contestants.iter().zip(scores) {
            let split = |exact, (bias, spread)| Split {
                point: place,
                label: contestant.label.clone(),
                exact,
                bias,
                spread,
            };
            splits.push(split(false, sampled(score, point.length.runs)));
            splits.extend(exact(point, contestant).map(|parts| split(true, parts)));
        }
    }
    splits
}

/// From R runs: f of their mean has expectation bias + spread / R, from which the identity gives both. The estimate of the
/// bias can be negative when the bias is well below spread / R; it is then reported as 0.
fn sampled(score: &Score, runs: u64) -> (f64, f64) {
    let runs = runs as f64;
    let spread = (score.f.mean - score.f_of_mean) * runs / (runs - 1.0);
    let bias = match score.f.mean - spread {
        below if below < 0.0 => 0.0,
        bias => bias,
    };
    (bias, score.f.mean - bias)
}

/// From the exact moments, for unprojected TD(0) that uses every sample and outputs an average of its iterates.
fn exact(point: &Point, contestant: &Contestant) -> Option<(f64, f64)> {
    let recipe = contestant.prepared.learner.recipe()?;
    let averaged = matches!(recipe.output, Output::Uniform | Output::StepWeighted);
    let plain =
        recipe.samples == Samples::Every && recipe.radius.is_none() && recipe.regulariser == 0.0;
    let problem = &point.problem;
    let transitions = problem.chain().transition().stored() as f64;
    let work = point.length.horizon as f64 * transitions * (problem.dimension() as f64).powi(2);
    if !(averaged && plain && work <= MOST_WORK) {
        return None;
    }
    let mut moments = Moments::new(problem);
    for t in 0..point.length.horizon {
        let eta = recipe.steps.step_size(t);
        moments.step_weighted(eta, recipe.output.weight(t, eta));
    }
    let split = moments.bias_and_spread();
    Some((split.bias, split.spread))
}
