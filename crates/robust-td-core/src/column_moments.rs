//! Accumulates range, mean and spread of the columns of a table, in parts that can be merged.
//!
//! # Formulas
//! Within a part the sums are those of y = x - shift, where the shift is the part's first row:
//! ```text
//! mean = shift + sum(y) / n,     spread = sum(y^2) - sum(y)^2 / n
//! ```
//! The first row is one of the data, so sum(y^2) is at most n + 1 times the spread: a large mean does not cancel, and a constant column
//! has spread 0 exactly. Between parts it is rounded like the means. Two parts with n and m rows, whose means differ by D, have together
//! ```text
//! mean + D m / (n + m),     spread + spread' + D^2 n m / (n + m)
//! ```
//! In a fixed division into parts, the result does not depend on who computed which part.
//!
//! # Reference
//! Chan, Golub & LeVeque, "Algorithms for computing the sample variance: analysis and recommendations", The American
//! Statistician 37, 1983.

use serde::{Deserialize, Serialize};

/// The number of columns whose sums stay in registers.
const TILE: usize = 4;
/// The number of rows that are added at a time, so that they stay in the cache.
const BLOCK: usize = 32;

/// Range, mean and spread of each column of the rows so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ColumnMoments {
    /// The rows of merged parts, their means and spreads.
    count: u64,
    mean: Vec<f64>,
    spread: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    /// The rows of the part that is open, and its sums.
    open: u64,
    shift: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl ColumnMoments {
    /// No rows of this number of columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        let zeros = || vec![0.0; columns];
        Self {
            count: 0,
            mean: zeros(),
            spread: zeros(),
            low: vec![f64::INFINITY; columns],
            high: vec![f64::NEG_INFINITY; columns],
            open: 0,
            shift: zeros(),
            sums: zeros(),
            squares: zeros(),
        }
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.mean.len()
    }

    /// The number of rows.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count + self.open
    }

    /// Adds rows, one after the other.
    ///
    /// # Panics
    /// When the number of entries is not a multiple of the number of columns.
    pub fn add(&mut self, rows: &[f64]) {
        let d = self.columns();
        assert!(
            rows.len().is_multiple_of(d.max(1)),
            "rows of as many columns"
        );
        if rows.is_empty() {
            return;
        }
        if self.open == 0 {
            self.shift.copy_from_slice(&rows[..d]);
            self.sums.fill(0.0);
            self.squares.fill(0.0);
        }
        self.open += (rows.len() / d) as u64;
        for block in rows.chunks(BLOCK * d) {
            let mut first = 0;
            while first + TILE <= d {
                self.add_tile::<TILE>(block, first);
                first += TILE;
            }
            match d - first {
                0 => {}
                1 => self.add_tile::<1>(block, first),
                2 => self.add_tile::<2>(block, first),
                _ => self.add_tile::<3>(block, first),
            }
        }
    }

    /// Adds rows of the `W` columns from `first`.
    #[inline]
    fn add_tile<const W: usize>(&mut self, block: &[f64], first: usize) {
        let d = self.columns();
        let tile = |all: &[f64]| -> [f64; W] { std::array::from_fn(|k| all[first + k]) };
        let shift = tile(&self.shift);
        let [mut sums, mut squares] = [&self.sums, &self.squares].map(|all| tile(all));
        let [mut low, mut high] = [&self.low, &self.high].map(|all| tile(all));
        for row in block.chunks_exact(d) {
            let x = tile(row);
            for k in 0..W {
                let y = x[k] - shift[k];
                sums[k] += y;
                squares[k] += y * y;
                low[k] = if x[k] < low[k] { x[k] } else { low[k] };
                high[k] = if x[k] > high[k] { x[k] } else { high[k] };
            }
        }
        for (all, tile) in [
            (&mut self.sums, sums),
            (&mut self.squares, squares),
            (&mut self.low, low),
            (&mut self.high, high),
        ] {
            all[first..first + W].copy_from_slice(&tile);
        }
    }

    /// Whether it has this number of columns, and all its parts fit together.
    #[must_use]
    pub fn fits(&self, columns: usize) -> bool {
        let Self {
            mean,
            spread,
            low,
            high,
            shift,
            sums,
            squares,
            ..
        } = self;
        [mean, spread, low, high, shift, sums, squares]
            .into_iter()
            .all(|each| each.len() == columns)
    }

    /// Ends the open part.
    fn close(&mut self) {
        if self.open == 0 {
            return;
        }
        let n = self.open as f64;
        let (before, open) = (self.count as f64, self.open as f64);
        for j in 0..self.columns() {
            let mean = self.shift[j] + self.sums[j] / n;
            let spread = (self.squares[j] - self.sums[j] * self.sums[j] / n).max(0.0);
            (self.mean[j], self.spread[j]) =
                joined((before, self.mean[j], self.spread[j]), (open, mean, spread));
        }
        self.count += self.open;
        self.open = 0;
    }

    /// Adds the rows of a later part, and starts another one.
    ///
    /// # Panics
    /// When the numbers of columns differ.
    pub fn merge(&mut self, mut later: Self) {
        assert_eq!(self.columns(), later.columns(), "parts of one table");
        self.close();
        later.close();
        let (n, m) = (self.count as f64, later.count as f64);
        for j in 0..self.columns() {
            (self.mean[j], self.spread[j]) = joined(
                (n, self.mean[j], self.spread[j]),
                (m, later.mean[j], later.spread[j]),
            );
            self.low[j] = self.low[j].min(later.low[j]);
            self.high[j] = self.high[j].max(later.high[j]);
        }
        self.count += later.count;
    }

    /// The same, with the last part ended, so that means and spreads are known.
    #[must_use]
    pub fn finished(mut self) -> Self {
        self.close();
        self
    }

    /// The mean of each column over the parts that have ended.
    #[must_use]
    pub fn means(&self) -> &[f64] {
        &self.mean
    }

    /// The sum of the squared differences from the mean, over the parts that have ended.
    #[must_use]
    pub fn spreads(&self) -> &[f64] {
        &self.spread
    }

    /// The standard deviation of each column, with the number of rows as divisor, over the parts that have ended.
    #[must_use]
    pub fn deviations(&self) -> Vec<f64> {
        let n = self.count.max(1) as f64;
        let spreads = self.spread.iter();
        spreads.map(|spread| (spread / n).sqrt()).collect()
    }

    /// The smallest value of each column.
    #[must_use]
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// The largest value of each column.
    #[must_use]
    pub fn high(&self) -> &[f64] {
        &self.high
    }
}

