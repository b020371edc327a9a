//! Holds the TD fixed point of a log: the answer that is solved for instead of stepped to.

mod answer;
mod direct;
pub(crate) mod folds;
pub(crate) mod gather;
mod iterate;
mod other_policy;
pub(crate) mod passes;
mod scores;
mod solve;
pub(crate) mod split;
pub(crate) mod unit;
pub(crate) mod variance;
mod wide;

use robust_td_core::Features;
use robust_td_core::features::FeatureMap;
use robust_td_core::fixed_point::Identified;
use robust_td_core::influence::Influence;
use robust_td_core::learner::LinearValue;
use robust_td_core::spread::Spread;
use serde::{Deserialize, Serialize};

pub(crate) use solve::{
    Request, Stage, check_parts, check_undiscounted, plan, refused_map, solve, solve_each,
    solve_elsewhere, solve_replay,
};
pub use unit::Unit;
use variance::Variance;

use crate::assess::Assessment;
use crate::choice::FeatureChoice;
use crate::diagnostics::TdErrors;
use crate::error::{Error, Result};
use crate::inspect::Finding;
use crate::off_policy::support::TOLERATED;
use crate::off_policy::{OffPolicy, OffPolicyEstimate};
use crate::options::ReadAs;
use crate::origin::Origin;
use crate::returns::Doubt;
use crate::start_value::StartValue;
use crate::streamed::Streamed;

/// How the equations of the log were solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Directly.
    LeastSquares,
    /// By repeated products with their matrix, stored or by passes over the log.
    Iterative,
}

impl Solver {
    /// The method in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LeastSquares => "least squares",
            Self::Iterative => "iterative least squares",
        }
    }
}

/// The TD fixed point of a log, with all that is known about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Solved {
    pub(crate) discount: f64,
    pub(crate) features: FeatureMap,
    #[serde(with = "robust_td_core::exact_float")]
    pub(crate) theta: Vec<f64>,
    pub(crate) identified: Identified,
    /// The influence of groups of transitions; none where the error cannot be estimated.
    pub(crate) influence: Option<Influence>,
    pub(crate) assessment: Assessment,
    /// The log, to be solved again together with more files.
    pub(crate) origin: Origin,
    /// The number of transitions to use at most.
    pub(crate) limit: Option<u64>,
    pub(crate) facts: Facts,
    /// How the feature map was chosen, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) choice: Option<FeatureChoice>,
    /// The variance of the return, if it was solved for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) variance: Option<Variance>,
    /// What is known about a policy that was not followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) off_policy: Option<OffPolicy>,
    /// The state of a stream, to be resumed.
    pub(crate) stream: Option<Box<Streamed>>,
}

/// The facts about an answer and its log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    pub solver: Solver,
    /// The products that an iterative solution took.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub products: Option<u64>,
    pub unit: Unit,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub units: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub rows: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub transitions: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub left_out: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub bad_rows: u64,
    /// The episodes of the log, also those whose first row is not used.
    #[serde(default)]
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub episodes: Option<u64>,
    pub rank: Option<usize>,
    #[serde(with = "robust_td_core::exact_float")]
    pub phi_inf: f64,
    pub td_errors: TdErrors,
    pub findings: Vec<Finding>,
}

impl Solved {
    /// The value function.
    #[must_use]
    pub fn value_function(&self) -> LinearValue {
        LinearValue {
            theta: self.theta.clone(),
            offset: 0.0,
        }
    }

    /// How to read further files like those of its log.
    pub(crate) fn read_as(&self) -> ReadAs {
        ReadAs {
            inputs: self.features.columns().to_vec(),
            ..self.origin.read_as()
        }
    }

    /// Notes why the comparison with returns says nothing about the features, if that is so.
    pub(crate) fn doubt_check(&mut self) {
        let doubt = match StartValue::disagreement(self) {
            _ if self.rests_on_new().is_some() => Some(Doubt::NewStates),
            Some(_) => Some(Doubt::MeanReturn),
            None => None,
        };
        if let Some(check) = &mut self.assessment.check {
            check.doubt = doubt;
        }
    }

    /// Drops the errors of an answer if the log does not show how it varies.
    pub(crate) fn forget_unknown_errors(&mut self) {
        if crate::findings::unknown_errors(self).is_some() {
            self.influence = None;
            self.assessment.starts.contributions.clear();
            if let Some(variance) = &mut self.variance {
                variance.forget_errors();
            }
        }
    }

    /// The mean value over the starts, and its error, which includes that of sampling the starts.
    pub(crate) fn start_value(&self) -> (f64, Option<Spread>) {
        let (value, spread) = self.own_start_value();
        (value, spread.filter(|_| self.contradictions().is_empty()))
    }

    /// The estimates of a policy that was not followed that contradict the value.
    pub(crate) fn contradictions(&self) -> Vec<OffPolicyEstimate> {
        match (&self.off_policy, self.own_start_value()) {
            (Some(other), (value, Some(spread))) => other.contradictions(value, &spread),
            _ => Vec::new(),
        }
    }

    /// The same, whatever other estimates say.
    fn own_start_value(&self) -> (f64, Option<Spread>) {
        let starts = &self.assessment.starts;
        let phi = Features::Dense(&starts.features);
        let influence = self.influence.as_ref();
        let known = influence.filter(|_| self.identified.covers(phi) && self.is_supported());
        let doubt = self.identified.doubt(phi);
        let spread = known.map(|known| known.spread_with(phi, &starts.contributions).beside(doubt));
        (phi.dot(&self.theta), spread)
    }

    /// The feature that successors have most, if the value of the policy rests on features that no row has.
    pub(crate) fn rests_on_new(&self) -> Option<usize> {
        let starts = &self.assessment.starts;
        let phi = Features::Dense(&starts.features);
        let known = |known: &Influence| known.spread_with(phi, &starts.contributions);
        let error = self.influence.as_ref().map(known);
        let doubt = self.identified.doubt(phi);
        let value = phi.dot(&self.theta).abs();
        let rests = match error {
            Some(error) => error.reliable && !error.beside(doubt).reliable,
            None => doubt > 0.01 * value,
        };
        self.identified.entered().filter(|_| rests)
    }

    /// Whether the log shows enough of a policy that was not followed.
    pub(crate) fn is_supported(&self) -> bool {
        let other = self.off_policy.as_ref();
        let share = other.and_then(|other| other.unsupported_share);
        share.is_none_or(|share| share <= TOLERATED)
    }

    /// Checks a restored answer.
    pub(crate) fn checked(self) -> Result<Self> {
        let d = self.features.outputs();
        let groups = self.influence.as_ref().map_or(0, Influence::groups);
        let whole = self.theta.len() == d
            && self.identified.fits(d)
            && self.influence.as_ref().is_none_or(|found| found.fits(d))
            && self.assessment.fits(&self.features)
            && (self.variance.as_ref()).is_none_or(|found| found.fits(d))
            && [0, groups].contains(&self.assessment.starts.contributions.len())
            && (self.stream.as_ref()).is_none_or(|stream| stream.fits(&self.features))
            && (0.0..=1.0).contains(&self.discount)
            && self.theta.iter().all(|x| x.is_finite());
        match whole {
            true => Ok(self),
            false => Err(Error::Model {
                message: format!("its parts do not fit its {d} features"),
            }),
        }
    }
}
