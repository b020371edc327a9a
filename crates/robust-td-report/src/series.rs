//! Turns values into marks, clamped to the drawn range.

use serde::Serialize;

use crate::number;
use crate::text::Text;
use crate::{Error, Result};

/// The range to which values on a log axis are clamped; values outside are drawn at the edge and marked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Clamp {
    /// Smallest value drawn.
    pub low: f64,
    /// Largest value drawn.
    pub high: f64,
}

impl Default for Clamp {
    /// The range of the paper's figures, 1e-6 to 1e12.
    fn default() -> Self {
        Self {
            low: 1e-6,
            high: 1e12,
        }
    }
}

/// Which limit a value exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Low,
    High,
}

/// A point to draw; `edge` is set if `y` is a limit and not the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) edge: Option<Edge>,
}

impl Clamp {
    /// # Errors
    /// [`Error::BadClamp`] unless 0 < low < high < infinity.
    pub(crate) fn check(&self) -> Result<()> {
        if !(self.low > 0.0 && self.low < self.high && self.high < f64::INFINITY) {
            return Err(Error::BadClamp {
                low: self.low,
                high: self.high,
            });
        }
        Ok(())
    }

    /// The legend entry for clamped values.
    pub(crate) fn label(&self) -> Text {
        let (low, high) = (number::text(self.low, 3), number::text(self.high, 3));
        Text::plain("clamped to [")
            .then(low)
            .upright(", ")
            .then(high)
            .upright("]")
    }

    /// The mark of `y`. NaN counts as above: in a sweep it results from an overflow.
    pub(crate) fn mark(&self, x: f64, y: f64) -> Mark {
        if y.is_nan() || y > self.high {
            Mark {
                x,
                y: self.high,
                edge: Some(Edge::High),
            }
        } else if y < self.low {
            Mark {
                x,
                y: self.low,
                edge: Some(Edge::Low),
            }
        } else {
            Mark { x, y, edge: None }
        }
    }
}

/// Smallest and largest of the finite `values`.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .filter(|value| value.is_finite())
        .fold(None, |range, value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_outside_are_marked_at_the_limit() {
        let clamp = Clamp::default();
        for (value, y, edge) in [
            (3.0, 3.0, None),
            (1e12, 1e12, None),
            (1.1e12, 1e12, Some(Edge::High)),
            (f64::INFINITY, 1e12, Some(Edge::High)),
            (f64::NAN, 1e12, Some(Edge::High)),
            (0.0, 1e-6, Some(Edge::Low)),
        ] {
            assert_eq!(clamp.mark(1.0, value), Mark { x: 1.0, y, edge });
        }
    }

    #[test]
    fn limits_that_are_no_range_are_refused() {
        for (low, high) in [
            (0.0, 1.0),
            (2.0, 1.0),
            (1.0, f64::INFINITY),
            (f64::NAN, 1.0),
            (1.0, f64::NAN),
        ] {
            assert!(matches!(
                Clamp { low, high }.check(),
                Err(Error::BadClamp { .. })
            ));
        }
        assert!(Clamp::default().check().is_ok());
    }

    #[test]
    fn range_ignores_what_is_not_finite() {
        assert_eq!(
            range([2.0, f64::NAN, 1.0, f64::INFINITY].into_iter()),
            Some((1.0, 2.0))
        );
        assert_eq!(range([f64::NAN].into_iter()), None);
    }
}
