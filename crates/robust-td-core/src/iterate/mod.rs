//! Holds the iterate theta_t of a learner and tracks its norm.
//!
//! # Performance
//! |theta|^2 is summed in full at each dense step. A sparse step changes few coordinates, so it
//! corrects |theta|^2 by their contributions before and after, and sums it in full every `dimension` steps (one
//! addition per step on average), which keeps rounding errors from accumulating. While the corrected
//! value is within a factor 2 of the divergence threshold, it is summed in full at each step, so the step at
//! which divergence is flagged is the same as for dense features.

pub mod average;
mod health;
pub(crate) mod trace;

use serde::{Deserialize, Serialize};

pub use health::{DIVERGENCE_THRESHOLD, Health, nan_as_infinity};

use crate::check::check_dimension;
use crate::error::{Error, Result};
use crate::phi::{Features, dot};

/// theta_t, the number of steps t, and the health of the iterates.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedIterate")]
pub struct Iterate {
    #[serde(with = "crate::exact_float")]
    theta: Vec<f64>,
    steps: u64,
    #[serde(with = "crate::exact_float")]
    norm_sq: f64,
    /// Sparse steps since |theta|^2 was last summed in full.
    corrections: usize,
    health: Health,
}

impl Iterate {
    /// theta_0 = 0 in the given dimension.
    ///
    /// # Errors
    /// When the dimension is 0.
    pub fn zero(dimension: usize) -> Result<Self> {
        check_dimension(dimension)?;
        let health = Health::default();
        Ok(Self {
            theta: vec![0.0; dimension],
            steps: 0,
            norm_sq: 0.0,
            corrections: 0,
            health,
        })
    }

    /// theta_t.
    #[inline]
    #[must_use]
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// The number of steps taken, t.
    #[inline]
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The largest norm, and whether the iterates diverged.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Takes one step: theta_{t+1} = theta_t + g phi.
    ///
    /// # Panics
    /// When the features do not have the dimension of theta.
    #[inline]
    pub fn advance(&mut self, g: f64, features: Features<'_>) {
        self.add(g, features);
        self.finish_step();
    }

    /// Takes one step by any rule; O(d).
    #[inline]
    pub fn advance_with(&mut self, change: impl FnOnce(&mut [f64])) {
        self.change(change);
        self.finish_step();
    }

    /// The current |theta|^2.
    #[inline]
    #[must_use]
    pub fn norm_sq(&self) -> f64 {
        self.norm_sq
    }

    /// Counts a step that leaves theta unchanged.
    #[inline]
    pub fn stay(&mut self) {
        self.steps += 1;
    }

    /// Part of a step: theta += g phi.
    #[inline]
    pub(crate) fn add(&mut self, g: f64, features: Features<'_>) {
        match features {
            Features::Dense(_) => {
                features.axpy(g, &mut self.theta);
                self.sum_norm();
            }
            Features::Sparse { indices, values } => {
                self.add_sparse(g, indices, values, |_, _| ());
            }
        }
    }

    /// Part of a step: theta += g phi; passes each entry of phi, as (index, value), to a callback in the same pass.
    #[inline]
    pub(crate) fn add_sparse(
        &mut self,
        g: f64,
        indices: &[u32],
        values: &[f64],
        mut tell: impl FnMut(usize, f64),
    ) {
        assert_eq!(indices.len(), values.len(), "one value per index");
        let (mut before, mut after) = (0.0, 0.0);
        for (&index, &value) in indices.iter().zip(values) {
            let theta = &mut self.theta[index as usize];
            before += *theta * *theta;
            *theta += g * value;
            after += *theta * *theta;
            tell(index as usize, value);
        }
        self.norm_sq += after - before;
        self.corrections += 1;
        let near_threshold =
            !(self.norm_sq <= 0.5 * DIVERGENCE_THRESHOLD) && !self.health.diverged();
        if self.corrections >= self.theta.len() || near_threshold {
            self.sum_norm();
        }
    }

