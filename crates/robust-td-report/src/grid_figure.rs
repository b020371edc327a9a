//! Draws a grid of panels over one logarithmic axis: one row per case, one column per quantity.
//!
//! The caller names columns, rows, series and reference lines; nothing here knows what they mean.

use crate::axis::{Axis, Scale};
use crate::legend::{Entry, Legend, Sample};
use crate::panel::{self, Panel};
use crate::scene::{Drawing, Fill, Group, Rect, Stroke};
use crate::series::{self, Clamp, Mark};
use crate::style;
use crate::text::{Anchor, Placement, Text};
use crate::{Error, Result};

/// A figure of rows and columns of panels. A column without a single value is left out. Ranges are shared along each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridFigure {
    /// What the figure shows, for screen readers (the caption is the caller's).
    pub title: String,
    /// Name of the horizontal axis.
    pub x: Text,
    /// The columns, from left to right.
    pub columns: Vec<GridColumn>,
    /// The series that rows have, in the order of the legend.
    pub series: Vec<GridSeries>,
    /// The vertical lines that rows have, in the order of the legend; at most two look different.
    pub lines: Vec<Text>,
    /// The rows, from top to bottom.
    pub rows: Vec<GridRow>,
    /// Limits of values on logarithmic axes.
    pub clamp: Clamp,
}

/// A column of panels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridColumn {
    /// Title, and a formula or explanation below it.
    pub heading: [Text; 2],
    /// The vertical axis.
    pub axis: GridAxis,
    /// The meaning of [`GridRow::levels`] in this column.
    pub level: Text,
}

/// The vertical axis of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridAxis {
    /// Logarithmic, with clamped values.
    #[default]
    Log,
    /// From 0 to 1; other values are left out.
    Rate,
}

/// A series that every row may have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridSeries {
    /// Legend entry.
    pub label: String,
    /// How it is drawn.
    pub look: Look,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// A line with a dot at every value.
    #[default]
    Dotted,
    /// A thin line.
    Line,
    /// Rings without a line.
    Rings,
}

/// One row of panels. A series or line without an entry in the row is not drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridRow {
    /// Name of the row.
    pub label: String,
    /// A second line, or nothing.
    pub detail: Text,
    /// The points of each of [`GridFigure::series`].
    pub series: Vec<Vec<GridPoint>>,
    /// The position of each of [`GridFigure::lines`].
    pub lines: Vec<Option<f64>>,
    /// A horizontal line per column.
    pub levels: Vec<Option<f64>>,
}

/// The values of a series at one x. A missing value interrupts the line; one that overflowed is infinite (or not a
/// number) and is drawn as clamped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridPoint {
    /// Abscissa.
    pub x: f64,
    /// One value per column.
    pub values: Vec<Option<f64>>,
}

/// Width of the figure: the text width of a page, 7 inches.
const WIDTH: f64 = 504.0;
const EDGE: f64 = 4.0;
/// Space for the two turned lines that name a row.
const ROW_LABEL: f64 = 24.0;
/// Space for the tick labels left of a panel.
const Y_LABELS: f64 = 26.0;
const COLUMN_GAP: f64 = 7.0;
const ROW_GAP: f64 = 9.0;
const PANEL_HEIGHT: f64 = 98.0;
/// Space for the two lines above a column.
const HEADING: f64 = 30.0;
/// Space for tick labels and axis label below the last row.
const X_LABELS: f64 = 26.0;
/// The looks of vertical lines.
const LINES: [Stroke; 2] = [style::FIRST_LINE, style::SECOND_LINE];

/// Which entries the legend needs: those that were drawn in some panel.
#[derive(Default)]
struct Drawn {
    lines: Vec<bool>,
    levels: Vec<bool>,
    clamped: bool,
}

