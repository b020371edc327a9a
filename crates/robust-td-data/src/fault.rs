//! Describes one bad row: its file, row, column and value.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much of an offending value a message shows.
const SHOWN: usize = 60;

/// One row that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The file, as it was named, or `stdin`.
    pub file: String,
    /// The row among the file's data rows, from 1.
    pub row: u64,
    /// The line of a text file on which the row starts, from 1.
    pub line: Option<u64>,
    /// The column, where one is at fault.
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
    /// Something else where a number is needed.
    NotANumber {
        /// The value.
        value: String,
    },
    /// A flag that is neither true nor false.
    NotAFlag {
        /// The value.
        value: String,
    },
    /// An episode that is neither a whole number nor a text.
    NotAnEpisode {
        /// The value.
        value: String,
    },
    /// An importance ratio below 0.
    NegativeRatio {
        /// The value.
        value: String,
    },
    /// Something else where a list of numbers is needed.
    NotAList {
        /// The value.
        value: String,
    },
    /// A list of another length than in the rows before.
    Ragged {
        /// How many entries it should have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A CSV row with too many or too few fields.
    FieldCount {
        /// How many the header has.
        expected: usize,
        /// How many the row has.
        found: usize,
    },
    /// A JSON line without one of the fields that the first line has.
    MissingField,
    /// A JSON line with a field that plays a role but that the first line lacks.
    UnexpectedField {
        /// The field.
        name: String,
    },
    /// A JSON line with the same field twice.
    DuplicateField,
    /// Text that is not CSV or not JSON.
    Syntax {
        /// What the parser says.
        message: String,
    },
}

impl FaultKind {
    /// The kind without its values, as used in counts.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Missing => "missing-value",
            Self::NotFinite { .. } => "not-finite",
            Self::NotANumber { .. } => "not-a-number",
            Self::NotAFlag { .. } => "not-a-flag",
            Self::NotAnEpisode { .. } => "not-an-episode",
            Self::NegativeRatio { .. } => "negative-ratio",
            Self::NotAList { .. } => "not-a-list",
            Self::Ragged { .. } => "ragged-list",
            Self::FieldCount { .. } => "field-count",
            Self::MissingField => "missing-field",
            Self::UnexpectedField { .. } => "unexpected-field",
            Self::DuplicateField => "duplicate-field",
            Self::Syntax { .. } => "syntax",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the value is missing"),
            Self::NotFinite { value } => write!(f, "{value:?} is not a finite number"),
            Self::NotANumber { value } => write!(f, "{value:?} is not a number"),
            Self::NotAFlag { value } => {
                write!(f, "{value:?} is not a flag (true, false, 1 or 0)")
            }
            Self::NotAnEpisode { value } => {
                write!(f, "{value:?} is not an episode (a whole number or a text)")
            }
            Self::NegativeRatio { value } => {
                write!(f, "{value:?} is not an importance ratio (a number >= 0)")
            }
            Self::NotAList { value } => write!(f, "{value:?} is not a list of numbers"),
            Self::Ragged { expected, found } => write!(
                f,
                "the list has {found} entries where the rows before have {expected}"
            ),
            Self::FieldCount { expected, found } => {
                write!(f, "{found} fields where the header has {expected}")
            }
            Self::MissingField => f.write_str("the field is missing"),
            Self::UnexpectedField { name } => {
                write!(
                    f,
                    "the field {name} appears here, but not in the file's first line"
                )
            }
            Self::DuplicateField => f.write_str("the field appears twice"),
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

/// The text of an offending value, cut to a length that fits a message.
pub(crate) fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}
