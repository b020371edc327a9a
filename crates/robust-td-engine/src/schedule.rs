//! Computes how step sizes fall: b_t of consecutive steps, for step sizes eta = b_t k1 + k0.

pub use robust_td_core::schedule::decay;
use robust_td_core::schedule::decay_with_log;
use robust_td_simd::{Kernel, Simd, Work};

use crate::family::Family;

/// The number of steps that share one logarithm.
const SHARED: usize = 64;
/// The index from which logarithms are shared.
const SERIES: u64 = (SHARED as u64) << 7;

/// How step sizes fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// 1 / (log(t+3) sqrt(t+1)).
    Robust,
    /// 1 / (log(t+3)^2 sqrt(t+1)).
    RobustSquared,
    /// 1 / t.
    Inverse,
    /// 1 / sqrt(t).
    InverseRoot,
    /// 1 / t^(2/3).
    InverseTwoThirds,
}

/// A shape, and the t of the first update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    shape: Shape,
    first: u64,
}

impl Pattern {
    /// The pattern of a family; `first` is the t of the first update for those that count as the mode says.
    pub fn of(family: Family, first: u64) -> Self {
        let counted = |shape: Shape| Self { shape, first: 1 };
        match family {
            Family::Decaying
            | Family::Constant
            | Family::Plain
            | Family::ConstantOmega
            | Family::InvC => Self {
                shape: Shape::Robust,
                first,
            },
            Family::Theory => counted(Shape::Robust),
            Family::TheoryLog2 => counted(Shape::RobustSquared),
            Family::InvT | Family::InvOmegaT => counted(Shape::Inverse),
            Family::InvSqrtT => counted(Shape::InverseRoot),
            Family::InvT23 => counted(Shape::InverseTwoThirds),
        }
    }

    /// b_t of the update number `update` (1, 2, ..).
    pub fn at(self, update: u64) -> f64 {
        let t = update - 1 + self.first;
        let x = t as f64;
        match self.shape {
            Shape::Robust => decay(t),
            Shape::RobustSquared => decay(t) / (x + 3.0).ln(),
            Shape::Inverse => 1.0 / x,
            Shape::InverseRoot => 1.0 / x.sqrt(),
            Shape::InverseTwoThirds => {
                let root = x.cbrt();
                1.0 / (root * root)
            }
        }
    }

    /// Fills in b_t of the updates after `done`.
    pub fn fill(self, kernel: Kernel, done: u64, out: &mut [f64]) {
        match self.shape {
            Shape::Robust => {
                let first = done + self.first;
                kernel.run(Decays { first, out });
            }
            _ => {
                for (update, b) in (done + 1..).zip(out) {
                    *b = self.at(update);
                }
            }
        }
    }
}

/// Fills in b_t = 1 / (log(t+3) sqrt(t+1)) for t = first, first + 1, ..
///
/// A logarithm, a square root and a division per step would be a noticeable part of a sweep. For large t, 64 consecutive
/// steps have the logarithms log(t + 3) + log(1 + x) with t the first of them and x = i / (t + 3) < 2^-7.
/// The remainder of the series for log(1 + x) after seven terms is below half an ulp of the sum, and the loop vectorises.
pub(crate) struct Decays<'a> {
    pub first: u64,
    pub out: &'a mut [f64],
}

impl Work for Decays<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, _: S) {
        let firsts = (self.first..).step_by(SHARED);
        for (first, out) in firsts.zip(self.out.chunks_mut(SHARED)) {
            if first < SERIES {
                for (i, b) in out.iter_mut().enumerate() {
                    *b = decay(first + i as u64);
                }
            } else {
                series(first as f64, out);
            }
        }
    }
}

#[inline(always)]
fn series(first: f64, out: &mut [f64]) {
    let base = (first + 3.0).ln();
    let inverse = 1.0 / (first + 3.0);
    for (i, b) in out.iter_mut().enumerate() {
        let x = i as f64 * inverse;
        let mut series = 1.0 / 7.0;
        for n in [6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
            series = 1.0 / n - x * series;
        }
        let log = base + x * series;
        *b = decay_with_log(log, first + i as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;

    #[test]
    fn the_series_is_exact_to_rounding() {
        for first in [
            0,
            1,
            100,
            SERIES - 1,
            SERIES,
            SERIES + 12345,
            9_999_000,
            1 << 40,
        ] {
            let mut out = [0.0; 1024];
            let into = &mut out;
            Kernel::best().run(Decays { first, out: into });
            for (i, b) in out.into_iter().enumerate() {
                let exact = decay(first + i as u64);
                assert!(
                    (b / exact - 1.0).abs() < 6e-16,
                    "{first} + {i}: {b} {exact}"
                );
            }
        }
    }
}
