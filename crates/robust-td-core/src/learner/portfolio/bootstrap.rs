//! Turns the deviations of bootstrap replicates into standard errors and intervals.

use serde::{Deserialize, Serialize};

use crate::phi::Features;
use crate::solve::quantile::two_sided;

/// What the replicates deviate from the answer by, scaled to the size of the answer's own error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bootstrap {
    /// Samples of a block, all of which a replicate weights alike.
    pub block: u64,
    /// Whether the log was long enough for blocks that hold several correlation times; if not, errors may be too small.
    pub long_enough: bool,
    /// Which features were ever different from zero.
    pub(crate) seen: Vec<bool>,
    /// One vector per replicate.
    pub(crate) deviations: Vec<Deviation>,
}

/// The deviation of one replicate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Deviation(#[serde(with = "crate::exact_float")] pub Vec<f64>);

impl Bootstrap {
    /// How many replicates there are.
    #[must_use]
    pub fn replicates(&self) -> usize {
        self.deviations.len()
    }

    /// The standard error of phi.theta; infinite where a feature was never seen.
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
    /// Student's distribution, as it is estimated from so many replicates.
    #[must_use]
    pub fn half_width(&self, phi: Features<'_>, confidence: f64) -> f64 {
        let freedom = self.deviations.len() as f64;
        self.standard_error(phi) * two_sided(confidence, freedom)
    }
}
