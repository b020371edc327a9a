//! Describes a page as answers, followed by sections of facts, figures, tables and notes.

use crate::page::{Fact, Page, PageFigure, Rerun};
use crate::table::{Cell, Table};
use crate::text::Text;

/// The contents of an HTML page; [`Document::to_html`] writes it. [`Page`] is the simple kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Heading of the page.
    pub title: String,
    /// One or two sentences under the heading that describe the page.
    pub summary: String,
    /// What a reader wants to know first.
    pub answers: Vec<Answer>,
    /// The sections, in order.
    pub sections: Vec<Section>,
}

/// A short answer with its explanation.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What is answered.
    pub name: String,
    /// The answer.
    pub value: Cell,
    /// What it rests on, one cell after the other.
    pub detail: Vec<Cell>,
    /// Whether it is good.
    pub mood: Mood,
}

/// Whether an answer or a note is good or bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// Neither.
    #[default]
    Plain,
    /// Good.
    Good,
    /// Bad.
    Bad,
}

/// A section with its heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The anchor of the section.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Its name in the list of sections; the heading if empty.
    pub link: String,
    /// The contents, in order.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// A paragraph.
    Text(Text),
    /// Named values.
    Facts(Vec<Fact>),
    /// A figure with the full width.
    Figure(PageFigure),
    /// Figures side by side where the page is wide enough.
    Gallery(Vec<PageFigure>),
    /// A figure and a table, side by side where the page is wide enough.
    Beside(PageFigure, Table),
    /// A table; its title and text are not shown.
    Table(Table),
    /// A table that is closed until the reader opens it; its title is what the reader sees.
    Folded(Table),
    /// Remarks.
    Notes(Vec<Note>),
    /// A command and what it does.
    Rerun(Rerun),
}

/// A remark and what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The remark.
    pub text: String,
    /// What to do; empty if there is nothing to do.
    pub advice: String,
    /// Where it applies; empty if everywhere.
    pub place: String,
    /// Whether it is good or bad.
    pub mood: Mood,
}

impl From<&Page> for Document {
    fn from(page: &Page) -> Self {
        let section = |id: &str, title: &str, link: &str, blocks: Vec<Block>| Section {
            id: id.into(),
            title: title.into(),
            link: link.into(),
            blocks,
        };
        let mut sections = Vec::new();
        if !page.facts.is_empty() {
            let blocks = vec![Block::Facts(page.facts.clone())];
            sections.push(section("run", "What was run", "", blocks));
        }
        if !page.figures.is_empty() {
            let figures = page.figures.iter().cloned().map(Block::Figure);
            sections.push(section("figures", "Figures", "", figures.collect()));
        }
        for (i, table) in page.tables.iter().enumerate() {
            let mut blocks: Vec<Block> = table.text.iter().cloned().map(Block::Text).collect();
            if !table.rows.is_empty() {
                blocks.push(Block::Table(table.clone()));
            }
            let id = format!("table{}", i + 1);
            sections.push(section(&id, &table.title, &table.link, blocks));
        }
        if !page.rerun.is_empty() {
            let blocks = page.rerun.iter().cloned().map(Block::Rerun);
            let (title, link) = ("How to run it again", "Run it again");
            sections.push(section("rerun", title, link, blocks.collect()));
        }
        Self {
            title: page.title.clone(),
            summary: page.summary.clone(),
            answers: Vec::new(),
            sections,
        }
    }
}
