//! Solves the Lyapunov equation that measures how fast the mean update contracts.
//!
//! Every eigenvalue of `A` has a positive real part (its symmetric part is positive definite), so that
//!
//! ```text
//! A' P + P A = I,      P = int_0^inf exp(-A' t) exp(-A t) dt
//! ```
//!
//! has one solution, symmetric and positive definite. `|x|_P^2 = x' P x` then falls along the mean update
//! `dx/dt = -A x` at the rate `|x|^2` (Srikant and Ying 2019).
//!
//! # Method
//! The Cayley transform `U = (A + p I)^{-1} (A - p I)` has all eigenvalues within the unit circle for `p > 0`, and
//!
//! ```text
//! P = U' P U + Q,   Q = 2p (A + p I)^{-T} (A + p I)^{-1},   hence   P = sum_k (U')^k Q U^k
//! ```
//!
//! which doubling (Smith 1968) sums to 2^m terms with m products: O(d^3 m), where the d^2 equations of
//! the Kronecker form would cost O(d^6). One step of iterative refinement follows.

use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::{Matrix, norm_sq};

/// Maximum number of doublings: more than any `A` with entries in f64 needs.
const MAX_DOUBLINGS: usize = 200;

/// The largest accepted residual `|A'P + PA - I|` (Frobenius).
const MAX_RESIDUAL: f64 = 1e-6;

/// The solution of `A' P + P A = I`.
#[derive(Debug, Clone, PartialEq)]
pub struct Lyapunov {
    /// `P`.
    pub solution: Matrix,
    /// Its largest eigenvalue.
    pub largest: f64,
    /// Its smallest eigenvalue.
    pub smallest: f64,
}

impl Lyapunov {
    /// Solves the equation for a matrix whose eigenvalues all have positive real parts.
    ///
    /// # Errors
    /// When no solution is found to rounding accuracy: the matrix is singular, unstable or too badly scaled.
    pub fn of(a: &Matrix) -> Result<Self> {
        let failed = Error::Decomposition {
            what: "solution of the Lyapunov equation",
        };
        let identity = Matrix::identity(a.rows());
        let first = solve(a, &identity);
        let correction = solve(a, &residual(a, &first, &identity));
        let solution = sum(1.0, &first, 1.0, &correction);
        let error = residual(a, &solution, &identity);
        if !(norm_sq(error.as_slice()).sqrt() <= MAX_RESIDUAL) {
            return Err(failed);
        }
        // Symmetric and positive definite: the singular values are the eigenvalues.
        let eigenvalues = linalg::singular_values(&solution)?;
        match (eigenvalues.first(), eigenvalues.last()) {
            (Some(&largest), Some(&smallest)) if smallest > 0.0 => Ok(Self {
                solution,
                largest,
                smallest,
            }),
            _ => Err(failed),
        }
    }
}

/// Sums `P = sum_k (U')^k Q U^k` for `A' P + P A = right`.
fn solve(a: &Matrix, right: &Matrix) -> Matrix {
    let d = a.rows();
    // The shift between the smallest and the largest scale of A makes U contract fastest.
    let size = norm_sq(a.as_slice()).sqrt();
    let inverse_size = norm_sq(linalg::inverse(a).as_slice()).sqrt();
    let shift = (size / inverse_size).sqrt();
    let shifted = |sign: f64| sum(1.0, a, sign * shift, &Matrix::identity(d));
    let inverse = linalg::inverse(&shifted(1.0));
    let mut u = linalg::product(&inverse, &shifted(-1.0));
    let scaled = sum(2.0 * shift, right, 0.0, right);
    let mut p = congruence(&inverse, &scaled);
    for _ in 0..MAX_DOUBLINGS {
        let more = congruence(&u, &p);
        p = sum(1.0, &p, 1.0, &more);
        if !(norm_sq(more.as_slice()) > 1e-40 * norm_sq(p.as_slice())) {
            break;
        }
        u = linalg::product(&u, &u);
    }
    // Symmetric up to rounding; made exactly symmetric.
    Matrix::from_fn(d, d, |i, j| 0.5 * (p.get(i, j) + p.get(j, i)))
}