impl GridFigure {
    /// Draws the figure, 7 inches wide.
    ///
    /// # Errors
    /// [`Error::NothingToDraw`] without any value, [`Error::BadAbscissa`] for an x that is not finite and positive,
    /// [`Error::BadClamp`] for invalid limits.
    pub fn draw(&self) -> Result<Drawing> {
        self.clamp.check()?;
        for row in &self.rows {
            if let Some(point) = row.points().find(|point| !Scale::Log.shows(point.x)) {
                return Err(Error::BadAbscissa {
                    series: row.label.clone(),
                    value: point.x,
                });
            }
        }
        let points = || self.rows.iter().flat_map(GridRow::points);
        let columns: Vec<usize> = (0..self.columns.len())
            .filter(|&column| points().any(|point| point.value(column).is_some()))
            .collect();
        let x_range = series::range(points().map(|point| point.x));
        let (Some((x_min, x_max)), false) = (x_range, columns.is_empty()) else {
            return Err(Error::NothingToDraw {
                figure: self.title.clone(),
            });
        };

        let x_axis = Axis::new(Scale::Log, x_min, x_max, 6);
        let mut groups = Vec::new();
        let mut drawn = Drawn {
            lines: vec![false; self.lines.len()],
            levels: vec![false; self.columns.len()],
            clamped: false,
        };
        let bottom = HEADING + self.rows.len() as f64 * (PANEL_HEIGHT + ROW_GAP) - ROW_GAP;
        for (j, &column) in columns.iter().enumerate() {
            let y_axis = self.y_axis(column);
            for (i, row) in self.rows.iter().enumerate() {
                let panel = Panel {
                    frame: frame(i, j, columns.len()),
                    x: &x_axis,
                    y: &y_axis,
                };
                let last = i + 1 == self.rows.len();
                groups.push(self.draw_panel(&panel, row, column, last, &mut drawn));
            }
            let axis_label = bottom + X_LABELS - 6.0;
            groups.push(self.column_labels(column, frame(0, j, columns.len()), axis_label));
        }
        groups.push(self.row_labels());
        let legend = Legend::new(self.legend_entries(&drawn), WIDTH - 2.0 * EDGE);
        let legend_top = bottom + X_LABELS;
        groups.push(legend.draw(0.5 * WIDTH, legend_top));
        Ok(Drawing {
            width: WIDTH,
            height: legend_top + legend.height() + EDGE,
            title: self.title.clone(),
            groups,
        })
    }

    fn y_axis(&self, column: usize) -> Axis {
        if self.columns[column].axis == GridAxis::Rate {
            return Axis::rate();
        }
        let values = self.rows.iter().flat_map(|row| {
            let points = row.points().filter_map(move |point| point.value(column));
            points
                .chain(row.level(column))
                .map(|value| self.clamp.mark(1.0, value).y)
        });
        let (low, high) = series::range(values).unwrap_or((1.0, 1.0));
        Axis::new(Scale::Log, low, high, 6)
    }

    fn marks(&self, points: &[GridPoint], column: usize) -> Vec<Option<Mark>> {
        let mut points: Vec<&GridPoint> = points.iter().collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let mark = |point: &&GridPoint| {
            let value = point.value(column)?;
            Some(match self.columns[column].axis {
                // A rate that is not a number has no place between 0 and 1.
                GridAxis::Rate if !(0.0..=1.0).contains(&value) => return None,
                GridAxis::Rate => Mark {
                    x: point.x,
                    y: value,
                    edge: None,
                },
                GridAxis::Log => self.clamp.mark(point.x, value),
            })
        };
        points.iter().map(mark).collect()
    }

    fn draw_panel(
        &self,
        panel: &Panel,
        row: &GridRow,
        column: usize,
        last: bool,
        drawn: &mut Drawn,
    ) -> Group {
        let mut group = Group::new("panel");
        panel.grid(&mut group);
        if let Some(level) = row.level(column) {
            drawn.levels[column] |= panel.horizontal(&mut group, "level", level, style::LEVEL_LINE);
        }
        // The first series of the legend is drawn on top.
        for (k, drawn) in drawn.lines.iter_mut().enumerate().rev() {
            if let Some(x) = row.lines.get(k).copied().flatten() {
                *drawn |= panel.vertical(&mut group, "line", x, LINES[k % LINES.len()]);
            }
        }
        let present = self.series.iter().zip(&row.series);
        let present = present.filter(|(_, points)| !points.is_empty());
        let series: Vec<(Look, Vec<Option<Mark>>)> = present
            .map(|(series, points)| (series.look, self.marks(points, column)))
            .collect();
        for (look, marks) in &series {
            match look {
                Look::Dotted => panel.line(&mut group, "dotted", marks, style::DOTTED_LINE),
                Look::Line => {
                    panel.line(&mut group, "thin", marks, style::THIN_LINE);
                    let color = Fill::solid(style::THIN_LINE.color);
                    drawn.clamped |= panel.triangles(&mut group, marks, color);
                }
                Look::Rings => {}
            }
        }
        for (look, marks) in &series {
            match look {
                Look::Dotted => {
                    let color = Fill::solid(style::DOTTED_LINE.color);
                    panel.dots(&mut group, marks, color);
                    drawn.clamped |= panel.triangles(&mut group, marks, color);
                }
                Look::Line => {}
                Look::Rings => panel.rings(&mut group, marks),
            }
        }
        panel.frame(&mut group, last);
        group
    }

