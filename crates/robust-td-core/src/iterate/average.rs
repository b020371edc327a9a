//! Averages the iterates with weights, at a cost proportional to the coordinates that change.
//!
//! The output of Algorithm 1 is the average of theta_0, ..., theta_{T-1} with weights eta_k; theta_0 has
//! the first weight, and theta_T, the result of the last step, has none. The textbook update
//! `avg += (eta/S)(theta - avg)` touches all d coordinates at each step, even when the features have only
//! a few entries. Summation by parts (Abel) limits the work to the coordinates that change: with the
//! moves Delta_j = theta_{j+1} - theta_j and the partial weights S_j = eta_0 + ... + eta_j,
//!
//! ```text
//! sum_{k<T} eta_k theta_k = S_{T-1} theta_T - sum_{j<T} S_j Delta_j
//! avg_T                   = theta_T - U / S_{T-1},        U = sum_{j<T} S_j Delta_j
//! ```
//!
//! so a step only adds S_j Delta_j = (S_j g) phi to U. The average is computed on demand.

use serde::{Deserialize, Serialize};

use crate::check::check_length;
use crate::error::{Error, Result};
use crate::iterate::{Health, Iterate};
use crate::phi::Features;

/// The weighted average of the iterates of one learner; uniform if all weights are 1.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedAverage {
    /// S, the sum of the weights.
    #[serde(with = "crate::exact_float")]
    total: f64,
    /// U = sum_j S_j Delta_j.
    #[serde(with = "crate::exact_float")]
    moves: Vec<f64>,
}

impl WeightedAverage {
    /// An average over no iterates.
    #[must_use]
    pub fn empty(dimension: usize) -> Self {
        Self {
            total: 0.0,
            moves: vec![0.0; dimension],
        }
    }

    /// The sum of the weights.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Counts theta_t with a weight, given the move theta_{t+1} = theta_t + g phi that follows it.
    #[inline]
    pub fn record(&mut self, weight: f64, g: f64, features: Features<'_>) {
        self.count(weight);
        self.record_move(g, features);
    }

    /// Counts the iterate with a weight; the moves that follow are recorded separately.
    #[inline]
    pub(crate) fn count(&mut self, weight: f64) {
        self.total += weight;
    }

    /// Records a move of the iterate: theta becomes theta + g phi. No effect while the total weight is 0.
    #[inline]
    pub(crate) fn record_move(&mut self, g: f64, features: Features<'_>) {
        if self.total > 0.0 {
            features.axpy(self.total * g, &mut self.moves);
        }
    }

    /// Records a scaling of the iterate: theta becomes factor theta.
    #[inline]
    pub(crate) fn record_scaling(&mut self, theta: &[f64], factor: f64) {
        if !(self.total > 0.0) {
            return;
        }
        let weight = self.total * (factor - 1.0);
        for (moved, &theta) in self.moves.iter_mut().zip(theta) {
            *moved += weight * theta;
        }
    }

    /// Writes the average, given the current iterate.
    ///
    /// Before any iterate is counted (total weight 0), it is the current iterate.
    pub fn write(&self, theta: &[f64], average: &mut [f64]) {
        if self.total > 0.0 {
            for ((average, &theta), &moved) in average.iter_mut().zip(theta).zip(&self.moves) {
                *average = theta - moved / self.total;
            }
        } else {
            average.copy_from_slice(theta);
        }
    }

    /// Checks a restored average against the dimension of its iterate.
    ///
    /// # Errors
    /// When the dimension differs or the weights are not finite.
    pub(crate) fn check(&self, dimension: usize) -> Result<()> {
        check_length("the saved average", dimension, self.moves.len())?;
        if !(self.total >= 0.0 && self.total.is_finite()) {
            return Err(Error::Parameter {
                name: "total",
                value: self.total,
                expected: "finite and at least 0",
            });
        }
        Ok(())
    }

