//! Describes a TD(0)-type method by its constants.
//!
//! All these methods share one recursion on the samples i = 0, 1, 2, ... or a subset of them; update j = 0, 1, 2, ... is
//!
//! ```text
//! theta_{j+1} = Proj_R( (1 - eta_j lambda) theta_j + eta_j delta_j phi_j ),     theta_0 = 0
//! ```
//!
//! and the output is theta itself or an average. A method's inputs only determine these few values, so one
//! learner ([`Td0`](crate::learner::Td0)) and one vector kernel serve all of them.

use serde::{Deserialize, Serialize};

use crate::check::check_positive;
use crate::error::{Error, Result};
use crate::learner::saved_id;
use crate::schedule::{RobustDecay, Schedule, Steps};

/// The id of a method. (An alias, because serde would borrow a plain `&str` from its input.)
pub type Id = &'static str;

/// Which samples lead to an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Samples {
    /// All of them.
    Every,
    /// The first of each group of this size (Patil et al.): 1, K+1, 2K+1, ... counted from 1.
    FirstOf(u64),
    /// The last of each group of this size (Samsonov et al.): q, 2q, 3q, ... counted from 1.
    LastOf(u64),
}

impl Samples {
    /// Whether sample i, counted from 0, leads to an update.
    #[inline]
    #[must_use]
    pub fn uses(self, i: u64) -> bool {
        match self {
            Self::Every => true,
            Self::FirstOf(group) => i.is_multiple_of(group),
            Self::LastOf(group) => i % group == group - 1,
        }
    }

    /// The number of the first n samples that lead to an update.
    #[inline]
    #[must_use]
    pub fn updates(self, n: u64) -> u64 {
        match self {
            Self::Every => n,
            Self::FirstOf(group) => n.div_ceil(group),
            Self::LastOf(group) => n / group,
        }
    }
}

/// The output after n updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Output {
    /// theta_n.
    Last,
    /// The mean of theta_0, ..., theta_{n-1}.
    Uniform,
    /// The mean of theta_0, ..., theta_{n-1} with weights eta_0, ..., eta_{n-1}.
    StepWeighted,
    /// The mean of theta_{after+1}, ..., theta_n; theta_n while n <= after.
    Tail {
        /// The number of updates before the tail.
        after: u64,
    },
    /// The mean of theta_m, ..., theta_n for a power of two m with n/4 <= m < n/2: a tail average for runs of
    /// unknown length (m = 0 while n <= 2).
    DoublingTail,
}

impl Output {
    /// The tail average over the later half of n updates.
    #[must_use]
    pub fn half_of(updates: u64) -> Self {
        Self::Tail { after: updates / 2 }
    }

    /// The weight of theta_j in the average of the iterates before the last, given eta_j.
    #[inline]
    #[must_use]
    pub fn weight(self, j: u64, eta: f64) -> f64 {
        match self {
            Self::Last => 0.0,
            Self::Uniform | Self::DoublingTail => 1.0,
            Self::StepWeighted => eta,
            Self::Tail { after } => f64::from(u8::from(j > after)),
        }
    }

    /// The weight of the last iterate theta_n.
    #[inline]
    #[must_use]
    pub fn last_weight(self) -> f64 {
        match self {
            Self::Uniform | Self::StepWeighted => 0.0,
            Self::Last | Self::Tail { .. } | Self::DoublingTail => 1.0,
        }
    }
}

/// A TD(0)-type method with all its constants, in the units of the features.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The method's id.
    #[serde(with = "saved_id")]
    pub id: Id,
    /// gamma.
    pub discount: f64,
    /// eta_j.
    pub steps: Steps,
    /// Which samples lead to an update.
    pub samples: Samples,
    /// R, the radius of the ball that iterates are projected to, if any.
    pub radius: Option<f64>,
    /// lambda, which shrinks the iterates towards zero.
    pub regulariser: f64,
    /// The method's output.
    pub output: Output,
}

impl Recipe {
    /// Plain TD(0) on every sample.
    #[must_use]
    pub fn plain(id: &'static str, discount: f64, steps: Steps, output: Output) -> Self {
        Self {
            id,
            discount,
            steps,
            samples: Samples::Every,
            radius: None,
            regulariser: 0.0,
            output,
        }
    }

    /// The steps and the average of Algorithm 1, for a method with another kind of transition.
    ///
    /// # Errors
    /// When the discount is outside [0, 1), the horizon below 3, or c or phi_inf not a positive finite number.
    pub fn algorithm_1(
        id: &'static str,
        discount: f64,
        horizon: u64,
        c: f64,
        phi_inf: f64,
    ) -> Result<Self> {
        let scale = RobustDecay::new(horizon, c, phi_inf)?.scale();
        let recipe = Self::plain(id, discount, Steps::Robust { scale }, Output::StepWeighted);
        recipe.check()?;
        Ok(recipe)
    }

    /// Adds a projection.
    #[must_use]
    pub fn projected(self, radius: f64) -> Self {
        Self {
            radius: Some(radius),
            ..self
        }
    }

    /// Restricts the updates to some of the samples.
    #[must_use]
    pub fn on(self, samples: Samples) -> Self {
        Self { samples, ..self }
    }

    /// Adds regularisation.
    #[must_use]
    pub fn regularised(self, regulariser: f64) -> Self {
        Self {
            regulariser,
            ..self
        }
    }

    /// Checks the values of the recipe.
    ///
    /// # Errors
    /// Names the value that is out of range.
    pub fn check(&self) -> Result<()> {
        crate::check::check_discount(self.discount)?;
        check_positive("step", self.steps.step_size(0))?;
        if let Some(radius) = self.radius {
            check_positive("radius", radius)?;
        }
        if !(self.regulariser >= 0.0 && self.regulariser.is_finite()) {
            return Err(Error::Parameter {
                name: "regulariser",
                value: self.regulariser,
                expected: "finite and at least 0",
            });
        }
        if let Samples::FirstOf(0) | Samples::LastOf(0) = self.samples {
            return Err(Error::Parameter {
                name: "drop",
                value: 0.0,
                expected: "at least 1",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T35: data dropping uses the samples 1, K+1, 2K+1, ... or q, 2q, 3q, ..., counted from 1.
    #[test]
    fn data_dropping_uses_the_documented_samples() {
        let used =
            |samples: Samples| -> Vec<u64> { (1..=14).filter(|i| samples.uses(i - 1)).collect() };
        assert_eq!(used(Samples::FirstOf(5)), [1, 6, 11]);
        assert_eq!(used(Samples::LastOf(5)), [5, 10]);
        for samples in [Samples::Every, Samples::FirstOf(5), Samples::LastOf(5)] {
            for n in 0..=14 {
                let count = (0..n).filter(|&i| samples.uses(i)).count() as u64;
                assert_eq!(samples.updates(n), count);
            }
        }
    }
}
