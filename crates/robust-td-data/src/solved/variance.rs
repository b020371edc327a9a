//! Solves for the variance of the return.
//!
//! # Formulas
//! The return G = r + gamma G' differs from its mean V(s) by delta + gamma (G' - V(s')), with delta = r + gamma V(s') - V(s). Given s', the
//! second part has mean 0, so the variance of the return satisfies an equation like that of the value,
//! ```text
//! W(s) = E[ delta^2 + gamma^2 W(s') | s ],
//! ```
//! which is that of the second moment, M = E[r^2 + 2 gamma r V(s') + gamma^2 M(s')], minus V^2. With linear features W = phi.w is one
//! more system of least squares: rewards delta^2, discount gamma^2. The system for M has the same solution where features express both V
//! and V^2, as one-hot features do; elsewhere it has to express V^2, of which W is a small difference.
//!
//! The variance of the return from a random start is the mean of W over the starts plus the variance of V over the starts. Its
//! error by group k of transitions, to first order, is
//! ```text
//! phi_mean.B^{-1} ( sum of rho phi (delta^2 + gamma^2 phi'.w - phi.w)  +  2 C W_k )  +  2 cov.W_k  +  sum over the starts of
//! ( phi.w - mean + (V - mean V)^2 - variance of V ) / starts,
//! ```
//! with B the matrix of the system for w, W_k the influence of the group on theta, C = sum of rho delta phi (gamma phi' - phi)', and cov
//! the covariance of V and phi over the starts.
//!
//! # References
//! Sobel, "The variance of discounted Markov decision processes", Journal of Applied Probability 19, 1982; Tamar, Di Castro & Mannor,
//! "Learning the variance of the reward-to-go", JMLR 17, 2016; Sherstan et al., "Comparing direct and indirect temporal-difference methods for
//! estimating the variance of the return", UAI 2018.

use robust_td_core::Matrix;
use robust_td_core::equations::Equations;
use robust_td_core::influence::{GroupSums, Influence};
use robust_td_core::learner::{Features, Transition};
use robust_td_core::spread::Spread;
use robust_td_core::support::leverage;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::gather::Plan;
use super::unit::Groups;
use crate::chunks::{Chunk, Placed, for_each_chunk};
use crate::error::Result;
use crate::replay::Replay;

/// The variance of the return, as far as the model keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variance {
    /// The variance of the return from a row is the inner product of w and its features.
    #[serde(with = "robust_td_core::exact_float")]
    pub weights: Vec<f64>,
    /// The mean variance of the return over the starts.
    #[serde(with = "robust_td_core::exact_float")]
    pub within: f64,
    /// The variance of the value over the starts.
    #[serde(with = "robust_td_core::exact_float")]
    pub between: f64,
    /// The influence of groups of transitions on w; none where the error is not known.
    influence: Option<Influence>,
    /// What each group adds to the error of the whole variance, beyond that.
    #[serde(with = "robust_td_core::exact_float")]
    contributions: Vec<f64>,
}

impl Variance {
    /// The error of the variance of the return from a random start, whose mean features are given.
    pub fn spread(&self, starts: Features<'_>) -> Option<Spread> {
        let influence = self.influence.as_ref()?;
        Some(influence.spread_with(starts, &self.contributions))
    }

    /// Drops its error.
    pub fn forget_errors(&mut self) {
        self.influence = None;
        self.contributions.clear();
    }

    /// Whether it fits a number of features.
    pub fn fits(&self, dimension: usize) -> bool {
        let groups = self.influence.as_ref().map_or(0, Influence::groups);
        self.weights.len() == dimension
            && (self.influence.as_ref()).is_none_or(|found| found.fits(dimension))
            && self.contributions.len() == groups
    }
}

/// The sums of the system for w and of its error.
struct Sums {
    /// Rewards delta^2, discount gamma^2.
    equations: Equations,
    /// With weights rho delta: its matrix is -C.
    cross: Equations,
    /// Over the starts, (V - mean) phi and (V - mean)^2.
    products: Vec<f64>,
    square: f64,
}

/// What the passes need to know.
struct At<'a> {
    theta: &'a [f64],
    mean: f64,
    starts: f64,
}

impl Sums {
    fn new(plan: &Plan<'_>) -> Result<Self> {
        let d = plan.map.outputs();
        Ok(Self {
            equations: Equations::new(d, plan.discount * plan.discount)?,
            cross: Equations::new(d, plan.discount)?,
            products: vec![0.0; d],
            square: 0.0,
        })
    }

    fn of(chunk: &Chunk, plan: &Plan<'_>, at: &At<'_>) -> Result<Self> {
        let mut sums = Self::new(plan)?;
        chunk.for_each(plan.map, |placed| {
            let transition = &placed.transition;
            let delta = transition.td_error(at.theta, plan.discount);
            sums.equations.add(&with_reward(transition, delta * delta));
            let ratio = transition.ratio * delta;
            sums.cross.add(&transition.with_ratio(ratio));
            if is_start(plan, placed) {
                let away = transition.features.dot(at.theta) - at.mean;
                transition.features.axpy(away, &mut sums.products);
                sums.square += away * away;
            }
        });
        Ok(sums)
    }