/// `right - A'P - PA`.
fn residual(a: &Matrix, p: &Matrix, right: &Matrix) -> Matrix {
    let d = a.rows();
    let pa = linalg::product(p, a);
    Matrix::from_fn(d, d, |i, j| right.get(i, j) - pa.get(i, j) - pa.get(j, i))
}

/// `M' Q M`.
fn congruence(m: &Matrix, q: &Matrix) -> Matrix {
    let transposed = Matrix::from_fn(m.columns(), m.rows(), |i, j| m.get(j, i));
    linalg::product(&transposed, &linalg::product(q, m))
}

/// `x A + y B`.
fn sum(x: f64, a: &Matrix, y: f64, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), a.columns(), |i, j| {
        x * a.get(i, j) + y * b.get(i, j)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// A random matrix with a positive definite symmetric part.
    fn random(d: usize, floor: f64, seed: u64) -> Matrix {
        let mut stream = Stream::new(seed, 0);
        let mut entry = || 2.0 * stream.uniform() - 1.0;
        let root: Vec<f64> = (0..d * d).map(|_| entry()).collect();
        let skew: Vec<f64> = (0..d * d).map(|_| entry()).collect();
        Matrix::from_fn(d, d, |i, j| {
            let square: f64 = (0..d).map(|k| root[i * d + k] * root[j * d + k]).sum();
            let floor = if i == j { floor } else { 0.0 };
            square + floor + skew[i * d + j] - skew[j * d + i]
        })
    }

    /// T42, against the d^2 linear equations of the Kronecker form.
    #[test]
    fn doubling_agrees_with_the_kronecker_form() {
        for (seed, d) in [(1, 1), (2, 2), (3, 3), (4, 5), (5, 8)] {
            let a = random(d, 1e-3, seed);
            let found = Lyapunov::of(&a).unwrap();
            // Row (i, j) is sum_k A_ki P_kj + P_ik A_kj = [i = j].
            let kronecker = Matrix::from_fn(d * d, d * d, |row, column| {
                let ((i, j), (k, l)) = ((row / d, row % d), (column / d, column % d));
                let left = if l == j { a.get(k, i) } else { 0.0 };
                let right = if k == i { a.get(l, j) } else { 0.0 };
                left + right
            });
            let expected = linalg::solve(&kronecker, Matrix::identity(d).as_slice());
            for (found, expected) in found.solution.as_slice().iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-9 * found.abs().max(1.0));
            }
            assert!(found.largest >= found.smallest && found.smallest > 0.0);
        }
    }

    #[test]
    fn the_residual_is_rounding_even_for_badly_conditioned_matrices() {
        for (d, floor) in [(4, 1e-6), (30, 1e-4), (100, 1e-2)] {
            let a = random(d, floor, 9);
            let found = Lyapunov::of(&a).unwrap();
            let error = residual(&a, &found.solution, &Matrix::identity(d));
            let worst = error
                .as_slice()
                .iter()
                .fold(0.0, |x: f64, y| x.max(y.abs()));
            assert!(worst <= 1e-9, "{d}: {worst}");
        }
    }

    #[test]
    fn a_diagonal_matrix_has_its_closed_form() {
        let a = Matrix::from_rows(&[[0.5, 0.0], [0.0, 0.01]]).unwrap();
        let found = Lyapunov::of(&a).unwrap();
        assert!((found.smallest - 1.0).abs() < 1e-12 && (found.largest - 50.0).abs() < 1e-10);
    }

    #[test]
    fn a_matrix_without_solution_is_refused() {
        for rows in [[[0.0, 1.0], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]] {
            assert!(Lyapunov::of(&Matrix::from_rows(&rows).unwrap()).is_err());
        }
    }
}
