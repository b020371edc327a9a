//! Holds the average of independent learners, each on its own shard of a log, with the error that their spread shows.
//!
//! A learner that steps cannot be divided: its state after a row depends on all rows before. Learners on K shards can be averaged once. Shards depend
//! on the log and on K, never on workers: the transitions are cut into K ranges, and where there are episodes, a learner takes those that start in its
//! range, whole.
//!
//! # Formulas
//! With n_k transitions in shard k, w_k = n_k / n, m shards that have transitions, and t the quantile with m - 1 degrees of freedom:
//! ```text
//! theta   = sum_k w_k theta_k
//! c_k     = w_k phi.(theta_k - theta)                 (plus, for the value of the policy, what the starts of the shard add)
//! se^2    = m/(m - 1) sum_k c_k^2
//! v       = sqrt(m/(m - 1)) sum_k (+-1) w_k (theta_k - theta)          16 draws of signs: changes as likely as the error
//! rho     = sqrt(d) |b - A theta| / min( noise of b - A theta, rms |A v| )
//! interval: phi.theta -+ t se sqrt(1 + rho^2)          if the answer has converged and rho <= 2; none otherwise
//! ```
//! se is the error of the average around its own mean. What all learners get wrong in the same way, such as their starting point, is not in it and is
//! not reduced by averaging: E f(mean) = bias + spread/m. The residual of the equations of the whole log shows it. rho is its norm, with
//! features scaled to mean square 1, relative to the norm per feature of the sampling noise and of residuals that errors of the size of the spread have. So it
//! is the bias in standard errors if all of the residual lies along one feature. (Relative to the norms over all features, as first tried, a bias along the
//! slow direction of ten features went unnoticed: no interval of 40 covered.) A bias of rho standard errors is covered by the wider interval.
//!
//! # Reference
//! Zinkevich, Weimer, Smola & Li, "Parallelized stochastic gradient descent", NeurIPS 2010 (one-shot averaging).

pub(crate) mod learn;
pub(crate) mod passes;

use std::collections::BTreeMap;

use robust_td_core::features::FeatureMap;
use robust_td_core::learner::{Features, LinearValue};
use robust_td_core::registry;
use robust_td_core::spread::two_sided;
use serde::{Deserialize, Serialize};

use crate::assess::Assessment;
use crate::diagnostics::TdErrors;
use crate::divergence::Divergence;
use crate::error::{Error, Result};
use crate::hash::mix;
use crate::inspect::Finding;
use crate::options::ReadAs;
use crate::origin::Origin;
use learn::Outcome;

/// The average of independent learners on the shards of a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Averaged {
    pub(crate) algorithm: String,
    pub(crate) parameters: BTreeMap<String, f64>,
    pub(crate) discount: f64,
    pub(crate) features: FeatureMap,
    #[serde(with = "robust_td_core::exact_float")]
    pub(crate) phi_inf: f64,
    #[serde(with = "robust_td_core::exact_float")]
    pub(crate) theta: Vec<f64>,
    #[serde(with = "robust_td_core::exact_float")]
    pub(crate) offset: f64,
    /// The number of learners, also of those without a transition.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub(crate) learners: u64,
    pub(crate) spread: Spreads,
    /// What another pass over the log showed; none where the answer solves other equations.
    pub(crate) assessment: Option<Assessment>,
    pub(crate) origin: Origin,
    pub(crate) facts: Facts,
}

/// How the learners differ.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spreads {
    /// w_k (theta_k - theta), one after the other.
    #[serde(with = "robust_td_core::exact_float")]
    theta: Vec<f64>,
    /// The same of the constant that is added to values.
    #[serde(with = "robust_td_core::exact_float")]
    offset: Vec<f64>,
    /// rho: the bias that the residual of the equations of the log may stand for, in standard errors.
    #[serde(with = "robust_td_core::exact_float")]
    pub(crate) bias: f64,
}

/// The facts about an average and its log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub rows: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub transitions: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub left_out: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub bad_rows: u64,
    /// The fewest and most transitions that a learner had, of those with any.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub fewest: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub most: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub updates: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub projections: Option<u64>,
    #[serde(with = "robust_td_core::exact_float")]
    pub max_theta_norm_sq: f64,
    /// How the first learner that diverged did so.
    pub divergence: Option<Divergence>,
    /// The temporal-difference errors of all learners, each at the iterate of its step.
    pub td_errors: TdErrors,
    /// What is known about the log.
    pub findings: Vec<Finding>,
}

/// The learners behind an average, for reports.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LearnersReport {
    /// The number of learners that were asked for.
    pub asked: u64,
    /// The number of those that have transitions.
    pub averaged: u64,
    /// The fewest transitions of one of these.
    pub fewest_transitions: u64,
    /// The most.
    pub most_transitions: u64,
    /// The bias that the residual of the equations of the log may stand for, in standard errors, if all of it lies along one feature: above 2 there are no
    /// intervals.
    pub worst_bias: Option<f64>,
    /// The standard error of the value of the policy around the mean of such averages: without the bias that learners share.
    pub standard_error: Option<f64>,
}

