//! Measures the range of every coordinate and maps it to [0, 1].

use serde::{Deserialize, Serialize};

/// The interval of every coordinate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    #[serde(with = "crate::exact_float")]
    low: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    high: Vec<f64>,
}

impl Range {
    /// The same interval for all coordinates.
    pub fn uniform(low: f64, high: f64, inputs: usize) -> Self {
        Self {
            low: vec![low; inputs],
            high: vec![high; inputs],
        }
    }

    /// The intervals from `low` to `high`.
    pub fn new(low: Vec<f64>, high: Vec<f64>) -> Self {
        Self { low, high }
    }

    /// The number of coordinates.
    pub fn inputs(&self) -> usize {
        self.low.len()
    }

    /// Whether this is a valid range for `inputs` coordinates.
    pub fn fits(&self, inputs: usize) -> bool {
        let proper = |(low, high): (&f64, &f64)| low <= high && low.is_finite() && high.is_finite();
        self.low.len() == inputs
            && self.high.len() == inputs
            && self.low.iter().zip(&self.high).all(proper)
    }

    /// The low end and the width of coordinate i. The width of a constant coordinate is infinite, so that the
    /// quotient in [`Range::unit`] is 0.
    pub fn low_and_width(&self, i: usize) -> (f64, f64) {
        let (low, high) = (self.low[i], self.high[i]);
        let width = if high > low {
            high - low
        } else {
            f64::INFINITY
        };
        (low, width)
    }

    /// The point at a fraction of the interval of coordinate i.
    pub fn fraction(&self, i: usize, numerator: usize, denominator: usize) -> f64 {
        let (low, high) = (self.low[i], self.high[i]);
        match numerator == denominator {
            true => high,
            false => low + numerator as f64 * (high - low) / denominator as f64,
        }
    }

    /// The position of x within the interval of coordinate i: 0 at its low end, 1 at its high end, clamped.
    ///
    /// A constant coordinate maps to 0.
    #[inline]
    pub fn unit(&self, i: usize, x: f64) -> f64 {
        let (low, high) = (self.low[i], self.high[i]);
        if high > low {
            ((x - low) / (high - low)).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_clamped_and_constant_coordinates_are_zero() {
        let range = Range::new(vec![-1.0, 5.0], vec![3.0, 5.0]);
        let units = [-2.0, -1.0, 0.0, 3.0, 9.0].map(|x| range.unit(0, x));
        assert_eq!(units, [0.0, 0.0, 0.25, 1.0, 1.0]);
        assert_eq!(range.unit(1, 7.0), 0.0);
        assert!(range.fits(2) && !range.fits(1));
        assert!(!Range::uniform(2.0, 1.0, 1).fits(1) && !Range::uniform(0.0, f64::NAN, 1).fits(1));
    }
}
