//! Finds the fixed point of a projected Bellman operator with a maximum.
//!
//! A maximum over finitely many affine functions is piecewise affine. In coordinates beta of a basis with functions
//! F, weights D and Gram matrix `Sigma = F' D F` the operator is on each piece
//!
//! ```text
//! beta -> Sigma^{-1} (M beta + b),   M = gamma F' D P N,   b = F' D (rbar + gamma P m)
//! ```
//!
//! where N holds the functions at the maximising choices, and m the values of those that are constants.
//! Iterating the operator converges where it contracts, but possibly slowly. Therefore the fixed point
//! `(Sigma - M)^{-1} b` of the current piece is tried periodically: it is the answer if the operator maps it
//! to itself.

use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::{Matrix, dot};

/// Changes of the values below this, relative to their size, count as rounding.
const ROUNDING: f64 = 1e-13;

/// Maximum number of steps.
const STEPS: u64 = 1 << 16;

/// The value of a next state on one piece.
pub(crate) enum Next<'a> {
    /// A constant.
    Value(f64),
    /// The inner product of these functions with beta.
    Functions(&'a [f64]),
}

/// One affine piece of the operator.
pub(crate) struct Piece {
    matrix: Matrix,
    offset: Vec<f64>,
}

impl Piece {
    /// An empty piece.
    pub fn empty(dimension: usize) -> Self {
        Self {
            matrix: Matrix::zeros(dimension, dimension),
            offset: vec![0.0; dimension],
        }
    }

    /// Adds the contribution of a state (or state-action pair): its weight, its functions and its mean
    /// reward.
    pub fn add_reward(&mut self, weight: f64, functions: &[f64], reward: f64) {
        for (offset, x) in self.offset.iter_mut().zip(functions) {
            *offset += weight * x * reward;
        }
    }

    /// Adds the contribution of a next state; the weight includes the discount.
    pub fn add_next(&mut self, weight: f64, functions: &[f64], next: &Next<'_>) {
        match next {
            Next::Value(value) => self.add_reward(weight, functions, *value),
            Next::Functions(next) => {
                for (i, x) in functions.iter().enumerate() {
                    for (sum, y) in self.matrix.row_mut(i).iter_mut().zip(*next) {
                        *sum += weight * x * y;
                    }
                }
            }
        }
    }

    /// `Sigma^{-1} (M beta + b) - beta`.
    fn change(&self, sigma: &Matrix, beta: &[f64]) -> Vec<f64> {
        let rows = (0..beta.len())
            .map(|i| self.offset[i] + dot(self.matrix.row(i), beta) - dot(sigma.row(i), beta));
        linalg::solve(sigma, &rows.collect::<Vec<f64>>())
    }

    /// Whether beta is a fixed point to f64 precision: the residual `M beta + b - Sigma beta` is within the rounding
    /// of its terms. The change of beta itself is not a valid test, since `Sigma^{-1}` amplifies that residual for
    /// nearly collinear functions.
    fn is_fixed_point(&self, sigma: &Matrix, beta: &[f64]) -> bool {
        let tolerance = 8.0 * beta.len() as f64 * f64::EPSILON;
        (0..beta.len()).all(|i| {
            let (mut rest, mut size) = (self.offset[i], self.offset[i].abs());
            let rows = self.matrix.row(i).iter().zip(sigma.row(i));
            for ((m, s), x) in rows.zip(beta) {
                rest += (m - s) * x;
                size += (m.abs() + s.abs()) * x.abs();
            }
            rest.abs() <= tolerance * size
        })
    }

    /// `(Sigma - M)^{-1} b`.
    fn fixed_point(&self, sigma: &Matrix) -> Vec<f64> {
        let d = sigma.rows();
        let matrix = Matrix::from_fn(d, d, |i, j| sigma.get(i, j) - self.matrix.get(i, j));
        linalg::solve(&matrix, &self.offset)
    }
}

/// The Gram matrix `F' D F` of functions with weights.
pub(crate) fn gram(functions: &Matrix, weights: &[f64]) -> Matrix {
    let d = functions.columns();
    let mut gram = Matrix::zeros(d, d);
    for (s, &weight) in weights.iter().enumerate() {
        let row = functions.row(s);
        for i in 0..d {
            for (sum, x) in gram.row_mut(i).iter_mut().zip(row) {
                *sum += weight * row[i] * x;
            }
        }
    }
    gram
}

/// The fixed point of the operator with the given pieces.
///
/// # Errors
/// When none is found, which can happen only if the operator is not a contraction.
pub(crate) fn fixed_point(sigma: &Matrix, piece_at: impl Fn(&[f64]) -> Piece) -> Result<Vec<f64>> {
    let mut beta = vec![0.0; sigma.rows()];
    let mut moved = f64::INFINITY;
    for step in 0..STEPS {
        let piece = piece_at(&beta);
        let change = piece.change(sigma, &beta);
        if step.is_power_of_two() {
            let candidate = piece.fixed_point(sigma);
            if piece_at(&candidate).is_fixed_point(sigma, &candidate) {
                return Ok(candidate);
            }
        }
        for (beta, change) in beta.iter_mut().zip(&change) {
            *beta += change;
        }
        moved = sigma.quadratic(&change).sqrt();
        if is_rounding(sigma, &change, &beta) {
            return Ok(beta);
        }
        if !moved.is_finite() {
            break;
        }
    }
    Err(Error::NoFixedPoint { moved })
}

fn is_rounding(sigma: &Matrix, change: &[f64], beta: &[f64]) -> bool {
    let size = sigma.quadratic(beta);
    size.is_finite() && sigma.quadratic(change) <= ROUNDING * ROUNDING * size
}
