//! Writes a report as one self-contained HTML page.
//!
//! The page is also well-formed XML, loads nothing (a content security policy forbids it) and needs no script.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;

use crate::number;
use crate::report::{Agreement, Report};
use crate::svg;
use crate::{Error, Result};

const TEMPLATE: &str = include_str!("../templates/report.html");
const STYLE: &str = include_str!("../templates/report.css");

/// Significant digits of a number on the page unless the template asks for others.
const DIGITS: usize = 4;

#[derive(Serialize)]
struct Figure<'a> {
    title: &'a str,
    caption: &'a str,
    /// Least and largest width on the page, in CSS pixels.
    widths: [f64; 2],
    svg: Value,
}

/// CSS pixels per point of a drawing at which its smallest text can just be read; below, it scrolls in its box.
const LEAST_ZOOM: f64 = 1.27;
/// CSS pixels per point beyond which a drawing only wastes space.
const LARGEST_ZOOM: f64 = 1.9;

/// How many printed points agree.
#[derive(Serialize)]
struct Tally {
    total: usize,
    agreeing: usize,
    largest: Option<f64>,
}

impl From<&Agreement> for Tally {
    fn from(agreement: &Agreement) -> Self {
        let differences = agreement
            .points
            .iter()
            .filter_map(|point| point.relative_difference);
        Self {
            total: agreement.points.len(),
            agreeing: agreement.points.iter().filter(|point| point.agrees).count(),
            largest: crate::series::range(differences).map(|(_, largest)| largest),
        }
    }
}

impl Report {
    /// The page. All strings are escaped; figures stand in the page as SVG.
    ///
    /// # Errors
    /// [`Error::Template`] if the page cannot be written, which would be a fault of this crate.
    pub fn to_html(&self) -> Result<String> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_syntax(
            SyntaxConfig::builder()
                .trim_blocks(true)
                .lstrip_blocks(true)
                .build()?,
        );
        environment.add_filter("num", |value: Value, digits: Option<usize>| {
            write_number(&value, digits)
        });
        environment.add_filter("count", |value: u64| number::count(value));
        environment.add_filter("clean", |text: String| {
            text.chars().map(svg::allowed).collect::<String>()
        });
        let figures: Vec<Figure> = self
            .figures
            .iter()
            .map(|figure| Figure {
                title: &figure.title,
                caption: &figure.caption,
                widths: [LEAST_ZOOM, LARGEST_ZOOM]
                    .map(|zoom| (zoom * figure.drawing.width()).round()),
                svg: Value::from_safe_string(figure.drawing.to_svg()),
            })
            .collect();
        let page = environment.render_str(
            TEMPLATE,
            context! {
                style => Value::from_safe_string(STYLE.to_owned()),
                title => self.title.as_str(),
                summary => self.summary.as_str(),
                run => Serde(&self.run),
                figures => Serde(&figures),
                tables => Serde(&self.tables),
                agreement => Serde(&self.agreement),
                tally => Serde(self.agreement.as_ref().map(Tally::from)),
                thresholds => Serde(&self.thresholds),
                expectations => Serde(&self.expectations),
                constants => Serde(&self.constants),
                certificates => Serde(&self.certificates),
                rerun => Serde(&self.rerun),
            },
        );
        page.map_err(Error::from)
    }
}

/// A number in HTML; a value that is absent is a dash.
fn write_number(value: &Value, digits: Option<usize>) -> Value {
    let html = match f64::try_from(value.clone()) {
        Ok(value) => number::html(value, digits.unwrap_or(DIGITS)),
        Err(_) => "–".to_owned(),
    };
    Value::from_safe_string(html)
}
