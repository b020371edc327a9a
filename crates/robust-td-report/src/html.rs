//! Writes a page as self-contained HTML.
//!
//! The page is also well-formed XML, loads nothing (a content security policy forbids it) and needs no script.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, HtmlEscape, context};
use serde::Serialize;

use crate::document::{Answer, Block, Document, Mood, Note, Section};
use crate::number;
use crate::page::{Page, PageFigure};
use crate::svg;
use crate::table::{Cell, Column, DIGITS, Table};
use crate::text::Text;
use crate::{Error, Result};

const TEMPLATE: &str = include_str!("../templates/report.html");
const STYLE: &str = include_str!("../templates/report.css");

/// CSS pixels per point of a drawing at which its smallest text is just readable; in a narrower window it scrolls in its box.
const LEAST_ZOOM: f64 = 1.27;
/// CSS pixels per point beyond which a drawing only wastes space.
const LARGEST_ZOOM: f64 = 1.9;

/// A figure as the template sees it. Values named HTML are already escaped.
#[derive(Serialize)]
struct FigureView<'a> {
    title: &'a str,
    caption: &'a str,
    /// Least and largest width on the page, in CSS pixels.
    widths: [f64; 2],
    svg: Value,
}

/// A table as the template sees it.
#[derive(Serialize)]
struct TableView<'a> {
    title: &'a str,
    columns: Vec<CellView>,
    rows: Vec<Vec<CellView>>,
}

/// A cell as the template sees it.
#[derive(Serialize)]
struct CellView {
    class: &'static str,
    html: Value,
}

/// An answer as the template sees it.
#[derive(Serialize)]
struct AnswerView<'a> {
    name: &'a str,
    class: &'static str,
    value: Value,
    detail: Value,
}

/// A remark as the template sees it.
#[derive(Serialize)]
struct NoteView<'a> {
    class: &'static str,
    text: &'a str,
    advice: &'a str,
    place: &'a str,
}

/// A section as the template sees it.
#[derive(Serialize)]
struct SectionView<'a> {
    id: &'a str,
    title: &'a str,
    link: &'a str,
    blocks: Vec<BlockView<'a>>,
}

/// A part of a section as the template sees it.
#[derive(Serialize)]
#[serde(tag = "kind", content = "content", rename_all = "lowercase")]
enum BlockView<'a> {
    Text(Value),
    Facts(Vec<(&'a str, Value)>),
    Figure(FigureView<'a>),
    Gallery(Vec<FigureView<'a>>),
    Beside((FigureView<'a>, TableView<'a>)),
    Table(TableView<'a>),
    Folded(TableView<'a>),
    Notes(Vec<NoteView<'a>>),
    Rerun((&'a str, &'a str)),
}

impl Page {
    /// The page. All strings are escaped; figures are embedded as SVG.
    ///
    /// # Errors
    /// [`Error::Template`] if the page cannot be written, which would be a bug in this crate.
    pub fn to_html(&self) -> Result<String> {
        Document::from(self).to_html()
    }
}

impl Document {
    /// The page. All strings are escaped; figures are embedded as SVG.
    ///
    /// # Errors
    /// [`Error::Template`] if the page cannot be written, which would be a bug in this crate.
    pub fn to_html(&self) -> Result<String> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_syntax(
            SyntaxConfig::builder()
                .trim_blocks(true)
                .lstrip_blocks(true)
                .build()?,
        );
        environment.add_filter("clean", |text: String| clean(&text));
        let answers: Vec<AnswerView<'_>> = self.answers.iter().map(answer_view).collect();
        let sections: Vec<SectionView<'_>> = self.sections.iter().map(section_view).collect();
        let page = environment.render_str(
            TEMPLATE,
            context! {
                style => Value::from_safe_string(STYLE.to_owned()),
                title => self.title.as_str(),
                summary => self.summary.as_str(),
                answers => Serde(&answers),
                sections => Serde(&sections),
            },
        );
        page.map_err(Error::from)
    }
}

fn answer_view(answer: &Answer) -> AnswerView<'_> {
    let detail: Vec<String> = answer.detail.iter().map(cell_text).collect();
    AnswerView {
        name: &answer.name,
        class: class(answer.mood),
        value: cell_html(&answer.value),
        detail: Value::from_safe_string(detail.join(" ")),
    }
}

fn section_view(section: &Section) -> SectionView<'_> {
    SectionView {
        id: &section.id,
        title: &section.title,
        link: match section.link.as_str() {
            "" => &section.title,
            link => link,
        },
        blocks: section.blocks.iter().map(block_view).collect(),
    }
}

fn block_view(block: &Block) -> BlockView<'_> {
    match block {
        Block::Text(text) => BlockView::Text(text_html(text)),
        Block::Facts(facts) => BlockView::Facts(
            (facts.iter())
                .map(|fact| (fact.name.as_str(), cell_html(&fact.value)))
                .collect(),
        ),
        Block::Figure(figure) => BlockView::Figure(figure_view(figure)),
        Block::Gallery(figures) => BlockView::Gallery(figures.iter().map(figure_view).collect()),
        Block::Beside(figure, table) => BlockView::Beside((figure_view(figure), table_view(table))),
        Block::Table(table) => BlockView::Table(table_view(table)),
        Block::Folded(table) => BlockView::Folded(table_view(table)),
        Block::Notes(notes) => BlockView::Notes(notes.iter().map(note_view).collect()),
        Block::Rerun(item) => BlockView::Rerun((&item.what, &item.command)),
    }
}

fn note_view(note: &Note) -> NoteView<'_> {
    NoteView {
        class: class(note.mood),
        text: &note.text,
        advice: &note.advice,
        place: &note.place,
    }
}

fn class(mood: Mood) -> &'static str {
    match mood {
        Mood::Plain => "plain",
        Mood::Good => "good",
        Mood::Bad => "bad",
    }
}

