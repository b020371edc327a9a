//! Estimates the error of a ratio of two sums over independent units.

use serde::{Deserialize, Serialize};

/// What an episode or a cluster adds to a ratio of two sums.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Share {
    #[serde(with = "robust_td_core::exact_float")]
    pub sum: f64,
    #[serde(with = "robust_td_core::exact_float")]
    pub count: f64,
}

/// The sums of squares that give the error of a ratio of two sums.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Squares {
    /// The number of independent shares.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub units: u64,
    /// Sums of s^2, s n and n^2.
    sums: [f64; 3],
}

impl Squares {
    /// Adds a share, unless it is empty.
    pub fn add(&mut self, Share { sum: s, count: n }: Share) {
        self.units += u64::from(n > 0.0);
        for (sum, square) in self.sums.iter_mut().zip([s * s, s * n, n * n]) {
            *sum += square;
        }
    }

    /// Adds the sums of other units.
    pub fn merge(&mut self, other: &Self) {
        self.units += other.units;
        for (sum, more) in self.sums.iter_mut().zip(other.sums) {
            *sum += more;
        }
    }

    /// The sum of (s - D n)^2 for the ratio D; infinite if squares have lost digits because they are too small.
    pub fn around(&self, ratio: f64) -> f64 {
        const SMALLEST: f64 = f64::MIN_POSITIVE / f64::EPSILON;
        let [ss, sn, nn] = self.sums;
        if ratio != 0.0 && ss < SMALLEST {
            return f64::INFINITY;
        }
        let around = ss - 2.0 * ratio * sn + ratio * ratio * nn;
        // Rounding may make a sum of squares that is 0 negative. What overflows is not 0.
        if around < 0.0 { 0.0 } else { around }
    }

    /// The square root of the sum of n^2: the error of a ratio whose shares differ from it by n times a number of variance 1.
    pub fn of_one(&self) -> f64 {
        let [.., nn] = self.sums;
        nn.sqrt()
    }
}

impl Share {
    /// Adds another part of the same unit.
    pub fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of squares of these sums, of one row each, around their mean.
    fn around(sums: [f64; 3]) -> f64 {
        let mut squares = Squares::default();
        for sum in sums {
            squares.add(Share { sum, count: 1.0 });
        }
        squares.around(sums.iter().sum::<f64>() / 3.0)
    }

    #[test]
    fn squares_that_underflow_are_not_known() {
        assert_eq!(around([1.0, 2.0, 3.0]), 2.0);
        assert_eq!(around([2.0; 3]), 0.0);
        assert_eq!(around([0.0; 3]), 0.0);
        for unit in [1e-140, 1e-100, 1e100] {
            let scaled = around([unit, 2.0 * unit, 3.0 * unit]) / unit / unit;
            assert!((scaled - 2.0).abs() < 1e-12, "{unit}: {scaled}");
        }
        for unit in [1e-150, 1e-180, 1e-300] {
            assert_eq!(around([unit, 2.0 * unit, 3.0 * unit]), f64::INFINITY);
        }
    }
}
