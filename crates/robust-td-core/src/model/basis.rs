//! Expresses features in a well-conditioned basis of their span.
//!
//! Features may be nearly collinear or of very different size. The fixed point and f are therefore computed
//! in coordinates `beta = R theta`: the functions `F = Phi R^{-1}` span the same space, and the matrix of the
//! fixed point becomes `F' D (I - gamma P) F`.
//!
//! - By default `R` scales the columns to length one under D.
//! - If the columns' directions are nearly dependent, F is orthonormal under D: with the singular value
//!   decomposition `D^{1/2} Phi = U diag(s) V' diag(n)`, `F = D^{-1/2} U` and `R = diag(s) V' diag(n)`. The
//!   symmetric part of the matrix is then at least `1 - gamma`.

use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::Matrix;

/// Directions closer to dependence than this count as dependent: theta* would keep fewer than six digits.
const RANK_TOLERANCE: f64 = 1e-10;

/// Condition numbers of the columns' directions up to which scaling the columns is enough. Scaling keeps
/// equal features equal, so that differences of values are exact, which matters as the discount approaches 1.
const WELL_CONDITIONED: f64 = 1e3;

/// The functions of the basis and the change of coordinates.
pub(crate) struct Basis {
    /// The functions F, one column each.
    pub functions: Matrix,
    /// `R`: from theta to beta.
    pub to: Matrix,
    /// `R^{-1}`: from beta to theta.
    pub from: Matrix,
}

impl Basis {
    /// A basis of the span of the features; rejects rank-deficient features.
    pub fn new(features: &Matrix, stationary: &[f64]) -> Result<Self> {
        let (n, d) = (features.rows(), features.columns());
        let weighted = Matrix::from_fn(n, d, |s, j| stationary[s].sqrt() * features.get(s, j));
        let lengths: Vec<f64> = (0..d).map(|j| column_length(&weighted, j)).collect();
        let divided = |matrix: &Matrix| {
            Matrix::from_fn(n, d, |s, j| {
                if lengths[j] > 0.0 {
                    matrix.get(s, j) / lengths[j]
                } else {
                    0.0
                }
            })
        };
        let (u, singular, v) = linalg::thin_svd(&divided(&weighted))?;
        let threshold = RANK_TOLERANCE * singular[0];
        let rank = singular.iter().filter(|&&value| value > threshold).count();
        if rank < d {
            return Err(Error::RankDeficient { rank, dimension: d });
        }
        if singular[0] <= WELL_CONDITIONED * singular[d - 1] {
            let diagonal = |entry: &dyn Fn(usize) -> f64| {
                Matrix::from_fn(d, d, |i, j| if i == j { entry(i) } else { 0.0 })
            };
            return Ok(Self {
                functions: divided(features),
                to: diagonal(&|j| lengths[j]),
                from: diagonal(&|j| 1.0 / lengths[j]),
            });
        }
        Ok(Self {
            functions: Matrix::from_fn(n, d, |s, k| u.get(s, k) / stationary[s].sqrt()),
            to: Matrix::from_fn(d, d, |k, j| singular[k] * v.get(j, k) * lengths[j]),
            from: Matrix::from_fn(d, d, |j, k| v.get(j, k) / singular[k] / lengths[j]),
        })
    }
}

/// The length of a column; dividing by the largest entry before squaring prevents over- and underflow.
fn column_length(matrix: &Matrix, j: usize) -> f64 {
    let column = || (0..matrix.rows()).map(|s| matrix.get(s, j));
    let largest = column().fold(0.0, |m: f64, x| m.max(x.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * column().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt()
}
