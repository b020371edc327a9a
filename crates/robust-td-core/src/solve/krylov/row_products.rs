//! Adds the part of one transition to a product with A or A'.

use crate::phi::Transition;

/// The equations A theta = b of a log, A = sum rho phi (phi - gamma phi')', b = sum rho r phi; one transition at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowProducts {
    /// gamma.
    pub discount: f64,
}

impl RowProducts {
    /// Visits the terms (j, term) that a transition adds to A x = sum rho phi (phi - gamma phi') . x, or to
    /// A' x = sum rho (phi - gamma phi') (phi . x).
    #[inline]
    pub fn terms(
        self,
        transition: &Transition<'_>,
        x: &[f64],
        adjoint: bool,
        mut visit: impl FnMut(usize, f64),
    ) {
        let (phi, ratio) = (transition.features, transition.ratio);
        if !adjoint {
            let weight = ratio * self.difference(transition, x);
            phi.for_each(|j, value| visit(j, weight * value));
            return;
        }
        let weight = ratio * phi.dot(x);
        phi.for_each(|j, value| visit(j, weight * value));
        if let Some(next) = transition.outcome.next_features() {
            next.for_each(|j, value| visit(j, -self.discount * weight * value));
        }
    }

    /// (phi - gamma phi') . x
    #[inline]
    fn difference(self, transition: &Transition<'_>, x: &[f64]) -> f64 {
        let next = transition.outcome.next_features();
        let next = next.map_or(0.0, |next| next.dot(x));
        transition.features.dot(x) - self.discount * next
    }
}
