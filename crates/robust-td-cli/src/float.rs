//! Parses numbers, with messages that say what is expected.

/// Parses a number.
pub fn parse(text: &str) -> Result<f64, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not a number"))
}

/// Parses a positive finite number.
pub fn positive(text: &str) -> Result<f64, String> {
    match parse(text)? {
        number if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("must be positive and finite".into()),
    }
}

/// Parses a discount; its range is checked where it is used.
pub fn discount(text: &str) -> Result<f64, String> {
    parse(text).map_err(|error| format!("{error}; a discount is from 0 to 1, such as 0.99"))
}
