//! Describes a table of a page whose columns the caller chooses.

use crate::text::Text;

/// A table with its own heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// Its name in the list of sections; the heading if empty.
    pub link: String,
    /// How to read it, one paragraph each.
    pub text: Vec<Text>,
    /// The columns; the first one names the row.
    pub columns: Vec<Column>,
    /// The rows, each with a cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its heading.
    pub name: Text,
    /// Whether its cells are words rather than numbers.
    pub words: bool,
}

impl Column {
    /// A column of numbers.
    pub fn numbers(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            words: false,
        }
    }

    /// A column of words.
    pub fn words(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            words: true,
        }
    }
}

/// The contents of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// A word or two, kept on one line.
    Word {
        /// The text.
        text: String,
    },
    /// A sentence, which may be broken.
    Prose {
        /// The text.
        text: String,
    },
    /// Code, shown verbatim.
    Code {
        /// The text.
        text: String,
    },
    /// A highlighted text.
    Mark {
        /// The text.
        text: String,
        /// Whether it is highlighted as good.
        good: bool,
    },
    /// A number.
    Number {
        /// Its value.
        value: f64,
        /// Significant digits.
        digits: usize,
    },
    /// A rounded number whose exact value can be read by programs and pointers.
    Exact {
        /// Its value.
        value: f64,
        /// Significant digits.
        digits: usize,
        /// Its name for programs.
        key: String,
    },
    /// A number with its standard error.
    Estimate {
        /// Its value.
        value: f64,
        /// The standard error.
        stderr: f64,
    },
    /// A whole number.
    Count {
        /// Its value.
        value: u64,
    },
    /// A whole number that programs can read.
    ExactCount {
        /// Its value.
        value: u64,
        /// Its name for programs.
        key: String,
    },
}

/// The default number of significant digits.
pub(crate) const DIGITS: usize = 4;

impl Cell {
    /// A word or two.
    pub fn word(text: impl Into<String>) -> Self {
        Self::Word { text: text.into() }
    }

    /// A sentence.
    pub fn prose(text: impl Into<String>) -> Self {
        Self::Prose { text: text.into() }
    }

    /// Yes, highlighted as good, or no.
    pub fn yes_or_no(yes: bool) -> Self {
        let text = if yes { "yes" } else { "no" }.into();
        Self::Mark { text, good: yes }
    }

    /// A number with four significant digits, or nothing.
    pub fn number(value: Option<f64>) -> Self {
        Self::digits(value, DIGITS)
    }

    /// A number with another precision, or nothing.
    pub fn digits(value: Option<f64>, digits: usize) -> Self {
        value.map_or(Self::Empty, |value| Self::Number { value, digits })
    }

    /// A number with four significant digits and its name for programs, or nothing.
    pub fn exact(value: Option<f64>, key: impl Into<String>) -> Self {
        let digits = DIGITS;
        let key = key.into();
        value.map_or(Self::Empty, |value| Self::Exact { value, digits, key })
    }

    /// A whole number with its name for programs.
    pub fn exact_count(value: u64, key: impl Into<String>) -> Self {
        let key = key.into();
        Self::ExactCount { value, key }
    }

    /// A whole number, or nothing.
    pub fn count(value: Option<u64>) -> Self {
        value.map_or(Self::Empty, |value| Self::Count { value })
    }
}