    /// Discards all iterates.
    pub fn restart(&mut self) {
        self.total = 0.0;
        self.moves.fill(0.0);
    }
}

/// An iterate with its weighted average: the state of a learner such as Algorithm 1.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedAveragedIterate")]
pub struct AveragedIterate {
    iterate: Iterate,
    average: WeightedAverage,
}

impl AveragedIterate {
    /// theta_0 = 0 in the given dimension.
    ///
    /// # Errors
    /// When the dimension is 0.
    pub fn zero(dimension: usize) -> Result<Self> {
        let average = WeightedAverage::empty(dimension);
        Ok(Self {
            iterate: Iterate::zero(dimension)?,
            average,
        })
    }

    /// theta_t.
    #[inline]
    #[must_use]
    pub fn theta(&self) -> &[f64] {
        self.iterate.theta()
    }

    /// |theta_t|^2.
    #[inline]
    #[must_use]
    pub fn norm_sq(&self) -> f64 {
        self.iterate.norm_sq()
    }

    /// The number of steps taken, t.
    #[inline]
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.iterate.steps()
    }

    /// The largest norm, and whether the iterates diverged.
    #[must_use]
    pub fn health(&self) -> &Health {
        self.iterate.health()
    }

    /// Counts theta_t with a weight, then moves to theta_{t+1} = theta_t + g phi.
    ///
    /// # Panics
    /// When the features do not have the dimension of theta.
    #[inline]
    pub fn advance(&mut self, weight: f64, g: f64, features: Features<'_>) {
        let average = &mut self.average;
        average.count(weight);
        match features {
            Features::Sparse { indices, values } if average.total > 0.0 => {
                let moved = average.total * g;
                let tell = |index: usize, value| average.moves[index] += moved * value;
                self.iterate.add_sparse(g, indices, values, tell);
                self.iterate.finish_step();
            }
            _ => {
                average.record_move(g, features);
                self.iterate.advance(g, features);
            }
        }
    }

    /// Counts a step that leaves theta unchanged and has no weight.
    #[inline]
    pub fn stay(&mut self) {
        self.iterate.stay();
    }

    /// The weighted average of theta_0, ..., theta_{t-1}; theta_0 when t = 0.
    #[must_use]
    pub fn average(&self) -> Vec<f64> {
        let mut average = vec![0.0; self.theta().len()];
        self.write_average(&mut average);
        average
    }

    /// As [`AveragedIterate::average`], without allocating.
    pub fn write_average(&self, average: &mut [f64]) {
        self.average.write(self.theta(), average);
    }

    /// Restarts from theta = 0 with an empty average; the steps and the health are kept.
    pub fn restart(&mut self) {
        self.iterate.restart();
        self.average.restart();
    }
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedAveragedIterate {
    iterate: Iterate,
    average: WeightedAverage,
}

impl TryFrom<SavedAveragedIterate> for AveragedIterate {
    type Error = Error;

    fn try_from(SavedAveragedIterate { iterate, average }: SavedAveragedIterate) -> Result<Self> {
        average.check(iterate.theta().len())?;
        Ok(Self { iterate, average })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_iterate_counts_and_the_last_does_not() {
        let mut state = AveragedIterate::zero(1).unwrap();
        assert_eq!(state.average(), [0.0]);
        let phi = Features::Dense(&[1.0]);
        // theta: 0, then 8, then 24; weights 1, then 3.
        state.advance(1.0, 8.0, phi);
        assert_eq!((state.theta()[0], state.average()[0]), (8.0, 0.0));
        state.advance(3.0, 16.0, phi);
        assert_eq!(
            (state.theta()[0], state.average()[0]),
            (24.0, (0.0 + 3.0 * 8.0) / 4.0)
        );
        state.restart();
        assert_eq!(
            (state.theta()[0], state.average()[0], state.steps()),
            (0.0, 0.0, 2)
        );
        assert_eq!(state.health().max_theta_norm_sq, 576.0);
    }
}