    /// Part of a step by any rule; O(d).
    #[inline]
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut [f64])) {
        change(&mut self.theta);
        self.sum_norm();
    }

    /// Part of a step: theta *= factor.
    #[inline]
    pub(crate) fn scale(&mut self, factor: f64) {
        for theta in &mut self.theta {
            *theta *= factor;
        }
        self.sum_norm();
    }

    /// Ends a step: counts it and records the norm.
    #[inline]
    pub(crate) fn finish_step(&mut self) {
        self.steps += 1;
        self.health.record(self.steps, self.norm_sq);
    }

    /// Restarts from theta = 0; the steps and the health are kept.
    pub fn restart(&mut self) {
        self.theta.fill(0.0);
        self.norm_sq = 0.0;
        self.corrections = 0;
    }

    #[inline]
    fn sum_norm(&mut self) {
        self.norm_sq = dot(&self.theta, &self.theta);
        self.corrections = 0;
    }
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedIterate {
    #[serde(with = "crate::exact_float")]
    theta: Vec<f64>,
    #[serde(deserialize_with = "crate::count::read")]
    steps: u64,
    #[serde(with = "crate::exact_float")]
    norm_sq: f64,
    #[serde(deserialize_with = "crate::count::read")]
    corrections: usize,
    health: Health,
}

impl TryFrom<SavedIterate> for Iterate {
    type Error = Error;

    fn try_from(saved: SavedIterate) -> Result<Self> {
        let SavedIterate {
            theta,
            steps,
            norm_sq,
            corrections,
            health,
        } = saved;
        check_dimension(theta.len())?;
        if health.diverged_at.is_some_and(|t| t > steps) {
            let contradiction = format!("{health:?} after {steps} steps");
            return Err(Error::Saved { contradiction });
        }
        if corrections >= theta.len() {
            let contradiction = format!("{corrections} corrections in dimension {}", theta.len());
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            theta,
            steps,
            norm_sq,
            corrections,
            health,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_iterate_leaves_no_rounding_error_in_the_norm() {
        let unit = |index: &'static u32| Features::Sparse {
            indices: std::slice::from_ref(index),
            values: &[1.0],
        };
        let mut iterate = Iterate::zero(3).unwrap();
        iterate.advance(1e5 / 3.0, unit(&0));
        iterate.advance(0.1, unit(&1));
        assert_ne!(iterate.norm_sq - (1e5 / 3.0) * (1e5 / 3.0), 0.1 * 0.1);
        iterate.advance(-1e5 / 3.0, unit(&0));
        assert_eq!((iterate.norm_sq, iterate.corrections), (0.1 * 0.1, 0));
        assert_eq!(
            iterate.health().max_theta_norm_sq,
            (1e5 / 3.0) * (1e5 / 3.0) + 0.1 * 0.1
        );
    }

    #[test]
    fn the_threshold_is_passed_at_the_same_step_in_both_views() {
        // |theta|^2 = 1e12, then 5e-5 more per step: each increment is below half a unit in the last place and would
        // be lost if added on its own.
        let (mut dense, mut sparse) = (Iterate::zero(16).unwrap(), Iterate::zero(16).unwrap());
        for (index, move_sq) in [(0, 1e12), (1, 5e-5), (3, 5e-5), (5, 5e-5)] {
            let mut phi = [0.0; 16];
            phi[index as usize] = f64::sqrt(move_sq);
            dense.advance(1.0, Features::Dense(&phi));
            let values = &phi[index as usize..][..1];
            sparse.advance(
                1.0,
                Features::Sparse {
                    indices: &[index],
                    values,
                },
            );
        }
        assert_eq!(dense.health().diverged_at, Some(3));
        assert_eq!(sparse.health().diverged_at, Some(3));
    }

    #[test]
    fn a_restart_keeps_the_counts() {
        let mut iterate = Iterate::zero(2).unwrap();
        iterate.advance(2.0, Features::Dense(&[1.0, 1.0]));
        iterate.restart();
        assert_eq!(
            (iterate.theta(), iterate.norm_sq, iterate.steps()),
            (&[0.0, 0.0][..], 0.0, 1)
        );
        assert_eq!(iterate.health().max_theta_norm_sq, 8.0);
    }
}
