//! Learns from one of the shards of a log.

use robust_td_core::learner::Learner;
use robust_td_core::registry::AnyLearner;
use serde::{Deserialize, Serialize};

use crate::chunks::for_each_transition;
use crate::diagnostics::TdErrors;
use crate::divergence::{Divergence, DivergenceWatch};
use crate::elsewhere::tasks::Shard;
use crate::error::Result;
use crate::replay::Replay;
use crate::solved::gather::Plan;

/// The answer of one learner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The number of its shard.
    pub shard: u64,
    /// The number of transitions that it learned from.
    pub steps: u64,
    /// Its value function.
    pub theta: Vec<f64>,
    pub offset: f64,
    /// The number of rows in its shard that the value of the policy is a mean of, and the sum of their features.
    pub starts: u64,
    pub start_features: Vec<f64>,
    pub td_errors: TdErrors,
    pub updates: u64,
    pub projections: Option<u64>,
    pub max_theta_norm_sq: f64,
    pub divergence: Option<Divergence>,
}

impl Outcome {
    /// Whether it has this number of features.
    pub fn fits(&self, features: usize) -> bool {
        self.theta.len() == features && self.start_features.len() == features
    }
}

/// Learns from a shard: from its transitions, or, where there are episodes, from those that start in it, up to their ends.
///
/// # Errors
/// Those of reading.
pub(super) fn learn(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    (shard, whole): (&Shard, bool),
    (mut learner, phi_inf): (AnyLearner, f64),
) -> Result<Outcome> {
    let mut td_errors = TdErrors::default();
    let mut watch = DivergenceWatch::default();
    let (mut starts, mut start_features) = (0, vec![0.0; plan.map.outputs()]);
    let mut own = !whole;
    for_each_transition(replay, plan.map, None, |placed| {
        if whole && placed.starts {
            own = (shard.mark.start..shard.until).contains(&placed.number);
        }
        if !own || !whole && placed.number >= shard.until {
            return;
        }
        if placed.restarts {
            learner.start_episode();
        }
        let transition = &placed.transition;
        td_errors.record(learner.learn(transition));
        watch.observe(&learner, transition.reward, phi_inf);
        if !plan.episodic || placed.starts {
            transition.features.axpy(1.0, &mut start_features);
            starts += 1;
        }
    })?;
    let value = learner.value_function();
    Ok(Outcome {
        shard: shard.number,
        steps: learner.steps(),
        theta: value.theta,
        offset: value.offset,
        starts,
        start_features,
        td_errors,
        updates: learner.updates(),
        projections: learner.projections(),
        max_theta_norm_sq: learner.health().max_theta_norm_sq,
        divergence: watch.divergence(&learner),
    })
}
