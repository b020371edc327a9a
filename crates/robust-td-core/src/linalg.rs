//! Wraps the linear-algebra crate, so that no other file depends on it.

mod elimination_tree;
mod multifrontal;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{ColPivQr, PartialPivLu, Solve};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::error::{Error, Result};
use crate::matrix::{Matrix, SparseMatrix};
pub(crate) use multifrontal::SparseLu;

fn view(matrix: &Matrix) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(matrix.as_slice(), matrix.rows(), matrix.columns())
}

/// Runs one call of the linear-algebra crate and then clears the upper halves of the vector registers.
///
/// Its matrix product is assembly that leaves the upper halves dirty, which makes every subsequent logarithm six
/// times slower (docs/upstream-vzeroupper.md).
fn call<T>(work: impl FnOnce() -> T) -> T {
    let result = work();
    robust_td_simd::clean_upper_halves();
    result
}

/// Solves `M x = b` by LU with partial pivoting and one step of iterative refinement.
pub(crate) fn solve(matrix: &Matrix, b: &[f64]) -> Vec<f64> {
    let factors = call(|| view(matrix).partial_piv_lu());
    let solve = |rhs: &[f64]| {
        let mut x = Mat::from_fn(rhs.len(), 1, |i, _| rhs[i]);
        call(|| factors.solve_in_place(&mut x));
        (0..rhs.len()).map(|i| x[(i, 0)]).collect::<Vec<f64>>()
    };
    let mut x = solve(b);
    let residual: Vec<f64> = matrix
        .times(&x)
        .iter()
        .zip(b)
        .map(|(image, target)| target - image)
        .collect();
    let correction = solve(&residual);
    if correction.iter().all(|value| value.is_finite()) {
        x.iter_mut().zip(&correction).for_each(|(x, dx)| *x += dx);
    }
    x
}

/// The inverse, by LU with partial pivoting; not finite if the matrix is singular.
pub(crate) fn inverse(matrix: &Matrix) -> Matrix {
    let n = matrix.rows();
    let mut inverse = Mat::<f64>::identity(n, n);
    call(|| view(matrix).partial_piv_lu().solve_in_place(&mut inverse));
    Matrix::from_fn(n, n, |i, j| inverse[(i, j)])
}

/// The singular values, largest first.
pub(crate) fn singular_values(matrix: &Matrix) -> Result<Vec<f64>> {
    call(|| view(matrix).singular_values()).map_err(|_| Error::Decomposition {
        what: "singular values",
    })
}

/// The thin singular value decomposition `U diag(s) V'`, largest singular value first.
pub(crate) fn thin_svd(matrix: &Matrix) -> Result<(Matrix, Vec<f64>, Matrix)> {
    let svd = call(|| view(matrix).thin_svd()).map_err(|_| Error::Decomposition {
        what: "singular values of the features",
    })?;
    let (u, v) = (svd.U(), svd.V());
    let singular = svd.S().column_vector();
    Ok((
        Matrix::from_fn(u.nrows(), u.ncols(), |i, j| u[(i, j)]),
        singular.iter().copied().collect(),
        Matrix::from_fn(v.nrows(), v.ncols(), |i, j| v[(i, j)]),
    ))
}

/// The moduli of all eigenvalues, largest first.
pub(crate) fn eigenvalue_moduli(matrix: &Matrix) -> Result<Vec<f64>> {
    let eigenvalues = call(|| view(matrix).eigenvalues()).map_err(|_| Error::Decomposition {
        what: "eigenvalues of the chain",
    })?;
    let mut moduli: Vec<f64> = eigenvalues.iter().map(|z| z.re.hypot(z.im)).collect();
    moduli.sort_by(|a, b| b.total_cmp(a));
    Ok(moduli)
}