/// The largest bias, in standard errors, with which there are intervals.
pub(crate) const MOST_BIAS: f64 = 2.0;

/// The number of random changes that the residual is compared with.
const CHANGES: usize = 16;

/// The average of the answers of learners, weighted by their transitions, and how they differ.
pub(crate) fn average(outcomes: &[Outcome], dimension: usize) -> (LinearValue, Spreads) {
    let own: Vec<&Outcome> = outcomes.iter().filter(|one| one.steps > 0).collect();
    let all: u64 = own.iter().map(|one| one.steps).sum();
    let weight = |one: &Outcome| one.steps as f64 / all.max(1) as f64;
    let (mut theta, mut offset) = (vec![0.0; dimension], 0.0);
    for one in &own {
        let pairs = theta.iter_mut().zip(&one.theta);
        pairs.for_each(|(sum, x)| *sum += weight(one) * x);
        offset += weight(one) * one.offset;
    }
    let mut spread = Spreads::default();
    for one in &own {
        let pairs = one.theta.iter().zip(&theta);
        let away = pairs.map(|(x, mean)| weight(one) * (x - mean));
        spread.theta.extend(away);
        spread.offset.push(weight(one) * (one.offset - offset));
    }
    (LinearValue { theta, offset }, spread)
}

/// What the sampling of starts adds to the error of the value of the policy, learner by learner.
pub(crate) fn start_contributions(
    outcomes: &[Outcome],
    value: &LinearValue,
    mean: &[f64],
    count: u64,
) -> Vec<f64> {
    let own = outcomes.iter().filter(|one| one.steps > 0);
    own.map(|one| {
        let pairs = one.start_features.iter().zip(mean).zip(&value.theta);
        let away = pairs.map(|((sum, mean), theta)| (sum - one.starts as f64 * mean) * theta);
        away.sum::<f64>() / count.max(1) as f64
    })
    .collect()
}

impl Spreads {
    /// The number of learners.
    #[must_use]
    pub fn learners(&self) -> usize {
        self.offset.len()
    }

    /// Changes of theta, one after the other, and of the offset, that are as likely as the error of the average: sums of what each learner adds to it,
    /// with random signs.
    pub(crate) fn changes(&self) -> (Vec<f64>, Vec<f64>) {
        let m = self.offset.len();
        if m < 2 {
            return (Vec::new(), Vec::new());
        }
        let (d, scale) = (self.theta.len() / m, (m as f64 / (m - 1) as f64).sqrt());
        let (mut changes, mut offsets) = (vec![0.0; CHANGES * d], vec![0.0; CHANGES]);
        for (b, (change, offset)) in changes.chunks_exact_mut(d).zip(&mut offsets).enumerate() {
            for (k, row) in self.theta.chunks_exact(d).enumerate() {
                let bit = mix((b * m + k) as u64) & 1;
                let sign = if bit == 0 { scale } else { -scale };
                change
                    .iter_mut()
                    .zip(row)
                    .for_each(|(sum, x)| *sum += sign * x);
                *offset += sign * self.offset[k];
            }
        }
        (changes, offsets)
    }

    fn fits(&self, dimension: usize) -> bool {
        self.theta.len() == dimension * self.offset.len()
    }

    /// The standard error of phi.theta, plus the constant of values if `values`, plus what is given for each learner; infinite for one learner.
    #[must_use]
    pub fn standard_error(&self, phi: Features<'_>, values: bool, more: &[f64]) -> f64 {
        let m = self.offset.len();
        if m < 2 {
            return f64::INFINITY;
        }
        let rows = self.theta.chunks_exact(self.theta.len() / m);
        let sum: f64 = rows
            .zip(&self.offset)
            .enumerate()
            .map(|(k, (row, offset))| {
                let offset = if values { *offset } else { 0.0 };
                let one = phi.dot(row) + offset + more.get(k).copied().unwrap_or(0.0);
                one * one
            })
            .sum();
        (sum * m as f64 / (m - 1) as f64).sqrt()
    }

    /// Half the width of the interval of a confidence in (0, 1); infinite where the error is not known.
    #[must_use]
    pub fn half_width(
        &self,
        phi: Features<'_>,
        values: bool,
        more: &[f64],
        confidence: f64,
    ) -> f64 {
        let error = self.standard_error(phi, values, more);
        let wider = (1.0 + self.bias * self.bias).sqrt();
        match error.is_finite() && wider.is_finite() {
            true => wider * error * two_sided(confidence, (self.offset.len() - 1) as f64),
            false => f64::INFINITY,
        }
    }
}

impl Averaged {
    /// The value function.
    #[must_use]
    pub fn value_function(&self) -> LinearValue {
        LinearValue {
            theta: self.theta.clone(),
            offset: self.offset,
        }
    }

