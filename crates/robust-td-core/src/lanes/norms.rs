//! Sums the squared norms of sixteen lanes at once.

use super::line::Line;
use super::vector::Vector;
use super::work::Work;

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
    unsafe fn run<V: Vector>(&mut self) {
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let mut sum = V::splat(0.0);
            for theta in self.theta {
                let x = V::load(theta);
                sum = sum.plus_product(x, x);
            }
            sum.store(self.norms);
        }
    }
}
