//! Multiplies in scaled coordinates, counts the products and reports progress.

use std::ops::ControlFlow;

use super::Progress;

/// Why an iteration ended before its own time.
pub(super) enum Halt<E> {
    /// A callback failed.
    Failed(E),
    /// The progress callback asked to stop.
    Cancelled,
    /// No products are left.
    Limit,
}

/// A callback y = f(x).
pub(super) type Map<'a, E> = &'a mut dyn FnMut(&[f64], &mut [f64]) -> Result<(), E>;

/// The operator B = S A S and its counters.
pub(super) struct Work<'a, E> {
    pub product: Map<'a, E>,
    pub progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    /// S: 1 / sqrt(squares), 0 for coordinates that are never seen.
    pub scale: Vec<f64>,
    /// Scratch space for S x.
    pub scaled: Vec<f64>,
    /// The norm of the residual, as far as the iteration knows.
    pub estimate: f64,
    /// The norm of the right-hand side.
    pub whole: f64,
    pub products: usize,
    pub limit: usize,
}

impl<E> Work<'_, E> {
    /// y = S A S x.
    pub fn product(&mut self, x: &[f64], y: &mut [f64]) -> Result<(), Halt<E>> {
        if self.products >= self.limit {
            return Err(Halt::Limit);
        }
        for ((scaled, x), scale) in self.scaled.iter_mut().zip(x).zip(&self.scale) {
            *scaled = scale * x;
        }
        (self.product)(&self.scaled, y).map_err(Halt::Failed)?;
        for (y, scale) in y.iter_mut().zip(&self.scale) {
            *y = if *scale > 0.0 { *y * scale } else { 0.0 };
        }
        self.report()
    }

    fn report(&mut self) -> Result<(), Halt<E>> {
        self.products += 1;
        let progress = Progress {
            products: self.products,
            residual: self.estimate / self.whole,
        };
        match (self.progress)(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Halt::Cancelled),
        }
    }
}