    /// The heading above `frame`, the first of the column, and the name of the x axis with its baseline at `axis`.
    fn column_labels(&self, column: usize, frame: Rect, axis: f64) -> Group {
        let mut group = Group::new("column");
        let [title, formula] = &self.columns[column].heading;
        let center = frame.center()[0];
        group.push(title.shape(Placement {
            position: [center, frame.top - 17.0],
            anchor: Anchor::Middle,
            size: style::TITLE,
            color: style::BLACK,
            turned: false,
        }));
        let above = [center, frame.top - 6.0];
        group.push(panel::label(formula, above, Anchor::Middle, false));
        group.push(panel::label(&self.x, [center, axis], Anchor::Middle, false));
        group
    }

    fn row_labels(&self) -> Group {
        let mut group = Group::new("rows");
        for (i, row) in self.rows.iter().enumerate() {
            let middle = frame(i, 0, 1).center()[1];
            let name = Text::fitted(&row.label, style::LABEL, PANEL_HEIGHT);
            let position = [EDGE + style::LABEL, middle];
            group.push(panel::label(&name, position, Anchor::Middle, true));
            if !row.detail.is_empty() {
                let position = [EDGE + 2.3 * style::LABEL, middle];
                group.push(panel::label(&row.detail, position, Anchor::Middle, true));
            }
        }
        group
    }

    fn legend_entries(&self, drawn: &Drawn) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut add = |sample, label| entries.push(Entry { sample, label });
        for (k, series) in self.series.iter().enumerate() {
            let present =
                |row: &GridRow| row.series.get(k).is_some_and(|points| !points.is_empty());
            if self.rows.iter().any(present) {
                let sample = match series.look {
                    Look::Dotted => Sample::Dotted(style::DOTTED_LINE),
                    Look::Line => Sample::Line(style::THIN_LINE),
                    Look::Rings => Sample::Ring,
                };
                add(
                    sample,
                    Text::fitted(&series.label, style::LABEL, 0.5 * WIDTH),
                );
            }
        }
        if drawn.clamped {
            let color = Fill::solid(style::DOTTED_LINE.color);
            add(Sample::Triangles(color), self.clamp.label());
        }
        for (k, label) in self.lines.iter().enumerate() {
            if drawn.lines[k] {
                add(Sample::Line(LINES[k % LINES.len()]), label.clone());
            }
        }
        let levels = self.columns.iter().zip(&drawn.levels);
        let levels = levels.filter(|&(_, &drawn)| drawn);
        let levels = levels.map(|(column, _)| column.level.clone());
        if let Some(label) = levels.reduce(|label, level| label.upright(" and ").then(level)) {
            add(Sample::Line(style::LEVEL_LINE), label);
        }
        entries
    }
}

impl GridRow {
    fn points(&self) -> impl Iterator<Item = &GridPoint> {
        self.series.iter().flatten()
    }

    fn level(&self, column: usize) -> Option<f64> {
        self.levels.get(column).copied().flatten()
    }
}

impl GridPoint {
    fn value(&self, column: usize) -> Option<f64> {
        self.values.get(column).copied().flatten()
    }
}

/// The frame of the panel in row `i` and column `j` of `columns`.
fn frame(i: usize, j: usize, columns: usize) -> Rect {
    let n = columns as f64;
    let width = (WIDTH - ROW_LABEL - 2.0 * EDGE - n * Y_LABELS - (n - 1.0) * COLUMN_GAP) / n;
    let left = EDGE + ROW_LABEL + Y_LABELS + j as f64 * (width + Y_LABELS + COLUMN_GAP);
    let top = HEADING + i as f64 * (PANEL_HEIGHT + ROW_GAP);
    Rect {
        left,
        top,
        right: left + width,
        bottom: top + PANEL_HEIGHT,
    }
}
