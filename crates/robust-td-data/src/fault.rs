//! Describes one bad row: its file, row, column and value.

use std::fmt;

use robust_td_core::number::entries;
use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::value;
use crate::words::quoted;

/// The maximum number of characters of a value shown in a message.
const SHOWN: usize = 60;

/// One unusable row, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The file, as it was named, or `stdin`.
    pub file: String,
    /// The row among the file's data rows, from 1.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub row: u64,
    /// The line of a text file on which the row starts, from 1.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub line: Option<u64>,
    /// The column, if one is at fault.
    pub column: Option<String>,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FaultKind {
    /// An empty cell or a null.
    Missing,
    /// NaN or an infinity.
    NotFinite {
        /// The value.
        value: String,
    },
    /// A value that is not a number.
    NotANumber {
        /// The value.
        value: String,
    },
    /// A flag that is neither true nor false.
    NotAFlag {
        /// The value.
        value: String,
    },
    /// An episode that is neither an integer nor text.
    NotAnEpisode {
        /// The value.
        value: String,
    },
    /// An importance ratio below 0.
    NegativeRatio {
        /// The value.
        value: String,
    },
    /// A value that is not one of the actions.
    NotAnAction {
        /// The value, and the actions.
        problem: String,
    },
    /// A probability outside of [0, 1].
    NotAProbability {
        /// The value.
        value: String,
    },
    /// Probabilities of all actions that do not sum to 1.
    ProbabilitySum {
        /// Their sum.
        sum: String,
    },
    /// A probability of the action taken that is not above 0, or above 1.
    NotAPropensity {
        /// The value.
        value: String,
    },
    /// A value that is not a list of numbers.
    NotAList {
        /// The value.
        value: String,
    },
    /// A list whose length differs from earlier rows.
    Ragged {
        /// The expected number of entries.
        expected: usize,
        /// The actual number.
        found: usize,
    },
    /// A CSV row with too many or too few fields.
    FieldCount {
        /// The number of fields in the header.
        expected: usize,
        /// The number of fields in the row.
        found: usize,
    },
    /// A JSON line without one of the fields that the first line has.
    MissingField,
    /// A JSON line with a field that fills a role but is absent from the first line.
    UnexpectedField {
        /// The field.
        name: String,
    },
    /// A JSON line with the same field twice.
    DuplicateField,
    /// A text of a category that is too long.
    LongText {
        /// The text.
        value: String,
        /// The maximum number of bytes.
        limit: usize,
    },
    /// Too many different texts.
    TooManyTexts {
        /// The maximum size of all in bytes.
        limit: usize,
    },
    /// A text whose code another one has.
    SameCode {
        /// The text.
        value: String,
        /// The other one.
        other: String,
    },
    /// A value that is neither text, nor a number or a flag.
    NotALevel {
        /// The value.
        value: String,
    },
    /// A missing cell of a category.
    MissingLevel {
        /// The column.
        column: String,
    },
    /// A number in a column whose first rows are text.
    NumberInText {
        /// The number.
        value: String,
        /// The column.
        column: String,
    },
    /// A text in a column of numbers.
    TextInNumbers {
        /// The text.
        value: String,
        /// The column.
        column: String,
    },
    /// Text that is not CSV or not JSON.
    Syntax {
        /// The message of the parser.
        message: String,
    },
}

impl FaultKind {
    /// A value that is not one of the actions.
    pub(crate) fn not_an_action(value: &str, expected: &str) -> Self {
        // In one text, because all errors are as large as the largest.
        let problem = format!("{value:?} is not an action ({expected})");
        Self::NotAnAction { problem }
    }

    /// The notations in which a text that is not a number would be one.
    #[must_use]
    pub fn dialects(&self) -> Vec<Dialect> {
        match self {
            Self::NotANumber { value } => Dialect::guesses(value).collect(),
            _ => Vec::new(),
        }
    }

