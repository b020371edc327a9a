//! Inverts the covariance `Sigma` of features on its range, which gives the coordinates in which it is the identity.
//!
//! With `M = Sigma^(-1/2)` the features `phi' = M phi` have covariance `I`, and `|phi'|^2 = phi' Sigma^+ phi` is the leverage of the state. Only
//! `Q = M' M = Sigma^+` matters: TD(0) on `phi'` moves theta along `Q phi`. A direction in which the features do not vary has no
//! covariance; `Q` is zero there, and theta never moves along it.

use crate::error::Result;
use crate::linalg;
use crate::matrix::{Matrix, norm_sq};
use crate::model::problem::Problem;

/// Eigenvalues of the correlation matrix up to this share of the largest count as 0. An estimated covariance has rounding errors of this size.
const RANK_TOLERANCE: f64 = 1e-11;

/// The inverse of a covariance on its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Whitening {
    /// `Q`, d x d.
    pub inverse: Matrix,
    /// The dimension of the range.
    pub rank: usize,
}

impl Whitening {
    /// From a covariance, or a multiple of one: symmetric, with nonnegative eigenvalues.
    ///
    /// The columns are first scaled to variance 1, so that the units of the features do not matter.
    ///
    /// # Errors
    /// When the eigenvalues are not found, as with entries that are not finite.
    pub fn of_covariance(sigma: &Matrix) -> Result<Self> {
        let d = sigma.rows();
        let deviations: Vec<f64> = (0..d).map(|i| sigma.get(i, i).sqrt()).collect();
        let share = |i: usize| match deviations[i] > 0.0 {
            true => 1.0 / deviations[i],
            false => 0.0,
        };
        let correlation = Matrix::from_fn(d, d, |i, j| share(i) * sigma.get(i, j) * share(j));
        // For a symmetric matrix with nonnegative eigenvalues this is the eigendecomposition.
        let (u, eigenvalues, v) = linalg::thin_svd(&correlation)?;
        let threshold = RANK_TOLERANCE * eigenvalues[0];
        let rank = eigenvalues.iter().filter(|&&x| x > threshold).count();
        let inverse = Matrix::from_fn(d, d, |i, j| {
            let sum: f64 = (0..rank)
                .map(|k| {
                    0.5 * (u.get(i, k) * v.get(j, k) + v.get(i, k) * u.get(j, k)) / eigenvalues[k]
                })
                .sum();
            share(i) * sum * share(j)
        });
        Ok(Self { inverse, rank })
    }

    /// From the exact features and their stationary distribution, with the leverage `phi(s)' Sigma^{-1} phi(s)` of every state.
    ///
    /// The singular values of `D^{1/2} Phi` lose half as many digits as the eigenvalues of `Sigma`.
    ///
    /// # Errors
    /// When the singular values are not found.
    pub fn of_problem(problem: &Problem) -> Result<(Self, Vec<f64>)> {
        let (n, d) = (problem.states(), problem.dimension());
        let pi = problem.stationary();
        let lengths: Vec<f64> = (0..d).map(|i| problem.sigma().get(i, i).sqrt()).collect();
        let weighted =
            Matrix::from_fn(n, d, |s, i| pi[s].sqrt() * (problem.phi(s)[i] / lengths[i]));
        let (u, singular, v) = linalg::thin_svd(&weighted)?;
        let inverse = Matrix::from_fn(d, d, |i, j| {
            let sum: f64 = (0..d)
                .map(|k| v.get(i, k) / singular[k] * (v.get(j, k) / singular[k]))
                .sum();
            sum / lengths[i] / lengths[j]
        });
        let leverages = (0..n).map(|s| norm_sq(u.row(s)) / pi[s]).collect();
        Ok((Self { inverse, rank: d }, leverages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn both_routes_agree_and_invert() {
        for name in ["ref-3", "paper-ring", "boyan", "e3"] {
            let problem = catalog::problem(name, &[]).unwrap();
            let (exact, leverages) = Whitening::of_problem(&problem).unwrap();
            let other = Whitening::of_covariance(problem.sigma()).unwrap();
            assert_eq!(other.rank, problem.dimension());
            let product = linalg::product(&exact.inverse, problem.sigma());
            for i in 0..problem.dimension() {
                for j in 0..problem.dimension() {
                    let one = f64::from(u8::from(i == j));
                    assert!((product.get(i, j) - one).abs() < 1e-9, "{name}");
                    let scale = (exact.inverse.get(i, i) * exact.inverse.get(j, j)).sqrt();
                    let difference = exact.inverse.get(i, j) - other.inverse.get(i, j);
                    assert!(difference.abs() < 1e-8 * scale, "{name}");
                }
            }
            // The mean leverage is d.
            let mean: f64 = leverages
                .iter()
                .zip(problem.stationary())
                .map(|(h, p)| h * p)
                .sum();
            assert!(
                (mean - problem.dimension() as f64).abs() < 1e-9,
                "{name}: {mean}"
            );
            for (s, h) in leverages.iter().enumerate() {
                let other = exact.inverse.quadratic(problem.phi(s));
                assert!(
                    (h - other).abs() < 1e-9 * (1.0 + other),
                    "{name}: {h} {other}"
                );
            }
        }
    }

    #[test]
    fn a_singular_covariance_is_inverted_on_its_range() {
        // Features (x, 2x, 0, y): the range is spanned by (1, 2, 0, 0) and (0, 0, 0, 1).
        let rows = [
            [4.0, 8.0, 0.0, 0.0],
            [8.0, 16.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 9.0],
        ];
        let found = Whitening::of_covariance(&Matrix::from_rows(&rows).unwrap()).unwrap();
        assert_eq!(found.rank, 2);
        // The leverage of (x, 2x, 0, y) is x^2/4 + y^2/9, and nothing moves along the third coordinate.
        let leverage = found.inverse.quadratic(&[3.0, 6.0, 0.0, 1.0]);
        assert!((leverage - (9.0 / 4.0 + 1.0 / 9.0)).abs() < 1e-12);
        assert_eq!(found.inverse.times(&[0.0, 0.0, 5.0, 0.0]), [0.0; 4]);
        // No variation at all.
        let none = Whitening::of_covariance(&Matrix::zeros(2, 2)).unwrap();
        assert_eq!((none.rank, none.inverse.quadratic(&[1.0, 1.0])), (0, 0.0));
    }
}
