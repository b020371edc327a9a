//! Estimates the value of a policy that was not followed, beside least squares: by importance sampling, and doubly robust.
//!
//! # Formulas
//! With rho_t = pi(a_t|s_t) / mu(a_t|s_t) and w_t = rho_0 ... rho_t, for n episodes i:
//! ```text
//! per decision        (1/n) sum_i sum_t gamma^t w_it r_it
//! weighted            sum_t gamma^t (sum_i w_it r_it) / (sum_i w_it)
//! doubly robust       (1/n) sum_i [ V(s_i0) + sum_t gamma^t w_it (r_it + gamma V(s_i,t+1) - Q(s_it, a_it)) ]
//! ```
//! An episode that has terminated stays in the weighted sums with its last weight and reward 0. Without actions, `rho` alone gives V but no Q,
//! and there is no doubly robust estimate: with w_i,t-1 V(s_it) instead of w_it Q(s_it, a_it) its corrections add up to importance sampling. Q and V of an
//! episode are fitted without it, by fifths of the episodes, if there are few enough features.
//!
//! Importance sampling needs episodes to their end: those that were cut are left out. Doubly robust estimates replace what would have
//! followed by V there.
//!
//! # Effective sample size
//! With u_i the mean of w_it over the rows of an episode, discounted by gamma^t: (sum u)^2 / sum u^2 (Kish). It is n where the policy was followed.
//!
//! # Intervals
//! Those of a mean of independent episodes or clusters, with t quantiles and a correction for skewness ([`spread`](robust_td_core::spread)). They are known where
//! what an episode earns beyond the rows within reach of the weights ([`tail`]) is at most one standard error of the estimate (1.5 of the doubly robust one).
//!
//! # References
//! Precup, Sutton & Singh, "Eligibility traces for off-policy policy evaluation", ICML 2000; Thomas & Brunskill, "Data-efficient
//! off-policy policy evaluation for reinforcement learning", ICML 2016 (weighted); Jiang & Li, "Doubly robust off-policy value
//! evaluation for reinforcement learning", ICML 2016.

mod balance;
mod episodes;
mod estimate;
mod folds;
pub(crate) mod support;
mod tail;
mod tally;
mod weighted;

pub(crate) use estimate::{Wanted, estimate};
pub(crate) use tally::PolicyTally;
pub use tally::{ActionReport, PolicyReport};

use robust_td_core::number::short;
use robust_td_core::spread::{Spread, independent};
use robust_td_core::support::Support;
use serde::{Deserialize, Serialize};

use crate::actions::PolicyKind;
use crate::start_value::StartValue;

/// The largest predicted skewness of the mean weight of the rows that are within reach.
const MOST_SKEWED: f64 = 0.5;
/// What is beyond them may be this many standard errors, for an interval; more where values that are predicted replace it.
const MOST_BEYOND: f64 = 1.0;
const MOST_BEYOND_ROBUST: f64 = 1.5;
/// The largest share of episodes that importance sampling may leave out, for an interval,
const MOST_CUT: f64 = 0.01;
/// and the largest mean weight, discounted, of the predicted values that replace what follows a cut, for one of the doubly robust estimate.
const MOST_PREDICTED: f64 = 0.05;
/// Two estimates contradict each other if they differ by more than their errors at this confidence.
const SURE: f64 = 0.999;

/// How a log describes a policy that was not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TargetKind {
    /// By the probabilities of all actions.
    Probabilities,
    /// By the actions that it takes.
    Actions,
    /// By importance ratios alone.
    Ratios,
}

impl From<PolicyKind> for TargetKind {
    fn from(kind: PolicyKind) -> Self {
        match kind {
            PolicyKind::Probabilities => Self::Probabilities,
            _ => Self::Actions,
        }
    }
}

/// An estimator of the value of a policy that was not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OffPolicyMethod {
    /// The TD fixed point, by least squares: no propensities are needed.
    LeastSquares,
    /// Per-decision importance sampling.
    PerDecision,
    /// Weighted per-decision importance sampling.
    Weighted,
    /// Doubly robust.
    DoublyRobust,
}

