//! Solves LSTD(lambda) once from the sums over all samples.
//!
//! # Reference
//! As [`lstd`](crate::learner::lstd); this is the form of Boyan (2002).
//!
//! ```text
//! A = sum_t z_t ( phi(s_t) - gamma phi(s_{t+1}) )',   b = sum_t z_t r_t,   theta = (A + ridge I)^{-1} b
//! ```
//!
//! A sample costs the nonzeros of z times those of phi(s_t) and phi(s_{t+1}), less than the recursive form when the
//! features are sparse and lambda = 0; the solution costs d^3. The sums of several batches can be added.

use crate::check::check_length;
use crate::error::{Error, Result};
use crate::iterate::trace::Trace;
use crate::learner::lstd::LstdParams;
use crate::linalg;
use crate::matrix::Matrix;
use crate::phi::{Features, Transition};

/// The sums A and b of the samples seen so far.
#[derive(Debug, Clone)]
pub struct LstdBatch {
    params: LstdParams,
    trace: Trace,
    a: Matrix,
    b: Vec<f64>,
    samples: u64,
}

impl LstdBatch {
    /// Empty sums.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: LstdParams, dimension: usize) -> Result<Self> {
        params.check()?;
        if dimension == 0 {
            return Err(Error::Parameter {
                name: "dimension",
                value: 0.0,
                expected: "at least 1",
            });
        }
        Ok(Self {
            params,
            trace: Trace::zero(dimension),
            a: Matrix::zeros(dimension, dimension),
            b: vec![0.0; dimension],
            samples: 0,
        })
    }

    /// The number of samples.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Adds one sample to the sums.
    ///
    /// # Panics
    /// When the features do not have the dimension of the sums.
    pub fn add(&mut self, transition: &Transition<'_>) {
        let LstdParams {
            discount, lambda, ..
        } = self.params;
        let (a, b) = (&mut self.a, &mut self.b);
        let next = transition.outcome.next_features();
        let (factor, z) = self.trace.visit(discount * lambda, 1.0, transition);
        z.for_each(|i, z| {
            let weight = factor * z;
            b[i] += weight * transition.reward;
            transition.features.axpy(weight, a.row_mut(i));
            if let Some(next) = next {
                next.axpy(-discount * weight, a.row_mut(i));
            }
        });
        self.trace.leave(transition);
        self.samples += 1;
    }

    /// Adds the sums of another batch with separate episodes.
    ///
    /// # Errors
    /// When the dimensions differ.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        check_length("the other batch", self.b.len(), other.b.len())?;
        for i in 0..self.b.len() {
            Features::Dense(other.a.row(i)).axpy(1.0, self.a.row_mut(i));
        }
        Features::Dense(&other.b).axpy(1.0, &mut self.b);
        self.samples += other.samples;
        Ok(())
    }

    /// The solution theta; `None` when the matrix is numerically singular.
    #[must_use]
    pub fn solution(&self) -> Option<Vec<f64>> {
        let d = self.b.len();
        let matrix = Matrix::from_fn(d, d, |i, j| {
            self.a.get(i, j) + if i == j { self.params.ridge } else { 0.0 }
        });
        let theta = linalg::solve(&matrix, &self.b);
        theta.iter().all(|x| x.is_finite()).then_some(theta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_samples_by_hand() {
        let params = LstdParams {
            discount: 0.5,
            lambda: 0.5,
            ridge: 1.0,
        };
        let mut batch = LstdBatch::new(params, 1).unwrap();
        let one = Features::Dense(&[1.0]);
        // z = 1, v = 0.5; then z = 1.25, v = 1; then, in a new episode, z = 1, v = 1.
        batch.add(&Transition::new(one, 1.0, one));
        batch.add(&Transition::terminated(one, 2.0));
        let mut other = LstdBatch::new(params, 1).unwrap();
        other.add(&Transition::terminated(one, 3.0));
        batch.merge(&other).unwrap();
        let theta = batch.solution().unwrap();
        assert!((theta[0] - (1.0 + 2.5 + 3.0) / (0.5 + 1.25 + 1.0 + 1.0)).abs() < 1e-15);
        assert_eq!(batch.samples(), 3);
        assert!(batch.merge(&LstdBatch::new(params, 2).unwrap()).is_err());
    }

    #[test]
    fn a_singular_matrix_has_no_solution() {
        let params = LstdParams {
            discount: 0.5,
            lambda: 0.0,
            ridge: 1.0,
        };
        let mut batch = LstdBatch::new(params, 1).unwrap();
        let (one, four) = (Features::Dense(&[1.0]), Features::Dense(&[4.0]));
        batch.add(&Transition::new(one, 1.0, four));
        assert_eq!(batch.solution(), None);
    }
}
