//! Writes a page as self-contained HTML.
//!
//! The page is also well-formed XML, loads nothing (a content security policy forbids it) and needs no script.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, HtmlEscape, context};
use serde::Serialize;

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

/// A figure as the template sees it. Fields named HTML are already escaped.
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
    link: &'a str,
    text: Vec<Value>,
    columns: Vec<CellView>,
    rows: Vec<Vec<CellView>>,
}

/// A cell as the template sees it.
#[derive(Serialize)]
struct CellView {
    class: &'static str,
    html: Value,
}

impl Page {
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
        let facts: Vec<(&str, Value)> = self
            .facts
            .iter()
            .map(|fact| (fact.name.as_str(), cell_html(&fact.value)))
            .collect();
        let rerun: Vec<(&str, &str)> = self
            .rerun
            .iter()
            .map(|item| (item.what.as_str(), item.command.as_str()))
            .collect();
        let page = environment.render_str(
            TEMPLATE,
            context! {
                style => Value::from_safe_string(STYLE.to_owned()),
                title => self.title.as_str(),
                summary => self.summary.as_str(),
                facts => Serde(&facts),
                figures => Serde(&self.figures.iter().map(figure_view).collect::<Vec<_>>()),
                tables => Serde(&self.tables.iter().map(table_view).collect::<Vec<_>>()),
                rerun => Serde(&rerun),
            },
        );
        page.map_err(Error::from)
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
    let html = |text: &Text| Value::from_safe_string(text.html(escaped));
    let row = |cells: &Vec<Cell>| {
        let cells = table.columns.iter().zip(cells);
        cells
            .map(|(column, cell)| cell_view(column, cell))
            .collect()
    };
    TableView {
        title: &table.title,
        link: match table.link.as_str() {
            "" => &table.title,
            link => link,
        },
        text: table.text.iter().map(html).collect(),
        columns: table
            .columns
            .iter()
            .map(|column| CellView {
                class: if column.words { "left" } else { "" },
                html: html(&column.name),
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

fn cell_html(cell: &Cell) -> Value {
    Value::from_safe_string(match cell {
        Cell::Empty => "–".to_owned(),
        Cell::Word { text } | Cell::Prose { text } | Cell::Mark { text, .. } => escaped(text),
        Cell::Code { text } => format!("<code>{}</code>", escaped(text)),
        Cell::Number { value, digits } => number::html(*value, *digits),
        Cell::Estimate { value, stderr } => format!(
            "{} ± {}",
            number::html(*value, DIGITS),
            number::html(*stderr, 2)
        ),
        Cell::Count { value } => number::grouped(*value),
    })
}

/// Text without characters that XML forbids.
fn clean(text: &str) -> String {
    text.chars().map(svg::allowed).collect()
}

fn escaped(text: &str) -> String {
    HtmlEscape(&clean(text)).to_string()
}
