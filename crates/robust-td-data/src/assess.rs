//! Assesses the answer of a learner on the log that it learned from: whether it converged, and what the policy is worth.

use robust_td_core::features::FeatureMap;
use robust_td_core::learner::LinearValue;
use serde::{Deserialize, Serialize};

use crate::chunks::for_each_transition;
use crate::error::Result;
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
    let d = plan.map.outputs();
    let [
        mut residual,
        mut rewards,
        mut squares,
        mut noise,
        mut starts,
    ] = [(); 5].map(|()| vec![0.0; d]);
    let (mut count, mut sample) = (0_u64, Sample::default());
    for_each_transition(replay, plan.map, plan.limit, |placed| {
        let (transition, phi) = (&placed.transition, placed.transition.features);
        let next = transition.outcome.next_features();
        let next = next.map_or(0.0, |next| value.value(*next));
        let ratio = if weighs { transition.ratio } else { 1.0 };
        let reward = transition.reward;
        let delta = reward + plan.discount * next - value.value(phi);
        phi.axpy(ratio * delta, &mut residual);
        phi.axpy(ratio * reward, &mut rewards);
        phi.for_each(|j, x| {
            squares[j] += ratio * x * x;
            noise[j] += (ratio * delta * x).powi(2);
        });
        if !plan.episodic || placed.starts {
            phi.axpy(1.0, &mut starts);
            count += 1;
        }
        sample.consider(placed, plan.transitions);
    })?;
    let predictions = sample.predictions(plan.map, value);
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
            .zip(&squares)
            .filter(|(_, square)| **square > 0.0);
        terms
            .map(|(sum, square)| sum * sum / square)
            .sum::<f64>()
            .sqrt()
    };
    starts
        .iter_mut()
        .for_each(|sum| *sum /= count.max(1) as f64);
    noise.iter_mut().for_each(|square| *square = square.sqrt());
    let [left, noise, whole] = [&residual, &noise, &rewards].map(|sums| scaled(sums));
    Ok(Assessment {
        relative_residual: if left > 0.0 { left / whole } else { left },
        tolerance: TOLERANCE.max(NOISE * noise / whole),
        columns: replay.columns(plan.map.inputs()),
        starts: Starts {
            count,
            episodic: plan.episodic,
            features: starts,
            contributions: Vec::new(),
        },
        check,
        complete,
        typical: predictions.typical(),
        sample: Some(predictions.into_sample()),
    })
}
