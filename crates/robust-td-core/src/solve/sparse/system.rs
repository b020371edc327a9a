//! Holds the equations of a log with sparse features in scaled coordinates, without the features that it never shows.

use super::ledger::Entry;
use super::sums::{MORE, column, row};
use crate::error::{Error, Result};
use crate::matrix::SparseMatrix;
use crate::solve::fixed_point::scale;

/// The equations M x = y of [`fixed_point`](crate::fixed_point).
#[derive(Debug, Clone)]
pub struct SparseSystem {
    pub(super) count: u64,
    /// b.
    pub b: Vec<f64>,
    /// The sum of rho phi_j^2.
    pub squares: Vec<f64>,
    /// The sum of the features of the starts.
    pub starts: Vec<f64>,
    /// The features that were nonzero at least once.
    pub(super) seen: Vec<u32>,
    /// The place of a feature among those seen; `u32::MAX` if it was not.
    pub(super) place: Vec<u32>,
    /// The root mean square of every feature.
    pub(super) scale: Vec<f64>,
    /// M, unless it is left out.
    pub(super) matrix: Option<SparseMatrix>,
    /// The amounts of features that only successors have, by the features of the rows before them, and the feature that has most.
    pub(super) entered: Option<(usize, Vec<f64>)>,
}

impl SparseSystem {
    pub(super) fn new(
        count: u64,
        [b, squares, starts]: [Vec<f64>; MORE],
        matrix: Option<&[Entry<f64>]>,
    ) -> Result<Self> {
        let n = count.max(1) as f64;
        let entries = matrix.unwrap_or_default();
        let vectors = b.iter().chain(&squares).chain(&starts);
        if vectors
            .chain(entries.iter().map(|(_, sum)| sum))
            .any(|x| !x.is_finite())
        {
            return Err(Error::Overflow);
        }
        let scale: Vec<f64> = squares.iter().map(|square| scale(square / n)).collect();
        let mut place = vec![u32::MAX; b.len()];
        let mut seen = Vec::new();
        for (j, scale) in scale.iter().enumerate() {
            if *scale > 0.0 {
                place[j] = seen.len() as u32;
                seen.push(j as u32);
            }
        }
        let entered = entered(entries, &place);
        let matrix = matrix.map(|entries| {
            let mut matrix = SparseMatrix::with_capacity(seen.len(), entries.len());
            let mut at = 0;
            for &i in &seen {
                while let Some(&(key, sum)) =
                    entries.get(at).filter(|(key, _)| row(*key) <= i as usize)
                {
                    at += 1;
                    let (from, to) = (row(key), column(key));
                    if from == i as usize && place[to] != u32::MAX {
                        matrix.push(place[to] as usize, sum / (n * scale[from] * scale[to]));
                    }
                }
                matrix.end_row();
            }
            matrix
        });
        Ok(Self {
            count,
            b,
            squares,
            starts,
            seen,
            place,
            scale,
            matrix,
            entered,
        })
    }

    /// The feature that only successors have, of which they have most, and the discounted amounts of all of these after the features of rows.
    #[must_use]
    pub fn entered(&self) -> Option<(usize, &[f64])> {
        let entered = self.entered.as_ref();
        entered.map(|(feature, amounts)| (*feature, amounts.as_slice()))
    }

    /// The number of features that were nonzero at least once.
    #[must_use]
    pub fn seen(&self) -> usize {
        self.seen.len()
    }

    /// The root mean square of every feature.
    #[must_use]
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// The number of entries of the matrix, unless it is left out.
    #[must_use]
    pub fn stored(&self) -> Option<usize> {
        self.matrix.as_ref().map(SparseMatrix::stored)
    }

    /// y = A x, or y = A' x. All zeros if the matrix is left out.
    pub fn product(&self, x: &[f64], y: &mut [f64], adjoint: bool) {
        y.fill(0.0);
        let Some(matrix) = &self.matrix else {
            return;
        };
        let n = self.count.max(1) as f64;
        let of = |j: &u32| self.scale[*j as usize] * x[*j as usize];
        let x: Vec<f64> = self.seen.iter().map(of).collect();
        let image = match adjoint {
            false => matrix.times(&x),
            true => matrix.left_times(&x),
        };
        for (image, &j) in image.iter().zip(&self.seen) {
            y[j as usize] = n * self.scale[j as usize] * image;
        }
    }

    /// The features that were nonzero at least once, in increasing order.
    #[must_use]
    pub fn features(&self) -> &[u32] {
        &self.seen
    }

    /// Values for the features seen, divided by the scale, among all features.
    pub(super) fn unscaled(&self, x: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.scale.len()];
        for (x, &j) in x.iter().zip(&self.seen) {
            all[j as usize] = x / self.scale[j as usize];
        }
        all
    }

    /// Scores divided by n and the scale, for the features seen.
    pub(super) fn scaled(&self, vector: &[f64]) -> Vec<f64> {
        let n = self.count.max(1) as f64;
        let of = |j: &u32| vector[*j as usize] / (n * self.scale[*j as usize]);
        self.seen.iter().map(of).collect()
    }
}

/// The sums of entries in the columns of features that no row has, by row, and the column with the largest one.
fn entered(entries: &[Entry<f64>], place: &[u32]) -> Option<(usize, Vec<f64>)> {
    let is_new = |key| place[row(key)] != u32::MAX && place[column(key)] == u32::MAX;
    let new = || entries.iter().filter(|(key, _)| is_new(*key));
    new().next()?;
    let (mut amounts, mut columns) = (vec![0.0; place.len()], vec![0.0; place.len()]);
    for (key, sum) in new() {
        amounts[row(*key)] -= sum;
        columns[column(*key)] += sum.abs();
    }
    let most = (0..columns.len()).max_by(|&i, &j| columns[i].total_cmp(&columns[j]))?;
    Some((most, amounts))
}