impl OffPolicyMethod {
    /// The method in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LeastSquares => "least squares",
            Self::PerDecision => "importance sampling",
            Self::Weighted => "weighted importance sampling",
            Self::DoublyRobust => "doubly robust",
        }
    }
}

/// One estimate of the value of a policy that was not followed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OffPolicyEstimate {
    /// The estimator.
    pub method: OffPolicyMethod,
    /// The estimate.
    pub value: f64,
    /// The ends of its interval, by episodes or clusters of them; infinite where it is not known.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The number of episodes of the policy itself that would weigh as much; `None` without weights.
    pub effective_sample_size: Option<f64>,
    /// The predicted skewness of the mean weight, from the ratios of single rows; `None` without weights.
    pub weight_skewness: Option<f64>,
    /// The number of episodes.
    pub episodes: u64,
    /// Why the interval is not known, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the values of an episode were fitted without it; `None` where no values are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross_fitted: Option<bool>,
}

/// What is known about a policy that was not followed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OffPolicyReport {
    /// How the log describes the policy.
    pub target: TargetKind,
    /// The names of the actions.
    pub actions: Vec<String>,
    /// The share of the policy's discounted steps that take an action where the log has none like it; `None` if it is not known.
    pub unsupported_share: Option<f64>,
    /// The estimates: least squares first.
    pub estimates: Vec<OffPolicyEstimate>,
}

impl OffPolicyReport {
    /// Why estimates have no interval, one sentence per reason.
    #[must_use]
    pub fn unknown_intervals(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for found in &self.estimates {
            let Some(reason) = found.reason.as_deref() else {
                continue;
            };
            match reasons.iter_mut().find(|(own, _)| *own == reason) {
                Some((_, names)) => names.push(found.method.name()),
                None => reasons.push((reason, vec![found.method.name()])),
            }
        }
        let sentence = |(reason, names): (&str, Vec<&str>)| {
            format!("No interval of {}: {reason}.", names.join(", "))
        };
        reasons.into_iter().map(sentence).collect()
    }
}

/// The same, as it is saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OffPolicy {
    pub target: TargetKind,
    pub actions: Vec<String>,
    #[serde(with = "robust_td_core::exact_float")]
    pub unsupported_share: Option<f64>,
    /// Whether the policy is known at the first rows.
    pub knows_starts: bool,
    /// Whether rows have importance ratios.
    pub has_ratios: bool,
    /// The number of episodes that were cut.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub cut: u64,
    pub estimates: Vec<SavedEstimate>,
}

/// An estimate with what each group of episodes contributes to its error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedEstimate {
    pub method: OffPolicyMethod,
    #[serde(with = "robust_td_core::exact_float")]
    pub value: f64,
    #[serde(with = "robust_td_core::exact_float")]
    pub contributions: Vec<f64>,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub clusters: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub episodes: u64,
    #[serde(with = "robust_td_core::exact_float")]
    pub effective: f64,
    /// The predicted skewness of the mean weight, and what an episode earns beyond the rows where it is up to [`MOST_SKEWED`].
    #[serde(with = "robust_td_core::exact_float")]
    pub skewness: f64,
    #[serde(with = "robust_td_core::exact_float")]
    pub beyond: f64,
    pub cross_fitted: Option<bool>,
    /// Why it may be further off than its error says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
}

/// Why an estimate may be further off than its error says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Doubt {
    /// The policy takes actions where the log has none like them.
    Unsupported,
    /// The importance ratios do not average 1.
    Propensities,
    /// Episodes that were cut are left out: their share.
    Cut(f64),
    /// Predicted values replace what follows a cut: their mean weight, discounted.
    Predicted(f64),
}

impl Doubt {
    fn sentence(self) -> String {
        match self {
            Self::Unsupported => {
                "the policy takes actions where the log has none like them, and weights cannot make up for that".into()
            }
            Self::Propensities => "the importance ratios do not average 1, so that they are wrong".into(),
            Self::Cut(share) => format!(
                "{:.0} % of the episodes were cut and are left out, and these are not like the others",
                100.0 * share
            ),
            Self::Predicted(weight) => format!(
                "episodes were cut, and {:.0} % of the value is what least squares predicts there, whose error is not known",
                100.0 * weight
            ),
        }
    }
}

