//! Draws figures and writes a self-contained HTML page around them.
//!
//! This crate computes no mathematics and runs nothing. It receives tables, series and facts and returns a [`Drawing`]
//! (which becomes SVG text or PNG bytes) or the text of an HTML page; the caller writes the files. The same input
//! always gives the same bytes.
//!
//! ```text
//! GridFigure, LineFigure          ─┐
//! Chart, IntervalFigure, HeatMap  ─┴▶ Drawing ─▶ to_svg(), to_png(dpi)
//!                                        └─────▶ Page or Document ─▶ to_html()
//! ```
//!
//! Text is drawn as outlines of an embedded font, so a figure looks the same in every viewer, in print and as PNG,
//! on a machine without any installed font.
//!
//! | file | job |
//! |---|---|
//! | `scene.rs` | shapes of a drawing, independent of the output format |
//! | `svg.rs`, `png.rs` | the two output formats |
//! | `font.rs`, `text.rs` | glyph outlines; lines of text with sub- and superscripts |
//! | `axis.rs`, `panel.rs`, `series.rs`, `legend.rs`, `side_labels.rs` | ranges and ticks; the inside of a frame; clamping; the legend; labels next to curves |
//! | `grid_figure.rs`, `line_figure.rs` | wide figures |
//! | `chart.rs`, `interval_figure.rs`, `heat_map.rs` | small figures that fit a phone and show their numbers to the pointer |
//! | `page.rs`, `document.rs`, `table.rs`, `html.rs` | the contents of a simple page and of any page; tables; the HTML |
//! | `number.rs` | how a number is typeset |

#![forbid(unsafe_code)]

mod axis;
mod chart;
mod document;
mod error;
mod font;
mod grid_figure;
mod heat_map;
mod html;
mod interval_figure;
mod legend;
mod line_figure;
pub mod number;
mod page;
mod panel;
mod png;
mod scene;
mod series;
mod side_labels;
mod style;
mod svg;
mod table;
mod text;

pub use axis::Scale;
pub use chart::{Bar, Chart, ErrorBar, Layer, Strip, Tone};
pub use document::{Answer, Block, Document, Mood, Note, Section};
pub use error::Error;
pub use grid_figure::{GridAxis, GridColumn, GridFigure, GridPoint, GridRow, GridSeries, Look};
pub use heat_map::HeatMap;
pub use interval_figure::{IntervalFigure, IntervalRow};
pub use line_figure::{
    AxisLabel, BandPoint, Curve, Key, LineFigure, LineMeaning, Pattern, Reference,
};
pub use page::{Fact, Page, PageFigure, Rerun};
pub use scene::Drawing;
pub use series::Clamp;
pub use table::{Cell, Column, Table};
pub use text::Text;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
