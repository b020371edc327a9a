//! Finds features that are linear combinations of others.
//!
//! C = sum over rows of (x - mean)(x - mean)^T is accumulated in one pass and factored as C = L L^T in the
//! order of the features. The pivot of feature j is the variance that earlier features do not explain. If it
//! is a tiny fraction of the variance itself, feature j is a combination of them up to a constant.

/// With more features than this none are compared: each row costs d^2 / 2 operations.
const MOST_FEATURES: usize = 64;
/// The unexplained fraction of the variance below which a feature counts as explained.
const EXPLAINED: f64 = 1e-10;

/// The co-moments of the features.
#[derive(Debug, Clone, Default)]
pub(crate) struct CoMoments {
    rows: u64,
    mean: Vec<f64>,
    /// The lower triangle of C, row by row.
    lower: Vec<f64>,
    before: Vec<f64>,
}

impl CoMoments {
    /// Adds a row; ignored when there are more than [`MOST_FEATURES`] features.
    pub fn add(&mut self, x: &[f64]) {
        let d = x.len();
        if d > MOST_FEATURES {
            return;
        }
        if self.mean.len() != d {
            self.mean = vec![0.0; d];
            self.before = vec![0.0; d];
            self.lower = vec![0.0; d * (d + 1) / 2];
        }
        self.rows += 1;
        let n = self.rows as f64;
        for j in 0..d {
            self.before[j] = x[j] - self.mean[j];
            self.mean[j] += self.before[j] / n;
        }
        let mut lower = self.lower.as_mut_slice();
        for j in 0..d {
            let after = x[j] - self.mean[j];
            let (row, rest) = lower.split_at_mut(j + 1);
            for (c, before) in row.iter_mut().zip(&self.before) {
                *c += after * before;
            }
            lower = rest;
        }
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
        self.lower[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)]
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
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f64 / 1e7 + 100.0
        };
        for _ in 0..500 {
            let (a, b, e) = (random(), random(), random());
            moments.add(&[a, 7.0, b, 3.0 - 2.0 * b, a + b, a + 1e-3 * e]);
        }
        assert_eq!(moments.collinear(), [(3, Some(2)), (4, None)]);
        let correlations = moments.correlations();
        assert_eq!(correlations[1], [None; 6]);
        assert!((correlations[2][3].unwrap() + 1.0).abs() < 1e-9);
        assert_eq!(correlations[0][0], Some(1.0));
        assert!(correlations[0][2].unwrap().abs() < 0.2);
    }

    #[test]
    fn few_rows_prove_nothing() {
        let mut moments = CoMoments::default();
        moments.add(&[1.0, 2.0]);
        moments.add(&[2.0, 3.0]);
        assert!(moments.collinear().is_empty());
    }
}
