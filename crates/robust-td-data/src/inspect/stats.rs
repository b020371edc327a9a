//! Accumulates range, mean and spread of a stream of numbers.

use serde::Serialize;

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

    pub fn is_constant(&self) -> bool {
        self.count > 1 && self.min == self.max
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