    fn merge(&mut self, part: Self) {
        self.equations.merge(part.equations);
        self.cross.merge(part.cross);
        let products = self.products.iter_mut().zip(&part.products);
        products.for_each(|(sum, x)| *sum += x);
        self.square += part.square;
    }
}

/// Finds the variance of the return for an answer.
///
/// # Errors
/// Those of reading, and sums that overflow.
pub(super) fn variance(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    answer: &Answer,
) -> Result<Variance> {
    let starts = answer.log.starts.max(1) as f64;
    let at = At {
        theta: &answer.theta,
        mean: answer.start_phi().dot(&answer.theta),
        starts,
    };
    let mut sums = Sums::new(plan)?;
    for_each_chunk(
        replay,
        plan,
        |chunk| Sums::of(chunk, plan, &at),
        |part| {
            sums.merge(part?);
            Ok(())
        },
    )?;
    let found = sums.equations.solve()?;
    let within = answer.start_phi().dot(&found.theta);
    let between = sums.square / starts;
    let mut variance = Variance {
        within,
        between,
        influence: None,
        contributions: Vec::new(),
        weights: found.theta.clone(),
    };
    let known = answer
        .influence
        .as_ref()
        .filter(|_| found.has_enough_samples() && found.identified.covers(answer.start_phi()));
    let Some(of_theta) = known.filter(|known| !known.is_of_one_value()) else {
        return Ok(variance);
    };
    let groups = answer.log.groups(plan.unit, of_theta.groups());
    if groups.count() != of_theta.groups() {
        return Ok(variance);
    }
    let d = plan.map.outputs();
    let (scores, mut contributions) = scores(replay, plan, &at, &variance, &groups)?;
    let rows: Vec<Vec<f64>> = (0..groups.count()).map(|k| of_theta.row(k, d)).collect();
    let through_theta = found.influence(&sums.cross.times_rows(&Matrix::from_fn(
        groups.count(),
        d,
        |k, j| rows[k][j],
    )));
    let covariance: Vec<f64> = sums.products.iter().map(|x| x / starts).collect();
    for (k, contribution) in contributions.iter_mut().enumerate() {
        // `cross` has the matrix -C.
        let through = -answer.start_phi().dot(through_theta.row(k));
        let of_starts = Features::Dense(&covariance).dot(&rows[k]);
        *contribution += 2.0 * (through + of_starts);
    }
    let influence = Influence::new(&found, groups.grouping(), &scores, groups.clusters())?;
    variance.influence = Some(influence);
    variance.contributions = contributions;
    Ok(variance)
}

/// The scores of the system for w by group, and what each group's starts add.
fn scores(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    at: &At<'_>,
    found: &Variance,
    groups: &Groups,
) -> Result<(GroupSums, Vec<f64>)> {
    let (count, d) = (groups.count(), plan.map.outputs());
    let new = || (GroupSums::new(count, d), vec![0.0; count], vec![0.0; count]);
    let (mut sums, mut starts, mut counts) = new();
    let square = plan.discount * plan.discount;
    for_each_chunk(
        replay,
        plan,
        |chunk| {
            let (mut sums, mut starts, mut counts) = new();
            chunk.for_each(plan.map, |placed| {
                let transition = &placed.transition;
                let group = groups.of(placed);
                let delta = transition.td_error(at.theta, plan.discount);
                let squared = with_reward(transition, delta * delta);
                let score = squared.td_error(&found.weights, square);
                sums.add(group, transition, score);
                if is_start(plan, placed) {
                    let phi = transition.features;
                    let away = phi.dot(at.theta) - at.mean;
                    let own = phi.dot(&found.weights) - found.within;
                    starts[group] += (own + away * away - found.between) / at.starts;
                    counts[group] += 1.0;
                }
            });
            (sums, starts, counts)
        },
        |part| {
            sums.merge(&part.0);
            starts
                .iter_mut()
                .zip(&part.1)
                .for_each(|(sum, x)| *sum += x);
            counts
                .iter_mut()
                .zip(&part.2)
                .for_each(|(sum, x)| *sum += x);
            Ok(())
        },
    )?;
    let pairs = starts.iter().zip(&counts);
    let starts = pairs.map(|(sum, own)| sum * leverage(own / at.starts));
    Ok((sums, starts.collect()))
}

fn is_start(plan: &Plan<'_>, placed: &Placed<'_>) -> bool {
    !plan.episodic || placed.starts
}

fn with_reward<'a>(transition: &Transition<'a>, reward: f64) -> Transition<'a> {
    Transition {
        reward,
        ..*transition
    }
}
