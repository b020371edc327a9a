//! Rejects values out of range, with the name of the value.

use crate::error::{Error, Result};

/// The shortest horizon for which Algorithm 1's steps are defined: ln T must exceed 1.
pub const SHORTEST_HORIZON: u64 = 3;

/// Rejects a horizon, or the length of a phase, shorter than [`SHORTEST_HORIZON`].
pub(crate) fn check_horizon(name: &'static str, horizon: u64) -> Result<()> {
    if horizon < SHORTEST_HORIZON {
        return Err(Error::Parameter {
            name,
            value: horizon as f64,
            expected: "at least 3",
        });
    }
    Ok(())
}

/// Rejects a discount outside [0, 1).
pub(crate) fn check_discount(value: f64) -> Result<()> {
    if !(0.0..1.0).contains(&value) {
        return Err(Error::Discount { value });
    }
    Ok(())
}

/// Rejects a value that is not positive and finite.
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if !(value > 0.0 && value.is_finite()) {
        return Err(Error::Parameter {
            name,
            value,
            expected: "finite and above 0",
        });
    }
    Ok(())
}

/// Rejects a trace parameter outside [0, 1].
pub(crate) fn check_lambda(lambda: f64) -> Result<()> {
    if !(0.0..=1.0).contains(&lambda) {
        return Err(Error::Parameter {
            name: "lambda",
            value: lambda,
            expected: "between 0 and 1",
        });
    }
    Ok(())
}

/// Rejects an empty parameter vector.
pub(crate) fn check_dimension(dimension: usize) -> Result<()> {
    if dimension == 0 {
        return Err(Error::Parameter {
            name: "dimension",
            value: 0.0,
            expected: "at least 1",
        });
    }
    Ok(())
}

/// Rejects a list of the wrong length.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found != expected {
        return Err(Error::Length {
            what,
            expected,
            found,
        });
    }
    Ok(())
}