impl SavedEstimate {
    fn at(&self, confidence: f64) -> OffPolicyEstimate {
        let reason = self.unknown();
        let sides = match reason {
            Some(_) => Spread::UNKNOWN.sides(confidence),
            None => self.spread().sides(confidence),
        };
        OffPolicyEstimate {
            method: self.method,
            value: self.value,
            lower: self.value - sides.below,
            upper: self.value + sides.above,
            effective_sample_size: Some(self.effective),
            weight_skewness: Some(self.skewness),
            episodes: self.episodes,
            reason,
            cross_fitted: self.cross_fitted,
        }
    }

    /// Its sampling error. Whether it is reliable does not depend on the weights that the log happens to have ([`tail`]).
    fn spread(&self) -> Spread {
        let support = Support::even(self.clusters as f64, self.effective);
        independent(&self.contributions, support)
    }

    /// Why the interval is not known, if it is not.
    fn unknown(&self) -> Option<String> {
        // Where all weighted returns are the same, the log does not show how they vary: often the weight is on a few episodes that earned nothing.
        let rounding = 1e-14 * self.value.abs();
        let error = self.spread().standard_error();
        let most = match self.method {
            OffPolicyMethod::DoublyRobust => MOST_BEYOND_ROBUST,
            _ => MOST_BEYOND,
        };
        if let Some(doubt) = self.doubt {
            Some(doubt.sentence())
        } else if self.clusters < 2 {
            Some("there is only one independent episode or cluster".into())
        } else if self.contributions.iter().all(|part| part.abs() <= rounding) {
            Some("the weighted returns of all episodes are the same, so that the log does not show how they vary".into())
        } else if !error.is_finite() {
            Some("hardly any episode has a weight".into())
        } else if !(self.beyond <= most * error) {
            Some(format!(
                "the products of the importance ratios are so skewed that episodes which the log probably lacks would carry much of the value (predicted skewness \
                 of the mean weight {}, where {MOST_SKEWED} is the limit): the rows where this is so may earn {}, too much beside the standard error",
                short(self.skewness),
                short(self.beyond)
            ))
        } else {
            None
        }
    }
}

impl OffPolicy {
    /// The estimates at a confidence in (0, 1), with that of least squares; `unknown` says why it has no interval, if it has none.
    pub fn report(
        &self,
        start: Option<StartValue>,
        unknown: Option<String>,
        confidence: f64,
    ) -> OffPolicyReport {
        let first = start.map(|start| OffPolicyEstimate {
            method: OffPolicyMethod::LeastSquares,
            value: start.value,
            lower: start.lower,
            upper: start.upper,
            effective_sample_size: None,
            weight_skewness: None,
            episodes: start.starts,
            reason: unknown.filter(|_| !start.upper.is_finite()),
            cross_fitted: None,
        });
        let others = self.estimates.iter().map(|found| found.at(confidence));
        OffPolicyReport {
            target: self.target,
            actions: self.actions.clone(),
            unsupported_share: self.unsupported_share,
            estimates: first.into_iter().chain(others).collect(),
        }
    }

    /// The estimates that differ from that of least squares by more than chance.
    pub fn contradictions(&self, value: f64, spread: &Spread) -> Vec<OffPolicyEstimate> {
        let own = spread.sides(SURE);
        let others = self.estimates.iter().map(|found| found.at(SURE));
        let differs = |other: &OffPolicyEstimate| {
            let (own, others) = match other.value > value {
                true => (own.above, other.value - other.lower),
                false => (own.below, other.upper - other.value),
            };
            (other.value - value).abs() > own.hypot(others)
        };
        others.filter(differs).collect()
    }

    /// Why importance sampling has no interval, if it has an estimate without one, and its effective sample size.
    pub fn unreliable(&self) -> Option<(String, f64)> {
        let mut found = self.estimates.iter();
        let found = found.find(|found| found.method == OffPolicyMethod::PerDecision)?;
        Some((found.unknown()?, found.effective))
    }
}
