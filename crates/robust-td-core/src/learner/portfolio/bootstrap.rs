//! Turns the deviations of bootstrap replicates into standard errors and intervals.

use serde::{Deserialize, Serialize};

use crate::phi::Features;
use crate::solve::quantile::two_sided;

/// The deviations of the replicates from the answer, scaled to the size of the answer's own error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bootstrap {
    /// The number of samples in a block; a replicate gives all of them the same weight.
    #[serde(deserialize_with = "crate::count::read")]
    pub block: u64,
    /// Whether the log was long enough for blocks of several correlation times; if not, errors may be underestimated.
    pub long_enough: bool,
    /// Which features were nonzero at least once.
    pub(crate) seen: Vec<bool>,
    /// One vector per replicate.
    pub(crate) deviations: Vec<Deviation>,
}

/// The deviation of one replicate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Deviation(#[serde(with = "crate::exact_float")] pub Vec<f64>);

impl Bootstrap {
    /// The number of replicates.
    #[must_use]
    pub fn replicates(&self) -> usize {
        self.deviations.len()
    }

    /// The standard error of phi.theta; infinite if it uses a feature that was never nonzero.
    #[must_use]
    pub fn standard_error(&self, phi: Features<'_>) -> f64 {
        let mut seen = true;
        phi.for_each(|j, _| seen &= self.seen[j]);
        if !seen {
            return f64::INFINITY;
        }
        let square = |Deviation(theta): &Deviation| phi.dot(theta).powi(2);
        let sum: f64 = self.deviations.iter().map(square).sum();
        (sum / self.deviations.len() as f64).sqrt()
    }

    /// Half the width of the interval of phi.theta at a confidence in (0, 1): the standard error times a quantile of
    /// Student's t distribution, which accounts for the number of replicates.
    #[must_use]
    pub fn half_width(&self, phi: Features<'_>, confidence: f64) -> f64 {
        let freedom = self.deviations.len() as f64;
        self.standard_error(phi) * two_sided(confidence, freedom)
    }
}