    /// The kind without its values, used for counting.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Missing => "missing-value",
            Self::NotFinite { .. } => "not-finite",
            Self::NotANumber { .. } => "not-a-number",
            Self::NotAFlag { .. } => "not-a-flag",
            Self::NotAnEpisode { .. } => "not-an-episode",
            Self::NegativeRatio { .. } => "negative-ratio",
            Self::NotAnAction { .. } => "not-an-action",
            Self::NotAProbability { .. } => "not-a-probability",
            Self::ProbabilitySum { .. } => "probability-sum",
            Self::NotAPropensity { .. } => "not-a-propensity",
            Self::NotAList { .. } => "not-a-list",
            Self::Ragged { .. } => "ragged-list",
            Self::FieldCount { .. } => "field-count",
            Self::MissingField => "missing-field",
            Self::UnexpectedField { .. } => "unexpected-field",
            Self::DuplicateField => "duplicate-field",
            Self::LongText { .. } => "long-text",
            Self::TooManyTexts { .. } => "too-many-texts",
            Self::SameCode { .. } => "same-code",
            Self::NotALevel { .. } => "not-a-level",
            Self::MissingLevel { .. } => "missing-value",
            Self::NumberInText { .. } => "number-in-text",
            Self::TextInNumbers { .. } => "not-a-number",
            Self::Syntax { .. } => "syntax",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the value is missing"),
            Self::NotFinite { value } => write!(f, "{value:?} is not a finite number"),
            Self::NotANumber { value } => {
                write!(f, "{value:?} is not a number")?;
                match Dialect::guesses(value).next() {
                    Some(dialect) if dialect.is_plain() => {
                        f.write_str(" in the notation that is set")
                    }
                    Some(_) => f.write_str(" with a decimal point and no thousands separator"),
                    None if is_answer(value) => {
                        f.write_str(" (true and false are read as 1 and 0)")
                    }
                    None if is_time(value) => {
                        f.write_str("; write a date or time as one, such as seconds since a start")
                    }
                    None => Ok(()),
                }
            }
            Self::NotAFlag { value } => {
                write!(f, "{value:?} is not a flag (true, false, 1 or 0)")
            }
            Self::NotAnEpisode { value } => {
                write!(f, "{value:?} is not an episode (an integer or text)")
            }
            Self::NegativeRatio { value } => {
                write!(f, "{value:?} is not an importance ratio (a number >= 0)")
            }
            Self::NotAnAction { problem } => f.write_str(problem),
            Self::NotAProbability { value } => {
                write!(f, "{value:?} is not a probability (a number from 0 to 1)")
            }
            Self::ProbabilitySum { sum } => write!(
                f,
                "the probabilities of all actions sum to {sum}, not to 1 (a column may be missing; they are not scores or logits)"
            ),
            Self::NotAPropensity { value } => write!(
                f,
                "{value:?} is not the probability of the action taken (above 0, up to 1)"
            ),
            Self::NotAList { value } => write!(f, "{value:?} is not a list of numbers"),
            Self::Ragged { expected, found } => write!(
                f,
                "the list has {}, but earlier rows have {expected}",
                entries(*found)
            ),
            Self::FieldCount { expected, found } => {
                write!(f, "{found} fields, but the header has {expected}")
            }
            Self::MissingField => f.write_str("the field is missing"),
            Self::UnexpectedField { name } => {
                write!(
                    f,
                    "the field {name} appears here, but not in the file's first line"
                )
            }
            Self::DuplicateField => f.write_str("the field appears twice"),
            Self::LongText { value, limit } => {
                write!(
                    f,
                    "{value:?} is longer than {limit} bytes, the maximum of a category"
                )
            }
            Self::TooManyTexts { limit } => write!(
                f,
                "the categories have more than {limit} bytes of different texts; is one of them an identifier or free text?"
            ),
            Self::SameCode { value, other } => write!(
                f,
                "{value:?} and {other:?} have the same internal code; rename one of them"
            ),
            Self::NotALevel { value } => {
                write!(f, "{value:?} is not a category (text, a number or a flag)")
            }
            Self::MissingLevel { column } => write!(
                f,
                "the value is missing; one-hot({}; missing=level) makes missing values a level",
                quoted(column)
            ),
            Self::NumberInText { value, column } => write!(
                f,
                "{value} is a number, but the first rows are text; if the column is a category, name it: one-hot({})",
                quoted(column)
            ),
            Self::TextInNumbers { value, column } => write!(
                f,
                "{value:?} is not a number; if the column is a category, use one-hot({}) in the features",
                quoted(column)
            ),
            Self::Syntax { message } => f.write_str(message),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: row {}", self.file, self.row)?;
        if let Some(line) = self.line {
            write!(f, " (line {line})")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

/// Whether a text means true or false in words that are not flags.
fn is_answer(text: &str) -> bool {
    ["yes", "no", "y", "n", "t", "f", "on", "off"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a text is a date or a time of day: `2024-05-01`, `1.5.2024`, `12:30`.
fn is_time(text: &str) -> bool {
    let mut parts = text.split(['-', '/', '.', ':', 'T', 'Z', ' ', '+']);
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let [first, second] = [parts.next(), parts.next()];
    first.is_some_and(digits)
        && second.is_some_and(digits)
        && parts.all(|p| p.is_empty() || digits(p))
}

/// Whether a text may be the level of a category: it starts with a letter, perhaps after signs that are in no number, and is neither a flag, nor
/// a word for a missing value or an answer.
pub(crate) fn is_word(text: &str) -> bool {
    let letters = text.trim_start_matches(|c: char| "\"'`([{<,;:*_~!?/\\".contains(c));
    letters.starts_with(char::is_alphabetic) && is_odd(text) && !is_answer(text)
}

/// Whether a text is neither a number in any notation, nor a flag, nor a word for a missing value.
pub(crate) fn is_odd(text: &str) -> bool {
    const MISSING: [&str; 11] = [
        "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "inf", "infinity", "-inf",
    ];
    !text.is_empty()
        && !MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
        && value::flag(text.as_bytes()).is_err()
        && Dialect::guesses(text).next().is_none()
}

/// The text of an offending value, shortened to fit a message.
pub(crate) fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}
