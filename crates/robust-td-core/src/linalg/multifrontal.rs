//! Factors a sparse matrix by fronts: dense blocks along its elimination tree.
//!
//! # Formulas
//! A front holds the columns 1 that it eliminates and the later ones 2 that they are connected to:
//! ```text
//! | F11 F12 |      X = F11^{-1} F12,     the update F22 - F21 X goes to the parent
//! | F21 F22 |      solve:  z1 = F11^{-1} b1,  b2 -= F21 z1  upwards;     x1 = z1 - X x2  downwards
//! ```
//! Pivots are chosen within F11, so the fill is known before; callers check residuals.
//!
//! # Reference
//! Duff & Reid, "The multifrontal solution of indefinite sparse symmetric linear equations", ACM TOMS 9, 1983.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{PartialPivLu, Solve};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, Par};

use super::call;
use super::elimination_tree::{Front, Plan};
use crate::matrix::{Matrix, SparseMatrix};

/// A factored sparse matrix.
pub(crate) struct SparseLu {
    plan: Plan,
    blocks: Vec<Block>,
}

/// The factors of a front.
struct Block {
    /// F11.
    inner: PartialPivLu<f64>,
    /// F21.
    left: Mat<f64>,
    /// X.
    right: Mat<f64>,
}

impl SparseLu {
    /// Factors M + shift I; none if the factors have more than `most` entries, or take more than `multiplications`.
    pub fn new(matrix: &SparseMatrix, shift: f64, most: f64, multiplications: f64) -> Option<Self> {
        let plan = Plan::new(matrix, most, multiplications)?;
        let blocks = call(|| blocks(matrix, shift, &plan));
        Some(Self { plan, blocks })
    }

    /// The number of pivots below a limit.
    pub fn small_pivots(&self, limit: f64) -> usize {
        let of = |block: &Block| {
            let u = block.inner.U();
            (0..u.ncols()).filter(|&k| u[(k, k)].abs() < limit).count()
        };
        self.blocks.iter().map(of).sum()
    }

    /// Solves M x = b, or M' x = b, for each row b, which it overwrites: there can be many.
    pub fn solve(&self, mut rows: Matrix, adjoint: bool) -> Matrix {
        let (order, columns) = (&self.plan.order, rows.rows());
        let mut x = Mat::from_fn(order.len(), columns, |k, c| rows.get(c, order[k] as usize));
        call(|| self.solve_in_order(x.as_mut(), adjoint));
        for c in 0..columns {
            let places = rows.row_mut(c).iter_mut().zip(&self.plan.position);
            places.for_each(|(own, &place)| *own = x[(place as usize, c)]);
        }
        rows
    }

    fn solve_in_order(&self, mut x: MatMut<'_, f64>, adjoint: bool) {
        let fronts = || self.plan.fronts.iter().zip(&self.blocks);
        for (front, block) in fronts() {
            let mut own = own(front, x.rb_mut());
            if !adjoint {
                block.inner.solve_in_place(own.rb_mut());
            }
            let change = match adjoint {
                false => &block.left * own,
                true => block.right.transpose() * own,
            };
            for (k, &i) in front.rows.iter().enumerate() {
                for c in 0..x.ncols() {
                    x[(i as usize, c)] -= change[(k, c)];
                }
            }
        }
        for (front, block) in fronts().rev() {
            let later = Mat::from_fn(front.rows.len(), x.ncols(), |k, c| {
                x[(front.rows[k] as usize, c)]
            });
            let mut own = own(front, x.rb_mut());
            match adjoint {
                false => own -= &block.right * later,
                true => {
                    own -= block.left.transpose() * later;
                    block.inner.solve_transpose_in_place(own);
                }
            }
        }
    }
}

/// The rows of x that a front eliminates.
fn own<'a>(front: &Front, x: MatMut<'a, f64>) -> MatMut<'a, f64> {
    x.subrows_mut(front.first, front.width)
}

fn blocks(matrix: &SparseMatrix, shift: f64, plan: &Plan) -> Vec<Block> {
    let (position, transposed) = (&plan.position, matrix.transposed());
    let mut place = vec![0_usize; matrix.size()];
    let mut updates: Vec<Vec<(usize, Mat<f64>)>> =
        (0..plan.fronts.len()).map(|_| Vec::new()).collect();
    let mut blocks = Vec::with_capacity(plan.fronts.len());
    for (s, front) in plan.fronts.iter().enumerate() {
        let (width, size) = (front.width, front.width + front.rows.len());
        for (k, &i) in front.rows.iter().enumerate() {
            place[i as usize] = width + k;
        }
        let mut whole = Mat::<f64>::zeros(size, size);
        let end = front.first + width;
        for k in 0..width {
            place[front.first + k] = k;
        }
        for k in 0..width {
            let i = plan.order[front.first + k] as usize;
            for (j, value) in matrix.entries(i) {
                let j = position[j] as usize;
                if j >= front.first {
                    whole[(k, place[j])] = value;
                }
            }
            for (j, value) in transposed.entries(i) {
                let j = position[j] as usize;
                if j >= end {
                    whole[(place[j], k)] = value;
                }
            }
            whole[(k, k)] += shift;
        }
        for (child, update) in std::mem::take(&mut updates[s]) {
            let rows = &plan.fronts[child].rows;
            for (b, &j) in rows.iter().enumerate() {
                let column = place[j as usize];
                for (a, &i) in rows.iter().enumerate() {
                    whole[(place[i as usize], column)] += update[(a, b)];
                }
            }
        }
        let (upper, lower) = whole.as_mut().split_at_row_mut(width);
        let (inner, above) = upper.split_at_col_mut(width);
        let (left, mut update) = lower.split_at_col_mut(width);
        let inner = inner.partial_piv_lu();
        let mut right = above.to_owned();
        inner.solve_in_place(right.as_mut());
        if let Some(parent) = front.parent {
            matmul(
                update.rb_mut(),
                Accum::Add,
                left.rb(),
                right.as_ref(),
                -1.0,
                Par::Seq,
            );
            updates[parent].push((s, update.to_owned()));
        }
        blocks.push(Block {
            inner,
            left: left.to_owned(),
            right,
        });
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Random matrices with a dense row and column.
    #[test]
    fn solves_and_solves_transposed() {
        for n in [1_usize, 2, 7, 60, 400] {
            let mut random = Stream::new(n as u64, 0);
            let mut dense = Matrix::zeros(n, n);
            for i in 0..n {
                for _ in 0..3 {
                    let j = (random.uniform() * n as f64) as usize;
                    dense.row_mut(i)[j] += random.uniform() - 0.5;
                }
                dense.row_mut(i)[i] += 2.0;
                dense.row_mut(i)[0] += random.uniform();
                dense.row_mut(0)[i] += random.uniform();
            }
            let sparse = SparseMatrix::from_dense(&dense);
            let lu = SparseLu::new(&sparse, 0.0, 1e9, 1e12).unwrap();
            let b = Matrix::from_fn(3, n, |_, j| (j as f64).sin());
            for adjoint in [false, true] {
                let x = lu.solve(b.clone(), adjoint);
                for c in 0..3 {
                    let image = match adjoint {
                        false => sparse.times(x.row(c)),
                        true => sparse.left_times(x.row(c)),
                    };
                    for (image, b) in image.iter().zip(b.row(c)) {
                        assert!((image - b).abs() < 1e-9, "{n} {adjoint}: {image} {b}");
                    }
                }
            }
            assert!(n < 60 || SparseLu::new(&sparse, 0.0, 2.0 * n as f64, 1e12).is_none());
        }
    }
}