/// Mean and spread of two parts, each a number of rows, their mean and spread.
fn joined((n, mean, spread): (f64, f64, f64), (m, other, more): (f64, f64, f64)) -> (f64, f64) {
    if n == 0.0 {
        return (other, more);
    }
    let (difference, share) = (other - mean, m / (n + m));
    (
        mean + difference * share,
        spread + more + difference * difference * n * share,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize, columns: usize) -> Vec<f64> {
        let entry = |k: usize| ((k * 7919 + k / columns) % 1013) as f64 / 7.0;
        (0..count * columns)
            .map(|k| entry(k) + 1e9 * (k % columns) as f64)
            .collect()
    }

    #[test]
    fn parts_give_the_moments_of_the_definition() {
        for columns in [1, 3, 4, 7, 9] {
            let rows = rows(500, columns);
            let mut all = ColumnMoments::new(columns);
            for part in rows.chunks(100 * columns) {
                let mut moments = ColumnMoments::new(columns);
                // Pieces of a part change nothing.
                part.chunks(33 * columns)
                    .for_each(|piece| moments.add(piece));
                all.merge(moments);
            }
            let all = all.finished();
            assert_eq!(all.count(), 500);
            for j in 0..columns {
                let column: Vec<f64> = rows.iter().skip(j).step_by(columns).copied().collect();
                let mean = column.iter().sum::<f64>() / 500.0;
                let spread: f64 = column.iter().map(|x| (x - mean) * (x - mean)).sum();
                assert!((all.means()[j] - mean).abs() <= 1e-15 * mean.abs().max(100.0));
                // Means are rounded, so their differences are known to a share of the deviation only.
                let rounding = 4.0 * f64::EPSILON * mean.abs() / (spread / 500.0).sqrt();
                assert!((all.spreads()[j] / spread - 1.0).abs() < 1e-12 + rounding);
                let low = column.iter().copied().fold(f64::INFINITY, f64::min);
                let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert_eq!((all.low()[j], all.high()[j]), (low, high));
            }
        }
    }

    #[test]
    fn pieces_of_a_part_give_the_same_bits() {
        let rows = rows(100, 5);
        let moments = |piece: usize| {
            let mut moments = ColumnMoments::new(5);
            rows.chunks(piece * 5).for_each(|piece| moments.add(piece));
            moments.finished()
        };
        let whole = moments(100);
        assert!([1, 2, 31, 33, 64].into_iter().all(|n| moments(n) == whole));
    }

    #[test]
    fn a_constant_has_no_spread_and_nothing_changes_nothing() {
        let mut all = ColumnMoments::new(1);
        all.merge(ColumnMoments::new(1));
        for _ in 0..3 {
            let mut part = ColumnMoments::new(1);
            part.add(&[0.1; 50]);
            all.merge(part);
        }
        assert_eq!((all.means(), all.spreads()), (&[0.1][..], &[0.0][..]));
        assert_eq!(all.deviations(), [0.0]);
    }
}
