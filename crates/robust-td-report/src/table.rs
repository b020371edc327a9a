//! Describes a table of a report whose columns the caller chooses.

use serde::Serialize;

/// A table under a heading of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// How to read it, one paragraph each.
    pub text: Vec<String>,
    /// The columns; the first one names the row.
    pub columns: Vec<Column>,
    /// The rows, each with a cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// What it shows.
    pub name: String,
    /// Whether its cells are words rather than numbers.
    pub words: bool,
}

impl Column {
    /// A column of numbers.
    pub fn numbers(name: &str) -> Self {
        Self {
            name: name.into(),
            words: false,
        }
    }

    /// A column of words.
    pub fn words(name: &str) -> Self {
        Self {
            name: name.into(),
            words: true,
        }
    }
}

/// What a cell shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
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
    /// Something that deserves attention.
    Mark {
        /// The text.
        text: String,
        /// Whether it is good news.
        good: bool,
    },
    /// A number.
    Number {
        /// Its value.
        value: f64,
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
}

impl Cell {
    /// A word or two.
    pub fn word(text: impl Into<String>) -> Self {
        Self::Word { text: text.into() }
    }

    /// A sentence.
    pub fn prose(text: impl Into<String>) -> Self {
        Self::Prose { text: text.into() }
    }

    /// A number, or nothing.
    pub fn number(value: Option<f64>) -> Self {
        value.map_or(Self::Empty, |value| Self::Number { value })
    }
}
