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
    pub precondition: Option<Map<'a, E>>,
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
        self.admit()?;
        for ((scaled, x), scale) in self.scaled.iter_mut().zip(x).zip(&self.scale) {
            *scaled = scale * x;
        }
        (self.product)(&self.scaled, y).map_err(Halt::Failed)?;
        for (y, scale) in y.iter_mut().zip(&self.scale) {
            *y = if *scale > 0.0 { *y * scale } else { 0.0 };
        }
        self.report()
    }

    /// v -> S^{-1} M^{-1} S^{-1} v with the given approximate inverse M^{-1}; without one, v stays.
    pub fn precondition(&mut self, v: &mut [f64]) -> Result<(), Halt<E>> {
        if self.precondition.is_none() {
            return Ok(());
        }
        self.admit()?;
        let unscale = |v: f64, scale: f64| if scale > 0.0 { v / scale } else { 0.0 };
        for ((scaled, v), &scale) in self.scaled.iter_mut().zip(v.iter()).zip(&self.scale) {
            *scaled = unscale(*v, scale);
        }
        if let Some(precondition) = &mut self.precondition {
            precondition(&self.scaled, v).map_err(Halt::Failed)?;
        }
        for (v, &scale) in v.iter_mut().zip(&self.scale) {
            *v = unscale(*v, scale);
        }
        self.report()
    }

    fn admit(&self) -> Result<(), Halt<E>> {
        if self.products >= self.limit {
            return Err(Halt::Limit);
        }
        Ok(())
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