/// The smallest eigenvalue of a symmetric matrix; only the lower triangle is read.
pub(crate) fn smallest_eigenvalue(matrix: &Matrix) -> Result<f64> {
    let eigenvalues =
        call(|| view(matrix).self_adjoint_eigenvalues(faer::Side::Lower)).map_err(|_| {
            Error::Decomposition {
                what: "eigenvalues of a symmetric matrix",
            }
        })?;
    Ok(eigenvalues.into_iter().fold(f64::INFINITY, f64::min))
}

/// The product of two matrices.
pub(crate) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let product = call(|| view(a) * view(b));
    Matrix::from_fn(a.rows(), b.columns(), |i, j| product[(i, j)])
}

/// Adds x' y to a matrix, all row by row: x has `depth` rows of `rows` entries, y as many of `columns` entries.
pub(crate) fn add_product(
    sums: &mut [f64],
    x: &[f64],
    y: &[f64],
    [rows, depth, columns]: [usize; 3],
) {
    let sums = MatMut::from_row_major_slice_mut(sums, rows, columns);
    let x = MatRef::from_row_major_slice(x, depth, rows);
    let y = MatRef::from_row_major_slice(y, depth, columns);
    call(|| matmul(sums, Accum::Add, x.transpose(), y, 1.0, Par::Seq));
}

impl Matrix {
    /// Adds the sum of x x' over rows x, one after the other.
    ///
    /// # Panics
    /// When the matrix is not square, or the number of entries not a multiple of its size.
    pub fn add_squares_of(&mut self, rows: &[f64]) {
        let n = self.rows();
        assert_eq!(n, self.columns(), "a square matrix");
        let depth = rows.len() / n.max(1);
        assert_eq!(rows.len(), depth * n, "rows of its size");
        if depth > 0 {
            add_product(self.as_mut_slice(), rows, rows, [n, depth, n]);
        }
    }
}

/// The pivot, relative to the largest, below which a column counts as a combination of the others.
const SMALL_PIVOT: f64 = 1e-10;

/// A square matrix factored for solving within its range.
#[derive(Debug, Clone)]
pub(crate) enum Factors {
    /// Of full rank.
    Full(ColPivQr<f64>),
    /// Q' M Q, with the orthonormal basis Q of the range and its complement.
    Reduced {
        basis: Mat<f64>,
        complement: Mat<f64>,
        inner: PartialPivLu<f64>,
    },
}

/// Factors a matrix, and finds its rank by column pivoting.
pub(crate) fn factors(matrix: &Matrix) -> Factors {
    call(|| {
        let n = matrix.rows();
        let qr = view(matrix).col_piv_qr();
        let pivot = |k: usize| qr.R()[(k, k)].abs();
        let rank = (0..n)
            .take_while(|&k| pivot(k) > SMALL_PIVOT * pivot(0))
            .count();
        if rank == n {
            return Factors::Full(qr);
        }
        let q = qr.compute_Q();
        let (basis, complement) = q.split_at_col(rank);
        let inner = (basis.transpose() * view(matrix) * basis).partial_piv_lu();
        Factors::Reduced {
            basis: basis.to_owned(),
            complement: complement.to_owned(),
            inner,
        }
    })
}

impl Factors {
    /// The rank.
    pub fn rank(&self) -> usize {
        match self {
            Self::Full(qr) => qr.R().nrows(),
            Self::Reduced { basis, .. } => basis.ncols(),
        }
    }

    /// An orthonormal basis of the complement of the range.
    pub fn outside(&self) -> Vec<Vec<f64>> {
        match self {
            Self::Full(_) => Vec::new(),
            Self::Reduced { complement, .. } => (complement.col_iter())
                .map(|column| column.iter().copied().collect())
                .collect(),
        }
    }

    /// The smallest solution of M x = y.
    pub fn solve(&self, y: &[f64]) -> Vec<f64> {
        let rows = Matrix::from_fn(1, y.len(), |_, j| y[j]);
        self.solve_rows(&rows).row(0).to_vec()
    }

