//! Sums the squared norms of sixteen lanes at once.

use robust_td_simd::{Simd, Vector, Wide, Work};

use super::line::Line;

/// |theta|^2 of one line.
pub struct Norms<'a> {
    /// The d coordinates.
    pub theta: &'a [Line],
    /// The norms.
    pub norms: &'a mut Line,
}

impl Work for Norms<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        let mut sum = s.splat16(0.0);
        for theta in self.theta {
            let x = s.load16(theta);
            sum = x.fma(x, sum);
        }
        sum.store(self.norms);
    }
}
