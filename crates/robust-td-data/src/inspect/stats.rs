//! Accumulates range, mean and spread of a stream of numbers.

use serde::{Deserialize, Serialize};

/// Range, mean and spread, updated one number at a time.
///
/// Welford's recursion: mean_n = mean_{n-1} + (x_n - mean_{n-1}) / n and
/// M2_n = M2_{n-1} + (x_n - mean_{n-1})(x_n - mean_n), which does not cancel when the mean is large.
/// (B. P. Welford, Technometrics 4, 1962.)
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Running {
    count: u64,
    min: f64,
    max: f64,
    mean: f64,
    m2: f64,
}

impl Default for Running {
    fn default() -> Self {
        Self {
            count: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            mean: 0.0,
            m2: 0.0,
        }
    }
}

impl Running {
    #[inline]
    pub fn add(&mut self, x: f64) {
        self.count += 1;
        self.min = self.min.min(x);
        self.max = self.max.max(x);
        let before = x - self.mean;
        self.mean += before / self.count as f64;
        self.m2 += before * (x - self.mean);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The statistics, if there were any numbers.
    pub fn stats(&self) -> Option<Stats> {
        (self.count > 0).then(|| Stats {
            min: self.min,
            max: self.max,
            mean: self.mean,
            std: (self.m2 / self.count as f64).sqrt(),
        })
    }
}

/// The same of whole numbers, exactly, so that their order does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lengths {
    count: u64,
    min: u64,
    max: u64,
    sum: u128,
    squares: u128,
}

impl Lengths {
    /// Adds a number.
    pub fn add(&mut self, x: u64) {
        let (sum, squares) = (u128::from(x), u128::from(x) * u128::from(x));
        self.merge(Self {
            count: 1,
            min: x,
            max: x,
            sum,
            squares,
        });
    }

    /// Adds other numbers.
    pub fn merge(&mut self, other: Self) {
        if self.count == 0 || other.count == 0 {
            if self.count == 0 {
                *self = other;
            }
            return;
        }
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are several, all the same.
    pub fn is_constant(&self) -> bool {
        self.count > 1 && self.min == self.max
    }

    /// The statistics, if there were any numbers.
    pub fn stats(&self) -> Option<Stats> {
        let n = u128::from(self.count);
        // n^2 times the variance.
        let spread =
            (n.saturating_mul(self.squares)).saturating_sub(self.sum.saturating_mul(self.sum));
        (n > 0).then(|| Stats {
            min: self.min as f64,
            max: self.max as f64,
            mean: self.sum as f64 / n as f64,
            std: (spread as f64).sqrt() / n as f64,
        })
    }
}

/// Range, mean and spread of a column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stats {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation, with the number of values as divisor.
    pub std: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_same_statistics_in_any_order() {
        let (mut all, mut running) = (Lengths::default(), Running::default());
        let mut halves = [Lengths::default(); 2];
        for k in 0..1000_u64 {
            let x = k * k % 977;
            all.add(x);
            running.add(x as f64);
            halves[(k % 2) as usize].add(x);
        }
        let [mut one, other] = halves;
        one.merge(other);
        assert_eq!(one, all);
        let (exact, rounded) = (all.stats().unwrap(), running.stats().unwrap());
        assert_eq!((exact.min, exact.max), (rounded.min, rounded.max));
        assert!((exact.mean - rounded.mean).abs() < 1e-9);
        assert!((exact.std - rounded.std).abs() < 1e-9);
        assert_eq!(Lengths::default().stats(), None);
    }

    #[test]
    fn a_large_mean_does_not_hide_the_spread() {
        let mut running = Running::default();
        for k in 0..1000 {
            running.add(1e9 + f64::from(k % 2));
        }
        let stats = running.stats().unwrap();
        assert_eq!((stats.min, stats.max), (1e9, 1e9 + 1.0));
        assert!((stats.mean - (1e9 + 0.5)).abs() < 1e-6);
        assert!((stats.std - 0.5).abs() < 1e-9, "{}", stats.std);
        assert_eq!(Running::default().stats(), None);
    }
}
