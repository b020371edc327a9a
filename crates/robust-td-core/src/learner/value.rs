//! Evaluates a learned value function at many states.

use crate::phi::Features;

/// A linear value function, V(s) = phi(s) . theta + offset.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearValue {
    /// The weights of the features.
    pub theta: Vec<f64>,
    /// The constant added to all values; 0 for most methods.
    pub offset: f64,
}

impl LinearValue {
    /// V(s) for the features of a state.
    ///
    /// # Panics
    /// When the features do not have the dimension of theta; see [`Features::check`].
    #[inline]
    #[must_use]
    pub fn value<'a>(&self, features: impl Into<Features<'a>>) -> f64 {
        features.into().dot(&self.theta) + self.offset
    }

    /// Whether every weight and the offset are finite, so that every value is a number.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.offset.is_finite() && self.theta.iter().all(|x| x.is_finite())
    }
}
