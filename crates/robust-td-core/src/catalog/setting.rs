//! Holds the value of a catalog parameter: a number, or a word where the parameter is a choice.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The value that a user gives to a parameter.
///
/// ```
/// use robust_td_core::catalog::{self, Setting};
///
/// let settings = [("eps1", Setting::from(1e-4)), ("mode", "weak".into())];
/// let problem = catalog::find("e3")?.build(&settings)?;
/// assert_eq!(problem.states(), 3);
/// # Ok::<(), robust_td_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number or a word")]
pub enum Setting {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl From<f64> for Setting {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&f64> for Setting {
    fn from(number: &f64) -> Self {
        Self::Number(*number)
    }
}

impl From<&str> for Setting {
    fn from(word: &str) -> Self {
        Self::Word(word.into())
    }
}

impl From<&Self> for Setting {
    fn from(setting: &Self) -> Self {
        setting.clone()
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// The value that a parameter has when it is not set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Standard {
    /// A number.
    Number(f64),
    /// A word.
    Word(&'static str),
}

impl From<Standard> for Setting {
    fn from(standard: Standard) -> Self {
        match standard {
            Standard::Number(number) => Self::Number(number),
            Standard::Word(word) => word.into(),
        }
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}
