//! Implements the part that the gradient-TD methods share: a second iterate that tracks the expected TD error.
//!
//! ```text
//! w_{t+1} = w_t + b ( rho_t delta_t - phi(s_t).w_t ) phi(s_t),     w_0 = 0
//! ```
//! w tends to Sigma^{-1} E[rho delta phi], and phi(s).w to the linear prediction of the TD error at s.

use serde::{Deserialize, Serialize};

use crate::check::{check_discount, check_length, check_positive};
use crate::error::{Error, Result};
use crate::iterate::Iterate;
use crate::learner::knowledge::given_or_default_step;
use crate::method::{Inputs, Parameter, Range};
use crate::phi::Transition;

/// The step of theta.
pub(crate) const STEP: Parameter = Parameter {
    name: "step",
    meaning: "the step a of theta, in the units of the features",
    range: Range::Positive,
    default: "1 / (phi_inf^2 sqrt T)",
};

/// The step of w.
pub(crate) const STEP_W: Parameter = Parameter {
    name: "step_w",
    meaning: "the step b of the second iterate w, usually a to 10 a",
    range: Range::Positive,
    default: "the same as `step`",
};

/// The parameters.
///
/// | name | default | meaning | valid range |
/// |---|---|---|---|
/// | `discount` | none | gamma | [0, 1) |
/// | `step` | none | a, the step of theta | finite, > 0 |
/// | `step_w` | none | b, the step of w | finite, > 0 |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradientParams {
    /// gamma.
    pub discount: f64,
    /// a, the step of theta.
    pub step: f64,
    /// b, the step of w.
    pub step_w: f64,
}

impl GradientParams {
    /// The user's parameters, or the defaults.
    pub(crate) fn gather(inputs: &mut Inputs<'_>) -> Self {
        let step = given_or_default_step(inputs);
        Self {
            discount: inputs.discount(),
            step,
            step_w: inputs.value("step_w", step),
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// Names the parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        check_discount(self.discount)?;
        check_positive("step", self.step)?;
        check_positive("step_w", self.step_w)
    }
}

/// theta and w.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedTwoIterates")]
pub(crate) struct TwoIterates {
    pub params: GradientParams,
    pub iterate: Iterate,
    #[serde(with = "crate::exact_float")]
    w: Vec<f64>,
}

impl TwoIterates {
    /// theta_0 = 0 and w_0 = 0.
    pub fn new(params: GradientParams, dimension: usize) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params,
            iterate: Iterate::zero(dimension)?,
            w: vec![0.0; dimension],
        })
    }

    /// Updates w; returns the TD error and its prediction phi(s).w by the old w.
    #[inline]
    pub fn track(&mut self, transition: &Transition<'_>) -> (f64, f64) {
        self.track_shrunk(transition, 0.0)
    }

    /// As [`track`](Self::track), with w shrunk by the factor 1 - b beta first.
    #[inline]
    pub fn track_shrunk(&mut self, transition: &Transition<'_>, beta: f64) -> (f64, f64) {
        let phi = transition.features;
        let delta = transition.td_error(self.iterate.theta(), self.params.discount);
        let predicted = phi.dot(&self.w);
        let surprise = transition.ratio * delta - predicted;
        if beta > 0.0 {
            let factor = 1.0 - self.params.step_w * beta;
            self.w.iter_mut().for_each(|w| *w *= factor);
        }
        phi.axpy(self.params.step_w * surprise, &mut self.w);
        (delta, predicted)
    }

    /// Moves theta along the TD direction with its gradient correction, after [`track`](Self::track).
    #[inline]
    pub fn correct(&mut self, transition: &Transition<'_>, delta: f64, predicted: f64) {
        let GradientParams { discount, step, .. } = self.params;
        let weight = step * transition.ratio;
        self.iterate.add(weight * delta, transition.features);
        if let Some(next) = transition.outcome.next_features() {
            self.iterate.add(-discount * (weight * predicted), *next);
        }
        self.iterate.finish_step();
    }

    /// w.
    pub fn w(&self) -> &[f64] {
        &self.w
    }
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTwoIterates {
    params: GradientParams,
    iterate: Iterate,
    #[serde(with = "crate::exact_float")]
    w: Vec<f64>,
}

impl TryFrom<SavedTwoIterates> for TwoIterates {
    type Error = Error;

    fn try_from(SavedTwoIterates { params, iterate, w }: SavedTwoIterates) -> Result<Self> {
        params.check()?;
        check_length("the saved second iterate", iterate.theta().len(), w.len())?;
        Ok(Self { params, iterate, w })
    }
}
