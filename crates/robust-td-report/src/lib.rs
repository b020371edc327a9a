//! Draws the figures of a sweep and writes its self-contained HTML report.
//!
//! This crate computes no mathematics and runs nothing. It receives plain structs and returns a [`Drawing`]
//! (which becomes SVG text or PNG bytes) or the text of an HTML page; the caller writes the files. The same input
//! always gives the same bytes.
//!
//! ```text
//! SweepFigure ─┐
//! LineFigure  ─┴▶ Drawing ─▶ to_svg(), to_png(dpi)
//!                    └─────▶ Report ─▶ to_html()
//! ```
//!
//! Text is drawn as outlines of an embedded font, so a figure looks the same in every viewer, in print and as PNG,
//! on a machine without any installed font. Where the room is:
//!
//! | file | job |
//! |---|---|
//! | `scene.rs` | shapes of a drawing, independent of the output format |
//! | `svg.rs`, `png.rs` | the two output formats |
//! | `font.rs`, `text.rs` | glyph outlines; lines of text with sub- and superscripts |
//! | `axis.rs`, `panel.rs`, `series.rs`, `legend.rs`, `side_labels.rs` | ranges and ticks; what is drawn inside a frame; clamping; the key; labels beside curves |
//! | `sweep_figure.rs`, `column.rs`, `line_figure.rs` | the two kinds of figure |
//! | `report.rs`, `table.rs`, `html.rs` | the contents of the report; tables of any columns; the page |
//! | `number.rs` | how a number is written |

#![forbid(unsafe_code)]

mod axis;
mod column;
mod error;
mod font;
mod html;
mod legend;
mod line_figure;
pub mod number;
mod panel;
mod png;
mod report;
mod scene;
mod series;
mod side_labels;
mod style;
mod svg;
mod sweep_figure;
mod table;
mod text;

pub use axis::Scale;
pub use error::Error;
pub use line_figure::{
    AxisLabel, BandPoint, Curve, Key, LineFigure, LineMeaning, Pattern, Reference,
};
pub use report::{
    Agreement, AgreementPoint, CertificateRow, ConstantsRow, ExpectationRow, Fact, Quantity,
    Report, ReportFigure, Rerun, RunFacts, ThresholdRow,
};
pub use scene::Drawing;
pub use series::Clamp;
pub use sweep_figure::{SweepFigure, SweepPoint, SweepRow};
pub use table::{Cell, Column, Table};

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
