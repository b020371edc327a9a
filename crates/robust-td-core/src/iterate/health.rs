//! Records the largest iterate and when the iterates diverged.
//!
//! Unprojected TD can diverge when its steps are too large. That is a result to report, not a
//! failure: the learner continues, and the record shows when it happened.

use serde::{Deserialize, Serialize};

/// An iterate with |theta|^2 above this, or not finite, counts as diverged.
pub const DIVERGENCE_THRESHOLD: f64 = 1e12;

/// The largest norm of one learner's iterates, and when they diverged.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// max over t of |theta_t|^2, theta_0 included; infinite once an iterate is not finite.
    #[serde(with = "crate::exact_float")]
    pub max_theta_norm_sq: f64,
    /// The first t with |theta_t|^2 above [`DIVERGENCE_THRESHOLD`] or not finite.
    #[serde(deserialize_with = "crate::count::read")]
    pub diverged_at: Option<u64>,
}

impl Health {
    /// Whether any iterate exceeded the threshold.
    #[must_use]
    pub fn diverged(&self) -> bool {
        self.diverged_at.is_some()
    }

    /// Records |theta_t|^2.
    #[inline]
    pub(crate) fn record(&mut self, t: u64, norm_sq: f64) {
        // The negated comparisons catch NaN.
        if !(norm_sq <= self.max_theta_norm_sq) {
            self.max_theta_norm_sq = nan_as_infinity(norm_sq);
            if !(norm_sq <= DIVERGENCE_THRESHOLD) && self.diverged_at.is_none() {
                self.diverged_at = Some(t);
            }
        }
    }
}

/// A measured size with NaN replaced by infinity, since NaN results from an overflow.
#[inline]
#[must_use]
pub fn nan_as_infinity(x: f64) -> f64 {
    if x.is_nan() { f64::INFINITY } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_maximum_and_the_first_excess() {
        let mut health = Health::default();
        for (t, norm_sq) in [
            (1, 4.0),
            (2, 1.0),
            (3, 1e12),
            (4, 1.1e12),
            (5, 3e12),
            (6, 2.0),
        ] {
            health.record(t, norm_sq);
        }
        assert_eq!(
            health,
            Health {
                max_theta_norm_sq: 3e12,
                diverged_at: Some(4)
            }
        );
    }

    #[test]
    fn values_that_are_not_finite_are_divergence() {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut health = Health::default();
            health.record(1, 4.0);
            health.record(2, bad);
            health.record(3, 1.0);
            health.record(4, bad);
            assert_eq!(
                health,
                Health {
                    max_theta_norm_sq: f64::INFINITY,
                    diverged_at: Some(2)
                }
            );
        }
    }
}
