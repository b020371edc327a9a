//! Finds features that are linear combinations of others.
//!
//! C = sum over rows of (x - mean)(x - mean)^T is accumulated in parts that are merged, and factored as C = L L^T in the
//! order of the features. The pivot of feature j is the variance that earlier features do not explain. If it
//! is a tiny fraction of the variance itself, feature j is a combination of them up to a constant.

use robust_td_core::Matrix;
use serde::{Deserialize, Serialize};

/// With more features than this none are compared: each row costs d^2 / 2 operations.
const MOST_FEATURES: usize = 64;
/// The unexplained fraction of the variance below which a feature counts as explained.
const EXPLAINED: f64 = 1e-10;

/// The number of rows per matrix product.
const BLOCK: usize = 256;

/// The co-moments of the features.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct CoMoments {
    rows: u64,
    mean: Vec<f64>,
    /// C.
    products: Vec<f64>,
}

/// Sums over a part of the rows: with y = x - shift, C = sum y y^T - (sum y)(sum y)^T / n. The shift is the first row.
pub(crate) struct CoSums {
    dimension: usize,
    rows: u64,
    shift: Vec<f64>,
    sums: Vec<f64>,
    products: Matrix,
    /// Rows y whose products are not added yet.
    block: Vec<f64>,
}

impl CoSums {
    /// No rows; with more than [`MOST_FEATURES`] features there never are any.
    pub fn new(dimension: usize) -> Self {
        let d = if dimension > MOST_FEATURES {
            0
        } else {
            dimension
        };
        Self {
            dimension: d,
            rows: 0,
            shift: vec![0.0; d],
            sums: vec![0.0; d],
            products: Matrix::zeros(d, d),
            block: Vec::new(),
        }
    }

    /// Adds rows, one after the other.
    pub fn add(&mut self, rows: &[f64]) {
        let d = self.dimension;
        if d == 0 {
            return;
        }
        for x in rows.chunks_exact(d) {
            if self.rows == 0 {
                self.shift.copy_from_slice(x);
            }
            self.rows += 1;
            let moved = x.iter().zip(&self.shift).map(|(x, shift)| x - shift);
            self.block.extend(moved);
            if self.block.len() == BLOCK * d {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        for y in self.block.chunks_exact(self.dimension.max(1)) {
            let sums = self.sums.iter_mut().zip(y);
            sums.for_each(|(sum, y)| *sum += y);
        }
        self.products.add_squares_of(&self.block);
        self.block.clear();
    }

    /// The co-moments.
    pub fn finish(mut self) -> CoMoments {
        self.flush();
        let (d, n) = (self.dimension, self.rows.max(1) as f64);
        let (sums, products) = (&self.sums, &self.products);
        let entry = |k: usize| products.as_slice()[k] - sums[k / d] * sums[k % d] / n;
        let means = self.shift.iter().zip(sums);
        CoMoments {
            rows: self.rows,
            mean: means.map(|(shift, sum)| shift + sum / n).collect(),
            products: (0..d * d).map(entry).collect(),
        }
    }
}

impl CoMoments {
    /// Whether its sizes are those of this number of features.
    pub fn fits(&self, dimension: usize) -> bool {
        let d = self.mean.len();
        self.products.len() == d * d
            && (d == dimension || (d == 0 && (self.rows == 0 || dimension > MOST_FEATURES)))
    }

    /// Adds the rows of a later part.
    pub fn merge(&mut self, later: &Self) {
        if self.rows == 0 {
            self.clone_from(later);
            return;
        }
        let (n, m) = (self.rows as f64, later.rows as f64);
        let d = self.mean.len();
        if m == 0.0 || later.mean.len() != d {
            return;
        }
        let away: Vec<f64> = (later.mean.iter().zip(&self.mean))
            .map(|(later, mean)| later - mean)
            .collect();
        for i in 0..d {
            let weight = away[i] * n * (m / (n + m));
            let row = self.products[i * d..][..d].iter_mut();
            for ((sum, more), away) in row.zip(&later.products[i * d..][..d]).zip(&away) {
                *sum += more + weight * away;
            }
        }
        let means = self.mean.iter_mut().zip(&away);
        means.for_each(|(mean, away)| *mean += away * (m / (n + m)));
        self.rows += later.rows;
    }

    /// The correlation of each pair of features; `None` where one of them is constant.
    pub fn correlations(&self) -> Vec<Vec<Option<f64>>> {
        let d = self.mean.len();
        let correlation = |i: usize, j: usize| {
            let size = (self.at(i, i) * self.at(j, j)).sqrt();
            (size > 0.0).then(|| (self.at(i, j) / size).clamp(-1.0, 1.0))
        };
        (0..d)
            .map(|i| (0..d).map(|j| correlation(i, j)).collect())
            .collect()
    }

    /// An entry of C.
    fn at(&self, i: usize, j: usize) -> f64 {
        self.products[i.max(j) * self.mean.len() + i.min(j)]
    }

    /// The features that are combinations of earlier ones, each with the single earlier feature that explains
    /// it, if any.
    pub fn collinear(&self) -> Vec<(usize, Option<usize>)> {
        let d = self.mean.len();
        let c = |i: usize, j: usize| self.at(i, j);
        let mut factor = vec![vec![0.0; d]; d];
        let mut free: Vec<usize> = Vec::new();
        let mut found = Vec::new();
        // With n rows a combination of n features cannot be distinguished from chance.
        if self.rows <= d as u64 + 1 {
            return found;
        }
        for j in 0..d {
            let variance = c(j, j);
            // Constant features are reported separately.
            if !(variance > 0.0) {
                continue;
            }
            for (position, &k) in free.iter().enumerate() {
                let explained: f64 = free[..position]
                    .iter()
                    .map(|&l| factor[j][l] * factor[k][l])
                    .sum();
                factor[j][k] = (c(j, k) - explained) / factor[k][k];
            }
            let explained: f64 = free.iter().map(|&k| factor[j][k] * factor[j][k]).sum();
            let pivot = variance - explained;
            if pivot > EXPLAINED * variance {
                factor[j][j] = pivot.sqrt();
                free.push(j);
            } else {
                let alone =
                    |&k: &usize| c(j, k) * c(j, k) >= (1.0 - EXPLAINED) * variance * c(k, k);
                found.push((j, free.iter().copied().find(alone)));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_multiples_are_found_and_others_are_not() {
        let mut moments = CoMoments::default();
        let mut part = CoSums::new(6);
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f64 / 1e7 + 100.0
        };
        for _ in 0..500 {
            let (a, b, e) = (random(), random(), random());
            part.add(&[a, 7.0, b, 3.0 - 2.0 * b, a + b, a + 1e-3 * e]);
            if part.rows == 300 {
                moments.merge(&std::mem::replace(&mut part, CoSums::new(6)).finish());
            }
        }
        moments.merge(&part.finish());
        assert_eq!(moments.collinear(), [(3, Some(2)), (4, None)]);
        let correlations = moments.correlations();
        assert_eq!(correlations[1], [None; 6]);
        assert!((correlations[2][3].unwrap() + 1.0).abs() < 1e-9);
        assert_eq!(correlations[0][0], Some(1.0));
        assert!(correlations[0][2].unwrap().abs() < 0.2);
    }

    #[test]
    fn few_rows_prove_nothing() {
        let mut rows = CoSums::new(2);
        rows.add(&[1.0, 2.0, 2.0, 3.0]);
        assert!(rows.finish().collinear().is_empty());
    }
}