    /// The algorithm's id.
    #[must_use]
    pub fn algorithm(&self) -> &'static str {
        registry::find(&self.algorithm).map_or(registry::DEFAULT, |method| method.id)
    }

    /// Whether the average solves the equations of the log; none if that is not known.
    #[must_use]
    pub fn converged(&self) -> Option<bool> {
        self.assessment.as_ref().map(Assessment::converged)
    }

    /// How the learners differ, where that is the error of the answer: not if it has not converged, or that is not known.
    pub(crate) fn error(&self) -> Option<&Spreads> {
        let sound = self.converged() == Some(true)
            && self.spread.bias <= MOST_BIAS
            && self.facts.divergence.is_none();
        Some(&self.spread).filter(|spread| sound && spread.learners() > 1)
    }

    /// Half the width of the interval of the value of the policy.
    pub(crate) fn start_half_width(&self, confidence: f64) -> Option<f64> {
        let starts = &self.assessment.as_ref()?.starts;
        let phi = Features::Dense(&starts.features);
        // A single start says nothing about how starts vary.
        let spread = self.error().filter(|_| starts.count > 1)?;
        Some(spread.half_width(phi, true, &starts.contributions, confidence))
    }

    /// The learners, for reports.
    pub(crate) fn report(&self) -> LearnersReport {
        let starts = self.assessment.as_ref().map(|found| &found.starts);
        let error = starts.map(|starts| {
            let phi = Features::Dense(&starts.features);
            (self.spread).standard_error(phi, true, &starts.contributions)
        });
        LearnersReport {
            asked: self.learners,
            averaged: self.spread.learners() as u64,
            fewest_transitions: self.facts.fewest,
            most_transitions: self.facts.most,
            worst_bias: Some(self.spread.bias)
                .filter(|bias| self.assessment.is_some() && bias.is_finite()),
            standard_error: error.filter(|error| error.is_finite()),
        }
    }

    /// How to read further files like those of its log.
    pub(crate) fn read_as(&self) -> ReadAs {
        ReadAs {
            inputs: self.features.columns().to_vec(),
            ..self.origin.read_as()
        }
    }

    /// Checks a restored answer.
    pub(crate) fn checked(self) -> Result<Self> {
        let d = self.features.outputs();
        let learners = self.spread.learners();
        let assessed = |found: &Assessment| {
            found.fits(&self.features) && [0, learners].contains(&found.starts.contributions.len())
        };
        let whole = self.theta.len() == d
            && self.spread.fits(d)
            && self.learners >= learners as u64
            && self.assessment.as_ref().is_none_or(assessed)
            && (0.0..=1.0).contains(&self.discount)
            && registry::find(&self.algorithm).is_ok();
        match whole {
            true => Ok(self),
            false => Err(Error::Model {
                message: format!(
                    "its parts do not fit its {d} features, or its algorithm is unknown"
                ),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(steps: u64, theta: f64) -> Outcome {
        Outcome {
            shard: 0,
            steps,
            theta: vec![theta],
            offset: 0.0,
            starts: 1,
            start_features: vec![theta],
            td_errors: TdErrors::default(),
            updates: steps,
            projections: None,
            max_theta_norm_sq: 0.0,
            divergence: None,
        }
    }

    #[test]
    fn equal_shards_have_the_standard_error_of_a_mean() {
        let answers = [1.0, 2.0, 4.0, 5.0];
        let outcomes: Vec<Outcome> = answers.iter().map(|x| outcome(7, *x)).collect();
        let (value, spread) = average(&outcomes, 1);
        assert_eq!(value.theta, [3.0]);
        let one = [1.0];
        let phi = Features::Dense(&one);
        // The variance of these four numbers is 10/3.
        let expected = (10.0 / 3.0 / 4.0_f64).sqrt();
        assert!((spread.standard_error(phi, true, &[]) - expected).abs() < 1e-15);
        // The 97.5 % quantile of t with 3 degrees of freedom.
        let half = spread.half_width(phi, true, &[], 0.95);
        assert!((half / expected - 3.182_446).abs() < 1e-5);
    }

    #[test]
    fn shards_are_weighted_by_their_transitions() {
        let outcomes = [outcome(30, 1.0), outcome(0, 99.0), outcome(10, 5.0)];
        let (value, spread) = average(&outcomes, 1);
        assert_eq!((value.theta[0], spread.learners()), (2.0, 2));
    }

    #[test]
    fn one_learner_shows_no_error() {
        let (_, spread) = average(&[outcome(30, 1.0), outcome(0, 2.0)], 1);
        let one = [1.0];
        let phi = Features::Dense(&one);
        assert_eq!(spread.half_width(phi, true, &[], 0.95), f64::INFINITY);
    }

    #[test]
    fn starts_that_differ_add_to_the_error() {
        let outcomes = [outcome(10, 1.0), outcome(10, 3.0)];
        let value = LinearValue {
            theta: vec![2.0],
            offset: 0.0,
        };
        // Mean features 2: each shard is 1 away, of two starts, times theta = 2.
        assert_eq!(
            start_contributions(&outcomes, &value, &[2.0], 2),
            [-1.0, 1.0]
        );
    }
}
