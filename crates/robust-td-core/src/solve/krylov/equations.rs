//! Adds the part of one transition to a product with A or A', to b, or to a sweep.

use crate::phi::Transition;

/// The equations A theta = b of a log, A = sum rho phi (phi - gamma phi')', b = sum rho r phi; one transition at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equations {
    /// gamma.
    pub discount: f64,
}

impl Equations {
    /// Adds to b and to the sums of rho phi_j^2.
    #[inline]
    pub fn add_sums(self, transition: &Transition<'_>, b: &mut [f64], squares: &mut [f64]) {
        let phi = transition.features;
        phi.axpy(transition.ratio * transition.reward, b);
        phi.for_each(|j, value| squares[j] += transition.ratio * value * value);
    }

    /// y += rho phi (phi - gamma phi') . x, a part of A x.
    #[inline]
    pub fn add_product(self, transition: &Transition<'_>, x: &[f64], y: &mut [f64]) {
        let value = self.difference(transition, x);
        transition.features.axpy(transition.ratio * value, y);
    }

    /// y += rho (phi - gamma phi') (phi . x), a part of A' x.
    #[inline]
    pub fn add_adjoint(self, transition: &Transition<'_>, x: &[f64], y: &mut [f64]) {
        let value = transition.ratio * transition.features.dot(x);
        transition.features.axpy(value, y);
        if let Some(next) = transition.outcome.next_features() {
            next.axpy(-self.discount * value, y);
        }
    }

    /// One step of TD(0) towards A y = x, for a preconditioner: all transitions of the log, from y = 0, in a fixed order.
    ///
    /// ```text
    /// y_j += a_j phi_j / |phi|^2 ( x_j phi_j / squares_j - (phi - gamma phi') . y ),    a_j = max( step, phi_j^2 / squares_j )
    /// ```
    /// Linear in x. A feature that is seen N times is relaxed about step N times in one pass, so on one-hot logs with long
    /// episodes and a discount near 1 it saves most products (a step of 1/2; importance ratios are left out). On tile-coded
    /// logs it may need more products than no preconditioner, and the answer need not be the smallest.
    #[inline]
    pub fn sweep(
        self,
        transition: &Transition<'_>,
        step: f64,
        squares: &[f64],
        x: &[f64],
        y: &mut [f64],
    ) {
        let value = self.difference(transition, y);
        let phi = transition.features;
        let length = phi.norm_sq();
        phi.for_each(|j, phi| {
            if phi != 0.0 {
                let share = phi / squares[j];
                y[j] += step.max(phi * share) * phi / length * (x[j] * share - value);
            }
        });
    }

    /// (phi - gamma phi') . x
    #[inline]
    fn difference(self, transition: &Transition<'_>, x: &[f64]) -> f64 {
        let next = transition.outcome.next_features();
        let next = next.map_or(0.0, |next| next.dot(x));
        transition.features.dot(x) - self.discount * next
    }
}
