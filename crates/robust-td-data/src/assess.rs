//! Assesses the answer of a learner on the log that it learned from: whether it converged, and what the policy is worth.

use robust_td_core::features::FeatureMap;
use robust_td_core::learner::LinearValue;
use serde::{Deserialize, Serialize};

use crate::chunks::{Placed, for_each_transition};
use crate::error::Result;
use crate::fold::Merge;
use crate::replay::Replay;
use crate::returns::{self, CompleteReturns, Predicts, ReturnCheck};
use crate::sample::{Sample, ValueSample};
use crate::solved::gather::Plan;

/// What is known about an answer on its log, however it was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Assessment {
    /// |b - A theta| / |b| with features scaled to mean square 1; NaN if the answer is not finite.
    #[serde(with = "robust_td_core::exact_float")]
    pub relative_residual: f64,
    /// The relative residual up to which the answer counts as converged.
    #[serde(with = "robust_td_core::exact_float")]
    pub tolerance: f64,
    /// The columns of the observation.
    pub columns: Vec<String>,
    pub starts: Starts,
    pub check: Option<ReturnCheck>,
    pub complete: Option<CompleteReturns>,
    /// Rows to show, smallest predicted value first.
    pub typical: Vec<Vec<f64>>,
    /// Values to draw; none in a restored model.
    #[serde(skip)]
    pub sample: Option<ValueSample>,
}

/// The rows that the value of the policy is the mean of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Starts {
    /// Their number.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub count: u64,
    /// Whether they are the first rows of episodes.
    pub episodic: bool,
    /// Their mean features.
    #[serde(with = "robust_td_core::exact_float")]
    pub features: Vec<f64>,
    /// What the sampling of these rows adds to the error, group by group; empty if the error is not known.
    #[serde(with = "robust_td_core::exact_float")]
    pub contributions: Vec<f64>,
}

/// The smallest tolerance.
pub(crate) const TOLERANCE: f64 = 1e-6;
/// The tolerance relative to the sampling noise of the equations: an answer this close is as good as their solution.
const NOISE: f64 = 0.5;
impl Assessment {
    /// Whether the answer solves the equations of the log.
    pub fn converged(&self) -> bool {
        self.relative_residual <= self.tolerance
    }

    /// Whether it fits a feature map.
    pub fn fits(&self, map: &FeatureMap) -> bool {
        self.starts.features.len() == map.outputs() && self.columns.len() == map.inputs()
    }
}

/// Assesses the value function of a learner that weighs transitions by their importance ratios, or not.
///
/// # Errors
/// Those of reading.
pub(crate) fn assess(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    value: &LinearValue,
    check: bool,
    weighs: bool,
) -> Result<Assessment> {
    let mut sums = Sums::new(plan.map.outputs());
    for_each_transition(replay, plan.map, plan.limit, |placed| {
        sums.add(placed, plan, value, weighs);
    })?;
    sums.finish(replay, plan, value, check)
}

/// Sums over the transitions of a log at an answer.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sums {
    /// The number of transitions.
    pub count: u64,
    residual: Vec<f64>,
    rewards: Vec<f64>,
    squares: Vec<f64>,
    noise: Vec<f64>,
    starts: Vec<f64>,
    start_count: u64,
    sample: Sample,
    /// For each of several changes of the answer, what it adds to the residual.
    changes: Vec<Vec<f64>>,
}

impl Sums {
    pub fn new(dimension: usize) -> Self {
        let [residual, rewards, squares, noise, starts] = [(); 5].map(|()| vec![0.0; dimension]);
        Self {
            count: 0,
            residual,
            rewards,
            squares,
            noise,
            starts,
            start_count: 0,
            sample: Sample::default(),
            changes: Vec::new(),
        }
    }

    /// Adds what changes of the answer add to the residual of a transition.
    pub fn add_changes(&mut self, placed: &Placed<'_>, discount: f64, changes: &[LinearValue]) {
        let (d, phi) = (self.residual.len(), placed.transition.features);
        self.changes.resize_with(changes.len(), || vec![0.0; d]);
        let next = placed.transition.outcome.next_features();
        for (sums, change) in self.changes.iter_mut().zip(changes) {
            let next = next.map_or(0.0, |next| change.value(*next));
            phi.axpy(discount * next - change.value(phi), sums);
        }
    }