fn figure_view(figure: &PageFigure) -> FigureView<'_> {
    FigureView {
        title: &figure.title,
        caption: &figure.caption,
        widths: [LEAST_ZOOM, LARGEST_ZOOM].map(|zoom| (zoom * figure.drawing.width()).round()),
        svg: Value::from_safe_string(figure.drawing.to_svg()),
    }
}

fn table_view(table: &Table) -> TableView<'_> {
    let row = |cells: &Vec<Cell>| {
        let cells = table.columns.iter().zip(cells);
        cells
            .map(|(column, cell)| cell_view(column, cell))
            .collect()
    };
    TableView {
        title: &table.title,
        columns: table
            .columns
            .iter()
            .map(|column| CellView {
                class: if column.words { "left" } else { "" },
                html: text_html(&column.name),
            })
            .collect(),
        rows: table.rows.iter().map(row).collect(),
    }
}

fn cell_view(column: &Column, cell: &Cell) -> CellView {
    let class = match cell {
        Cell::Prose { .. } => "why",
        Cell::Mark { good: true, .. } => "left yes",
        Cell::Mark { good: false, .. } => "left no",
        Cell::Word { .. } | Cell::Code { .. } if column.words => "left",
        _ => "",
    };
    CellView {
        class,
        html: cell_html(cell),
    }
}

fn text_html(text: &Text) -> Value {
    Value::from_safe_string(text.html(escaped))
}

fn cell_html(cell: &Cell) -> Value {
    Value::from_safe_string(cell_text(cell))
}

/// The HTML of a cell.
fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Empty => "–".to_owned(),
        Cell::Word { text } | Cell::Prose { text } | Cell::Mark { text, .. } => escaped(text),
        Cell::Code { text } => format!("<code>{}</code>", escaped(text)),
        Cell::Number { value, digits } => number::html(*value, *digits),
        Cell::Exact { value, digits, key } => format!(
            "<data value=\"{value:?}\" data-key=\"{}\" title=\"{value:?}\">{}</data>",
            escaped(key),
            number::html(*value, *digits)
        ),
        Cell::Estimate { value, stderr } => format!(
            "{} ± {}",
            number::html(*value, DIGITS),
            number::html(*stderr, 2)
        ),
        Cell::Count { value } => number::grouped(*value),
        Cell::ExactCount { value, key } => format!(
            "<data value=\"{value}\" data-key=\"{}\">{}</data>",
            escaped(key),
            number::grouped(*value)
        ),
    }
}

/// Text without characters that XML forbids.
fn clean(text: &str) -> String {
    text.chars().map(svg::allowed).collect()
}

fn escaped(text: &str) -> String {
    HtmlEscape(&clean(text)).to_string()
}
