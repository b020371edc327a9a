//! Draws a sweep over the stepsize scale as the paper's Figures 1 and 2 do: one row per problem, one column per diagnostic.

use serde::Serialize;

use crate::axis::{Axis, Scale};
use crate::column::Column;
use crate::legend::{Entry, Legend, Sample};
use crate::number;
use crate::panel::{self, Panel};
use crate::scene::{Drawing, Fill, Group, Rect};
use crate::series::{self, Clamp, Mark};
use crate::style;
use crate::text::{Anchor, Text};
use crate::{Error, Result};

/// The diagnostics of one run of the sweep, at one c. A diagnostic that was not computed is `None`; one that overflowed
/// is infinite (or not a number) and is drawn as clamped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SweepPoint {
    /// Stepsize scale.
    pub c: f64,
    /// Boundedness ratio, max over t of E|theta_t|^2 / |theta*|^2.
    pub ratio: Option<f64>,
    /// Share of diverged runs.
    pub divergence_rate: Option<f64>,
    /// Suboptimality gap, E f(averaged iterate).
    pub gap: Option<f64>,
}

/// One row of panels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SweepRow {
    /// Name of the row, such as "scale 0.0625".
    pub label: String,
    /// Smallest eigenvalue of Phi' D Phi.
    pub omega: Option<f64>,
    /// Condition number of Phi' D Phi.
    pub kappa: Option<f64>,
    /// The sweep itself: a line with dots.
    pub values: Vec<SweepPoint>,
    /// A second series, drawn as a thin line: exact expectations.
    pub exact: Vec<SweepPoint>,
    /// Points known from elsewhere, drawn as rings: those printed in the paper.
    pub printed: Vec<SweepPoint>,
    /// Smallest c at which the iteration is stable in mean square.
    pub mean_square_threshold: Option<f64>,
    /// f(0), the gap of the initial iterate.
    pub gap_at_zero: Option<f64>,
}

/// A figure with one row of panels per problem and the columns boundedness ratio, divergence rate, suboptimality gap,
/// over c. A column without a single value is left out. Ranges are shared along each column.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SweepFigure {
    /// What the figure shows, for screen readers (the caption is the caller's).
    pub title: String,
    /// Meaning of [`SweepRow::values`], such as "mean of 48 runs".
    pub values_label: String,
    /// Meaning of [`SweepRow::exact`], such as "exact expectation".
    pub exact_label: String,
    /// Meaning of [`SweepRow::printed`], such as "printed in the paper".
    pub printed_label: String,
    /// The rows, from top to bottom.
    pub rows: Vec<SweepRow>,
    /// Limits of ratio and gap.
    pub clamp: Clamp,
    /// The threshold c_0 of the theory.
    pub theory_threshold: Option<f64>,
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

/// Which entries the legend needs: those that were drawn in some panel.
#[derive(Default)]
struct Drawn {
    theory: bool,
    mean_square: bool,
    ratio_level: bool,
    gap_level: bool,
    clamped: bool,
}

