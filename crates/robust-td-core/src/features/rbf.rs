//! Computes Gaussian radial basis functions on a grid of centres.

use serde::{Deserialize, Serialize};

use super::names::number;
use super::range::Range;

/// x -> exp(-|u - centre|^2 / (2 width^2)), u = x scaled to [0, 1]^d, for a grid of centres.
///
/// `centres` per coordinate, from 0 to 1 (one centre alone sits at 1/2); the width is a multiple of their distance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rbf {
    centres: usize,
    #[serde(with = "crate::exact_float")]
    width: f64,
    range: Range,
}

impl Rbf {
    /// The number of features; `None` on overflow.
    pub fn count(centres: usize, inputs: usize) -> Option<usize> {
        centres.checked_pow(u32::try_from(inputs).ok()?)
    }

    pub fn new(centres: usize, width: f64, range: Range) -> Self {
        Self {
            centres,
            width,
            range,
        }
    }

    pub fn outputs(&self) -> usize {
        Self::count(self.centres, self.range.inputs()).unwrap_or(usize::MAX)
    }

    pub fn fits(&self, inputs: usize) -> bool {
        let count = Self::count(self.centres, inputs);
        let counted = count.is_some_and(|n| (1..=super::MAX_FEATURES).contains(&n));
        counted && self.width > 0.0 && self.width.is_finite() && self.range.fits(inputs)
    }

    /// The name of a feature; `input` names the coordinates.
    pub fn name(&self, index: usize, input: &dyn Fn(usize) -> String) -> String {
        let (mut rest, mut centre) = (index, Vec::new());
        for i in 0..self.range.inputs() {
            let (numerator, denominator) = match self.centres {
                1 => (1, 2),
                n => (rest % n, n - 1),
            };
            let value = self.range.fraction(i, numerator, denominator);
            centre.push(format!("{}={}", input(i), number(value)));
            rest /= self.centres;
        }
        format!("rbf({})", centre.join(", "))
    }

    #[inline]
    pub fn write(&self, x: &[f64], put: &mut impl FnMut(usize, f64)) {
        let (first, distance) = match self.centres {
            1 => (0.5, 1.0),
            n => (0.0, 1.0 / (n - 1) as f64),
        };
        let scale = 0.5 / (self.width * distance * self.width * distance);
        for index in 0..self.outputs() {
            let (mut rest, mut distance_sq) = (index, 0.0);
            for (i, &x) in x.iter().enumerate() {
                let centre = first + (rest % self.centres) as f64 * distance;
                let away = self.range.unit(i, x) - centre;
                distance_sq += away * away;
                rest /= self.centres;
            }
            put(index, (-scale * distance_sq).exp());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bumps_peak_at_their_centres() {
        let map = Rbf::new(3, 1.0, Range::uniform(0.0, 2.0, 2));
        for index in 0..9 {
            let x = [(index % 3) as f64, (index / 3) as f64];
            let mut row = [0.0; 9];
            map.write(&x, &mut |k, value| row[k] = value);
            assert_eq!(row[index], 1.0);
            let nearest = row
                .iter()
                .filter(|&&v| (v - (-0.5_f64).exp()).abs() < 1e-15);
            let sides = (index % 3 == 1) as usize + (index / 3 == 1) as usize + 2;
            assert_eq!(nearest.count(), sides, "{row:?}");
        }
    }
}
