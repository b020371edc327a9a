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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_is_part_of_every_value() {
        let function = LinearValue {
            theta: vec![2.0, -1.0],
            offset: 0.5,
        };
        assert_eq!(function.value(&[1.0, 1.0]), 1.5);
        let sparse = Features::Sparse {
            indices: &[1],
            values: &[3.0],
        };
        assert_eq!(function.value(sparse), -2.5);
        assert!(function.is_finite());
        for bad in [f64::NAN, f64::INFINITY] {
            let theta = vec![bad, 0.0];
            assert!(!LinearValue { theta, offset: 0.0 }.is_finite());
        }
    }
}
