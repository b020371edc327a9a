//! Parses settings as people write them: `scale=16`.

use robust_td_core::catalog::Setting;

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

/// Parses `key=value` where the value is a number.
///
/// ```
/// assert_eq!(robust_td::setting("scale = 16"), Ok(("scale".into(), 16.0)));
/// assert!(robust_td::setting("scale=inf").is_err());
/// ```
pub fn setting(text: &str) -> Result<(String, f64), SettingError> {
    match problem_setting(text)? {
        (key, Setting::Number(number)) => Ok((key, number)),
        (_, Setting::Word(value)) => Err(SettingError::NotANumber { value }),
    }
}

/// Parses `key=value` where the value is a number or a word.
///
/// ```
/// assert_eq!(robust_td::problem_setting("mode=weak"), Ok(("mode".into(), "weak".into())));
/// assert_eq!(robust_td::problem_setting("m=8"), Ok(("m".into(), 8.0.into())));
/// ```
pub fn problem_setting(text: &str) -> Result<(String, Setting), SettingError> {
    let (key, value) = text.split_once('=').ok_or(SettingError::NoEquals)?;
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() {
        return Err(SettingError::NoName);
    }
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((key.to_string(), number.into())),
        Ok(_) => Err(SettingError::NotFinite {
            value: value.into(),
        }),
        Err(_) => Ok((key.to_string(), value.into())),
    }
}