    /// The same for every row.
    pub fn solve_rows(&self, rows: &Matrix) -> Matrix {
        let right = view(rows).transpose();
        let x = call(|| match self {
            Self::Full(qr) => qr.solve(right),
            Self::Reduced { basis, inner, .. } => basis * inner.solve(basis.transpose() * right),
        });
        Matrix::from_fn(rows.rows(), rows.columns(), |i, j| x[(j, i)])
    }
}

/// An elimination order for the rows of a sparse matrix, with its cost.
pub(crate) struct EliminationOrder {
    /// `order[k]` is eliminated k-th.
    pub order: Vec<u32>,
    /// Upper bound on the entries below the diagonal of the factor.
    pub fill: f64,
    /// Upper bound on the multiplications.
    pub multiplications: f64,
}

/// The approximate-minimum-degree order of the pattern of `M + M'`.
pub(crate) fn minimum_degree_order(matrix: &SparseMatrix) -> EliminationOrder {
    let n = matrix.size();
    let mut offsets = vec![0_usize];
    let mut columns = Vec::with_capacity(matrix.stored());
    for i in 0..n {
        columns.extend(matrix.entries(i).map(|(j, _)| j));
        offsets.push(columns.len());
    }
    // Rows serve as columns, because the order depends only on M + M'.
    let pattern = SymbolicSparseColMatRef::new_checked(n, n, &offsets, None, &columns);
    let mut order = vec![0_usize; n];
    let mut inverse = vec![0_usize; n];
    let mut memory = MemBuffer::new(amd::order_scratch::<usize>(n, matrix.stored()));
    let control = amd::Control::default();
    match amd::order(
        &mut order,
        &mut inverse,
        pattern,
        control,
        MemStack::new(&mut memory),
    ) {
        Ok(count) => EliminationOrder {
            order: order.iter().map(|&i| i as u32).collect(),
            fill: count.n_div,
            multiplications: count.n_mult_subs_lu,
        },
        // Only an index overflow can fail here; the natural order is always valid.
        Err(_) => EliminationOrder {
            order: (0..n as u32).collect(),
            fill: f64::INFINITY,
            multiplications: f64::INFINITY,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_and_multiplies() {
        let m = Matrix::from_rows(&[[2.0, 1.0], [1.0, -3.0]]).unwrap();
        let x = solve(&m, &[5.0, -8.0]);
        assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 3.0).abs() < 1e-15);
        let square = product(&m, &m);
        assert_eq!(square.as_slice(), &[5.0, -1.0, -1.0, 10.0]);
        let identity = product(&m, &inverse(&m));
        for (entry, expected) in identity.as_slice().iter().zip([1.0, 0.0, 0.0, 1.0]) {
            assert!((entry - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn finds_moduli_of_complex_eigenvalues() {
        // A rotation by 90 degrees scaled by 2 has eigenvalues +-2i.
        let m = Matrix::from_rows(&[[0.0, -2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).unwrap();
        let moduli = eigenvalue_moduli(&m).unwrap();
        for (found, expected) in moduli.iter().zip([2.0, 2.0, 1.0]) {
            assert!((found - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn finds_the_smallest_eigenvalue_of_a_symmetric_matrix() {
        // Eigenvalues 1 and 3 of the first block, -2 of the second.
        let m = Matrix::from_rows(&[[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, -2.0]]).unwrap();
        assert!((smallest_eigenvalue(&m).unwrap() + 2.0).abs() < 1e-14);
    }

    #[test]
    fn minimum_degree_of_a_star_takes_leaves_first() {
        let star = SparseMatrix::from_triplets(
            "star",
            50,
            (1..50).flat_map(|leaf| [(0, leaf, 1.0), (leaf, 0, 1.0)]),
        )
        .unwrap();
        let ordering = minimum_degree_order(&star);
        let position = ordering.order.iter().position(|&i| i == 0).unwrap();
        assert!(position >= 48, "the hub is eliminated at {position}");
        assert!(ordering.fill <= 49.0);
    }
}
