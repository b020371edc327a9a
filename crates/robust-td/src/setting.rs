//! Parses settings as people write them: `scale=16`.

/// Why a text is not `KEY=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// No `=`.
    #[error("a setting is written KEY=VALUE, as in scale=16")]
    NoEquals,
    /// Nothing before the `=`.
    #[error("the name before = is empty")]
    NoName,
    /// A value that is infinite or NaN.
    #[error("{value:?} is not a finite number")]
    NotFinite {
        /// The value.
        value: String,
    },
    /// A value that is not a number.
    #[error("{value:?} is not a number")]
    NotANumber {
        /// The value.
        value: String,
    },
}

/// Parses `key=value`.
///
/// ```
/// assert_eq!(robust_td::setting("scale = 16"), Ok(("scale".into(), 16.0)));
/// assert!(robust_td::setting("scale=inf").is_err());
/// ```
pub fn setting(text: &str) -> Result<(String, f64), SettingError> {
    let (key, value) = text.split_once('=').ok_or(SettingError::NoEquals)?;
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() {
        return Err(SettingError::NoName);
    }
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((key.to_string(), number)),
        Ok(_) => Err(SettingError::NotFinite {
            value: value.into(),
        }),
        Err(_) => Err(SettingError::NotANumber {
            value: value.into(),
        }),
    }
}
