//! Describes the parameters that a user may set: name, meaning, range, default.

use serde::{Serialize, Serializer};

/// A valid range; as JSON its words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Finite and above 0.
    Positive,
    /// Finite and at least 0.
    NonNegative,
    /// Within [0, 1).
    BelowOne,
    /// Within [0, 1].
    Unit,
    /// Strictly between 0 and 1.
    OpenUnit,
    /// An integer of at least this value.
    Whole(u64),
    /// Finite and above 1.
    AboveOne,
}

impl Range {
    /// The range in words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Positive => "finite and above 0".into(),
            Self::NonNegative => "finite and at least 0".into(),
            Self::BelowOne => "at least 0 and below 1".into(),
            Self::Unit => "between 0 and 1".into(),
            Self::OpenUnit => "above 0 and below 1".into(),
            Self::Whole(0) => "a whole number".into(),
            Self::Whole(least) => format!("a whole number, at least {least}"),
            Self::AboveOne => "finite and above 1".into(),
        }
    }

    /// Whether a value is in the range; NaN never is.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        let finite = value.is_finite();
        finite
            && match self {
                Self::Positive => value > 0.0,
                Self::NonNegative => value >= 0.0,
                Self::BelowOne => (0.0..1.0).contains(&value),
                Self::Unit => (0.0..=1.0).contains(&value),
                Self::OpenUnit => value > 0.0 && value < 1.0,
                // Beyond 2^53 not every integer has its own f64.
                Self::Whole(least) => {
                    value.fract() == 0.0
                        && value >= least as f64
                        && value <= 9_007_199_254_740_992.0
                }
                Self::AboveOne => value > 1.0,
            }
    }
}

impl Serialize for Range {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.words())
    }
}

/// A parameter that a user may set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// Its valid range.
    pub range: Range,
    /// Its default, in words.
    pub default: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_says_from_where_on() {
        assert_eq!(Range::Whole(0).words(), "a whole number");
        for least in [1, 3, 8] {
            let words = format!("a whole number, at least {least}");
            assert_eq!(Range::Whole(least).words(), words);
            assert!(Range::Whole(least).contains(least as f64));
            assert!(!Range::Whole(least).contains(least as f64 - 1.0));
        }
    }
}