    /// Adds a transition.
    pub fn add(&mut self, placed: &Placed<'_>, plan: &Plan<'_>, value: &LinearValue, weighs: bool) {
        let (transition, phi) = (&placed.transition, placed.transition.features);
        let next = transition.outcome.next_features();
        let next = next.map_or(0.0, |next| value.value(*next));
        let ratio = if weighs { transition.ratio } else { 1.0 };
        let reward = transition.reward;
        let delta = reward + plan.discount * next - value.value(phi);
        phi.axpy(ratio * delta, &mut self.residual);
        phi.axpy(ratio * reward, &mut self.rewards);
        phi.for_each(|j, x| {
            self.squares[j] += ratio * x * x;
            self.noise[j] += (ratio * delta * x).powi(2);
        });
        if !plan.episodic || placed.starts {
            phi.axpy(1.0, &mut self.starts);
            self.start_count += 1;
        }
        self.count += 1;
        self.sample.consider(placed, plan.transitions);
    }

    /// The bias that the residual may stand for, in standard errors, if all of it lies along one feature: its norm relative to that of the sampling noise per
    /// feature, or to that of the changes per feature if that is smaller. Features are scaled to mean square 1.
    pub fn worst_bias(&self) -> f64 {
        let scaled = |j: usize, sum: f64| match self.squares[j] > 0.0 {
            true => sum * sum / self.squares[j],
            false => 0.0,
        };
        let norm_sq = |sums: &[f64]| -> f64 {
            let terms = sums.iter().enumerate();
            terms.map(|(j, sum)| scaled(j, *sum)).sum()
        };
        let seen = self.squares.iter().filter(|square| **square > 0.0).count();
        let noise = self.noise.iter().enumerate();
        let noise: f64 = noise.map(|(j, sum)| scaled(j, sum.sqrt())).sum();
        let changes = self.changes.iter().map(|sums| norm_sq(sums)).sum::<f64>();
        let changes = changes / self.changes.len() as f64;
        let least = if noise < changes { noise } else { changes };
        let left = norm_sq(&self.residual);
        match left > 0.0 {
            true => (left * seen as f64 / least).sqrt(),
            false => left,
        }
    }

    /// Whether they fit a feature map.
    pub fn fits(&self, map: &FeatureMap) -> bool {
        let all = [
            &self.residual,
            &self.rewards,
            &self.squares,
            &self.noise,
            &self.starts,
        ];
        let mut all = all.into_iter().chain(&self.changes);
        all.all(|sums| sums.len() == map.outputs()) && self.sample.fits(map.inputs())
    }

    /// What they show, and the comparison of returns with predictions, which makes another pass.
    ///
    /// # Errors
    /// Those of reading.
    pub fn finish(
        mut self,
        replay: &mut Replay<'_>,
        plan: &Plan<'_>,
        value: &LinearValue,
        check: bool,
    ) -> Result<Assessment> {
        let predictions = self.sample.predictions(plan.map, value);
        let (check, complete) = match check && value.is_finite() {
            false => (None, None),
            true => {
                let edges = returns::edges(predictions.values());
                let (check, complete) =
                    returns::check(replay, plan, Predicts::all(value.clone()), edges)?;
                (Some(check), complete)
            }
        };
        let scaled = |sums: &[f64]| -> f64 {
            let terms = sums
                .iter()
                .zip(&self.squares)
                .filter(|(_, square)| **square > 0.0);
            terms
                .map(|(sum, square)| sum * sum / square)
                .sum::<f64>()
                .sqrt()
        };
        self.starts
            .iter_mut()
            .for_each(|sum| *sum /= self.start_count.max(1) as f64);
        self.noise
            .iter_mut()
            .for_each(|square| *square = square.sqrt());
        let [left, noise, whole] =
            [&self.residual, &self.noise, &self.rewards].map(|sums| scaled(sums));
        Ok(Assessment {
            relative_residual: if left > 0.0 { left / whole } else { left },
            tolerance: TOLERANCE.max(NOISE * noise / whole),
            columns: replay.columns(plan.map.inputs()),
            starts: Starts {
                count: self.start_count,
                episodic: plan.episodic,
                features: self.starts,
                contributions: Vec::new(),
            },
            check,
            complete,
            typical: predictions.typical(),
            sample: Some(predictions.into_sample()),
        })
    }
}

impl Merge for Sums {
    fn merge(&mut self, later: Self) {
        let pairs = [
            (&mut self.residual, later.residual),
            (&mut self.rewards, later.rewards),
            (&mut self.squares, later.squares),
            (&mut self.noise, later.noise),
            (&mut self.starts, later.starts),
        ];
        let changes = self.changes.iter_mut().zip(later.changes);
        for (own, later) in pairs.into_iter().chain(changes) {
            own.iter_mut().zip(later).for_each(|(sum, x)| *sum += x);
        }
        self.count += later.count;
        self.start_count += later.start_count;
        self.sample.merge(later.sample);
    }
}
