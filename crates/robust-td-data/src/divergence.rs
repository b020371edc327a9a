//! Notices iterates that are far larger than the rewards allow, whatever the units of rewards and features.

use std::fmt;

use robust_td_core::learner::Learner;
use robust_td_core::registry::{AnyLearner, Approach};
use serde::{Deserialize, Serialize};

/// No value exceeds r_inf / (1 - gamma). Steps have diverged when |theta| phi_inf exceeds this many times that.
const EXCESS: f64 = 1e6;

/// The largest reward so far, and when the iterates diverged.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DivergenceWatch {
    #[serde(with = "robust_td_core::exact_float")]
    r_inf: f64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    exceeded_at: Option<u64>,
}

impl DivergenceWatch {
    /// Compares the iterates with the rewards, after a step.
    #[inline]
    pub fn observe(&mut self, learner: &AnyLearner, reward: f64, phi_inf: f64) {
        self.r_inf = self.r_inf.max(reward.abs());
        let largest = learner.health().max_theta_norm_sq;
        let limit = EXCESS * self.r_inf / (1.0 - learner.discount());
        // Written so that NaN, which results from an overflow, exceeds the limit.
        if self.exceeded_at.is_none() && !(largest * phi_inf * phi_inf <= limit * limit) {
            self.exceeded_at = Some(learner.steps());
        }
    }

    /// How the learner diverged, if it did.
    pub fn divergence(&self, learner: &AnyLearner) -> Option<Divergence> {
        let overflow = || (!learner.value_function().is_finite()).then_some(Divergence::Overflow);
        match learner.abilities().approach {
            Approach::Solution => overflow(),
            Approach::Portfolio => match learner.health().diverged_at {
                Some(step) => Some(Divergence::AllRetired { step }),
                None => overflow(),
            },
            Approach::Steps => match self.exceeded_at {
                Some(step) => Some(Divergence::TooLarge { step }),
                None => overflow(),
            },
        }
    }
}

/// How a model diverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Divergence {
    /// No constant of the portfolio was left.
    AllRetired {
        /// By this step.
        step: u64,
    },
    /// The iterates left the range of values that the rewards allow, a million times over.
    TooLarge {
        /// At this step.
        step: u64,
    },
    /// The answer is not finite.
    Overflow,
}

impl Divergence {
    /// The step at which it diverged, if it is known.
    #[must_use]
    pub fn step(self) -> Option<u64> {
        match self {
            Self::AllRetired { step } | Self::TooLarge { step } => Some(step),
            Self::Overflow => None,
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllRetired { step } => write!(f, "all constants were retired by step {step}"),
            Self::TooLarge { step } => write!(
                f,
                "at step {step} the values exceeded a million times the largest that the rewards allow"
            ),
            Self::Overflow => f.write_str("theta overflowed"),
        }
    }
}
