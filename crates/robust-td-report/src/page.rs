//! Describes the contents of a page: facts, figures and tables that the caller fills in.
//!
//! Every section is optional: empty ones are left out.

use crate::scene::Drawing;
use crate::table::{Cell, Table};

/// The contents of an HTML page; [`Page::to_html`] writes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Heading of the page.
    pub title: String,
    /// One or two sentences under the heading that describe the page.
    pub summary: String,
    /// What was run.
    pub facts: Vec<Fact>,
    /// The figures, in order.
    pub figures: Vec<PageFigure>,
    /// The tables, in order.
    pub tables: Vec<Table>,
    /// How to run it again.
    pub rerun: Vec<Rerun>,
}

/// A named value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Name.
    pub name: String,
    /// Value.
    pub value: Cell,
}

impl Fact {
    /// A named value.
    pub fn new(name: impl Into<String>, value: Cell) -> Self {
        Self {
            name: name.into(),
            value,
        }
    }

    /// A named text.
    pub fn text(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self::new(name, Cell::word(value))
    }

    /// A named whole number.
    pub fn count(name: impl Into<String>, value: u64) -> Self {
        Self::new(name, Cell::Count { value })
    }
}

/// A figure on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageFigure {
    /// Heading, such as "Figure 1".
    pub title: String,
    /// Caption under the figure.
    pub caption: String,
    /// The figure.
    pub drawing: Drawing,
}

/// A command and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Rerun {
    /// What the command does.
    pub what: String,
    /// The command line.
    pub command: String,
}