impl SweepFigure {
    /// Draws the figure, 7 inches wide.
    ///
    /// # Errors
    /// [`Error::NothingToDraw`] without any value, [`Error::BadAbscissa`] for a c that is not finite and positive,
    /// [`Error::BadClamp`] for limits that are no range.
    pub fn draw(&self) -> Result<Drawing> {
        self.clamp.check()?;
        for row in &self.rows {
            for point in row.all_points() {
                if !Scale::Log.shows(point.c) {
                    return Err(Error::BadAbscissa {
                        series: row.label.clone(),
                        value: point.c,
                    });
                }
            }
        }
        let has_values = |column: &Column| {
            self.rows
                .iter()
                .flat_map(SweepRow::all_points)
                .any(|p| column.value(p).is_some())
        };
        let columns: Vec<Column> = [Column::Ratio, Column::Divergence, Column::Gap]
            .into_iter()
            .filter(has_values)
            .collect();
        let c_range = series::range(
            self.rows
                .iter()
                .flat_map(SweepRow::all_points)
                .map(|point| point.c),
        );
        let (Some((c_min, c_max)), false) = (c_range, columns.is_empty()) else {
            return Err(Error::NothingToDraw {
                figure: self.title.clone(),
            });
        };

        let x_axis = Axis::new(Scale::Log, c_min, c_max, 6);
        let mut groups = Vec::new();
        let mut drawn = Drawn::default();
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
            groups.push(column.labels(frame(0, j, columns.len()), axis_label));
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

    fn y_axis(&self, column: Column) -> Axis {
        if column == Column::Divergence {
            return Axis::rate();
        }
        let values = self.rows.iter().flat_map(|row| {
            let points = row
                .all_points()
                .filter_map(move |point| column.value(point));
            points
                .chain(column.level(row))
                .map(|value| self.clamp.mark(1.0, value).y)
        });
        let (low, high) = series::range(values).unwrap_or((1.0, 1.0));
        Axis::new(Scale::Log, low, high, 6)
    }

    fn marks(&self, points: &[SweepPoint], column: Column) -> Vec<Option<Mark>> {
        let mut points = points.to_vec();
        points.sort_by(|a, b| a.c.total_cmp(&b.c));
        let mark = |point: &SweepPoint| {
            let value = column.value(point)?;
            Some(match column {
                // A rate that is not a number has no place between 0 and 1.
                Column::Divergence if !(0.0..=1.0).contains(&value) => return None,
                Column::Divergence => Mark {
                    x: point.c,
                    y: value,
                    edge: None,
                },
                Column::Ratio | Column::Gap => self.clamp.mark(point.c, value),
            })
        };
        points.iter().map(mark).collect()
    }

    fn draw_panel(
        &self,
        panel: &Panel,
        row: &SweepRow,
        column: Column,
        last: bool,
        drawn: &mut Drawn,
    ) -> Group {
        let mut group = Group::new("panel");
        panel.grid(&mut group);
        if let Some(level) = column.level(row) {
            let inside = panel.horizontal(&mut group, "level", level, style::LEVEL_LINE);
            drawn.ratio_level |= inside && column == Column::Ratio;
            drawn.gap_level |= inside && column == Column::Gap;
        }
        if let Some(c) = row.mean_square_threshold {
            drawn.mean_square |=
                panel.vertical(&mut group, "mean-square", c, style::MEAN_SQUARE_LINE);
        }
        if let Some(c) = self.theory_threshold {
            drawn.theory |= panel.vertical(&mut group, "theory", c, style::THEORY_LINE);
        }
        let values = self.marks(&row.values, column);
        let color = Fill::solid(style::SAMPLED_LINE.color);
        panel.line(&mut group, "values", &values, style::SAMPLED_LINE);
        let exact = self.marks(&row.exact, column);
        if !exact.is_empty() {
            panel.line(&mut group, "exact", &exact, style::EXACT_LINE);
            let color = Fill::solid(style::EXACT_LINE.color);
            drawn.clamped |= panel.triangles(&mut group, &exact, color);
        }
        panel.dots(&mut group, &values, color);
        drawn.clamped |= panel.triangles(&mut group, &values, color);
        let printed = self.marks(&row.printed, column);
        if !printed.is_empty() {
            panel.rings(&mut group, &printed);
        }
        panel.frame(&mut group, last);
        group
    }

    fn row_labels(&self) -> Group {
        let mut group = Group::new("rows");
        for (i, row) in self.rows.iter().enumerate() {
            let middle = frame(i, 0, 1).center()[1];
            let name = Text::fitted(&row.label, style::LABEL, PANEL_HEIGHT);
            group.push(panel::label(
                &name,
                [EDGE + style::LABEL, middle],
                Anchor::Middle,
                true,
            ));
            let mut constants = Text::default();
            if let Some(omega) = row.omega {
                constants = constants
                    .italic("ω")
                    .upright(" = ")
                    .then(number::text(omega, 4));
            }
            if let Some(kappa) = row.kappa {
                let comma = if row.omega.is_some() { ",  " } else { "" };
                constants = constants
                    .upright(comma)
                    .italic("κ")
                    .upright(" = ")
                    .then(number::text(kappa, 4));
            }
            if row.omega.is_some() || row.kappa.is_some() {
                let position = [EDGE + 2.3 * style::LABEL, middle];
                group.push(panel::label(&constants, position, Anchor::Middle, true));
            }
        }
        group
    }

    fn legend_entries(&self, drawn: &Drawn) -> Vec<Entry> {
        let any = |series: fn(&SweepRow) -> &[SweepPoint]| {
            self.rows.iter().any(|row| !series(row).is_empty())
        };
        let name = |label: &str| Text::fitted(label, style::LABEL, 0.5 * WIDTH);
        let mut entries = Vec::new();
        let mut add = |sample, label| entries.push(Entry { sample, label });
        if any(|row| &row.values) {
            add(
                Sample::Dotted(style::SAMPLED_LINE),
                name(&self.values_label),
            );
        }
        if any(|row| &row.exact) {
            add(Sample::Line(style::EXACT_LINE), name(&self.exact_label));
        }
        if any(|row| &row.printed) {
            add(Sample::Ring, name(&self.printed_label));
        }
        if drawn.clamped {
            let color = Fill::solid(style::SAMPLED_LINE.color);
            add(Sample::Triangles(color), self.clamp.label());
        }
        if let (true, Some(c)) = (drawn.theory, self.theory_threshold) {
            let symbol = Text::default().italic("c").subscript("0").upright(" = ");
            let label = symbol.then(number::text(c, 4)).upright(" (theory)");
            add(Sample::Line(style::THEORY_LINE), label);
        }
        if drawn.mean_square {
            let label = Text::plain("mean-square threshold");
            add(Sample::Line(style::MEAN_SQUARE_LINE), label);
        }
        if drawn.ratio_level || drawn.gap_level {
            let mut label = Text::default();
            if drawn.ratio_level {
                label = label.upright("ratio 1");
            }
            if drawn.ratio_level && drawn.gap_level {
                label = label.upright(" and ");
            }
            if drawn.gap_level {
                label = label.upright("gap ").italic("f").upright("\u{200a}(0)");
            }
            add(Sample::Line(style::LEVEL_LINE), label);
        }
        entries
    }
}

impl SweepRow {
    fn all_points(&self) -> impl Iterator<Item = &SweepPoint> {
        self.values.iter().chain(&self.exact).chain(&self.printed)
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
