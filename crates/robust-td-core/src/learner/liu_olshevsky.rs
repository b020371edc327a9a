//! Runs projected TD(0) with the mean of the values adjusted to the average reward.
//!
//! # Reference
//! Liu & Olshevsky, "Temporal Difference Learning as Gradient Splitting", ICML 2021, Corollary 2 and the
//! mean-adjusted algorithm.
//!
//! # Update rule
//! ```text
//! theta_{t+1} = Proj_R( theta_t + delta_t phi(s_t) / (phi_inf^2 sqrt T) ),      theta_0 = 0
//! avg         = (theta_0 + ... + theta_{t-1}) / t
//! V'(s)       = phi(s).avg + ( rbar_t / (1-gamma) - mV_t )
//! rbar_t      = (r_0 + ... + r_{t-1}) / t
//! mV_t        = (1/t) sum_{k<t} phi(s_k).avg = phibar_t . avg,      phibar_t = (phi(s_0) + ... + phi(s_{t-1})) / t
//! ```
//! The TD recursion learns differences of values well and their mean slowly, by a factor 1/(1-gamma). But the mean
//! of the true values is pi.rbar/(1-gamma), which the average reward estimates directly. mV_t is the mean of the
//! *current* average's values over all states visited so far. Keeping the mean of the features costs no more than keeping the
//! mean of the values under each past average, and forgets their early errors.
//!
//! # Inputs
//! phi_inf, R and T, as for [`bhandari`](crate::learner::bhandari) (a).
//!
//! # Assumptions
//! R >= |theta*|. The adjustment is for continuing processes: where episodes terminate, the mean of
//! the values is not the average reward divided by 1-gamma.
//!
//! # Output
//! avg. The constant is in general not in the span of the features, so it is stored separately, as
//! [`Learner::value_offset`].

use serde::{Deserialize, Serialize};

use crate::check::check_length;
use crate::error::{Error, Result};
use crate::learner::bhandari::{RADIUS, radius, robust};
use crate::learner::forward::forward;
use crate::learner::{Learner, Td0};
use crate::method::{Abilities, Method, Rate, Standing};
use crate::phi::Transition;

/// The learner `liu-olshevsky`: a TD(0)-type learner with mean-adjusted values.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedMeanAdjusted")]
pub struct MeanAdjusted {
    inner: Td0,
    #[serde(with = "crate::exact_float")]
    reward_sum: f64,
    #[serde(with = "crate::exact_float")]
    feature_sum: Vec<f64>,
}

/// Evaluates an expression with the inner learner.
macro_rules! inner {
    ($adjusted:expr, $inner:ident => $call:expr) => {{
        let $inner = &$adjusted.inner;
        $call
    }};
}

impl Learner for MeanAdjusted {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        self.reward_sum += transition.reward;
        transition.features.axpy(1.0, &mut self.feature_sum);
        self.inner.step(transition);
    }

    fn value_offset(&self) -> f64 {
        if self.steps() == 0 {
            return 0.0;
        }
        let steps = self.steps() as f64;
        let mean_value = crate::matrix::dot(&self.feature_sum, &self.output()) / steps;
        self.reward_sum / steps / (1.0 - self.discount()) - mean_value
    }

    // The recipe covers theta and the output, not the adjustment.
    forward!(inner: id dimension discount steps updates projections recipe theta output health);
}

impl MeanAdjusted {
    /// Wraps a learner that has made no step yet.
    #[must_use]
    pub fn new(inner: Td0) -> Self {
        let feature_sum = vec![0.0; inner.dimension()];
        Self {
            inner,
            reward_sum: 0.0,
            feature_sum,
        }
    }
}

/// Projected TD(0) with mean adjustment.
pub const METHOD: Method<MeanAdjusted> = Method {
    id: "liu-olshevsky",
    title: "projected TD(0), steps 1/sqrt T; predicted values are mean-adjusted",
    reference: "Liu & Olshevsky 2021, Corollary 2",
    standing: Standing::Proved,
    needs: &["phi_inf", "R", "T"],
    parameters: &[RADIUS],
    abilities: Abilities::PLAIN.with_rate(Rate::ROBUST.projected()),
    build: |inputs| {
        let recipe = robust(inputs)?;
        let radius = radius(inputs)?;
        let inner = Td0::new(recipe.projected(radius), inputs.dimension())?;
        Ok(MeanAdjusted::new(inner))
    },
};

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedMeanAdjusted {
    inner: Td0,
    #[serde(with = "crate::exact_float")]
    reward_sum: f64,
    #[serde(with = "crate::exact_float")]
    feature_sum: Vec<f64>,
}

impl TryFrom<SavedMeanAdjusted> for MeanAdjusted {
    type Error = Error;

    fn try_from(saved: SavedMeanAdjusted) -> Result<Self> {
        let SavedMeanAdjusted {
            inner,
            reward_sum,
            feature_sum,
        } = saved;
        check_length(
            "the saved sum of features",
            inner.dimension(),
            feature_sum.len(),
        )?;
        Ok(Self {
            inner,
            reward_sum,
            feature_sum,
        })
    }
}
