//! Draws estimates with their intervals, one line each, over a common axis.

use crate::axis::Axis;
use crate::chart::{Tone, WIDTH};
use crate::panel::{self, Panel};
use crate::scene::{Drawing, Fill, Group, Path, Rect, Shape, Stroke};
use crate::series;
use crate::style;
use crate::text::{Anchor, Text};
use crate::{Error, Result};

/// Estimates with intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalFigure {
    /// What the figure shows, for screen readers.
    pub title: String,
    /// What the axis shows.
    pub x: String,
    /// The estimates, from top to bottom.
    pub rows: Vec<IntervalRow>,
    /// Whether 0 is marked, and in the range.
    pub zero: bool,
}

/// An estimate with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct IntervalRow {
    /// Its name.
    pub label: String,
    /// The estimate.
    pub value: f64,
    /// The ends of its interval; one that is not finite leaves the panel.
    pub ends: Option<(f64, f64)>,
    /// The words for the pointer.
    pub hint: String,
    /// The colour.
    pub tone: Tone,
}

/// Height of a line.
const LINE: f64 = 13.0;
const TOP: f64 = 6.0;
const RIGHT: f64 = WIDTH - 10.0;
/// The widest label.
const LABELS: f64 = 96.0;
/// Space for tick labels and axis label below the panel.
const X_LABELS: f64 = 28.0;

impl IntervalFigure {
    /// Draws the figure, 3.7 inches wide.
    ///
    /// # Errors
    /// [`Error::NothingToDraw`] without a finite estimate.
    pub fn draw(&self) -> Result<Drawing> {
        let rows: Vec<&IntervalRow> = (self.rows.iter())
            .filter(|row| row.value.is_finite())
            .collect();
        let ends = rows.iter().filter_map(|row| row.ends);
        let ends = ends.flat_map(|(low, high)| [low, high]);
        let zero = self.zero.then_some(0.0);
        let values = rows.iter().map(|row| row.value).chain(ends).chain(zero);
        let Some((low, high)) = series::range(values).filter(|_| !rows.is_empty()) else {
            return Err(Error::NothingToDraw {
                figure: self.title.clone(),
            });
        };
        let labels: Vec<Text> = (rows.iter())
            .map(|row| Text::squeezed(&row.label, style::TICK, LABELS))
            .collect();
        let widths = labels.iter().map(|label| label.width(style::TICK));
        let left = 8.0 + widths.fold(0.0, f64::max) + 4.0;
        let width = RIGHT - left;
        let x = Axis::below(low, high, width, style::TICK).within(left, width, style::TICK, WIDTH);
        let y = Axis::rate();
        let panel = Panel {
            frame: Rect {
                left,
                top: TOP,
                right: RIGHT,
                bottom: TOP + LINE * (rows.len() as f64 + 0.4),
            },
            x: &x,
            y: &y,
        };
        let mut group = Group::new("panel");
        panel.x_grid(&mut group);
        if self.zero {
            panel.vertical(&mut group, "level", 0.0, style::LEVEL_LINE);
        }
        for (i, (row, label)) in rows.iter().zip(&labels).enumerate() {
            let middle = TOP + LINE * (i as f64 + 0.7);
            draw_row(&panel, &mut group, row, middle);
            let baseline = [left - 4.0, middle + 0.32 * style::TICK];
            group.push(panel::small_label(label, baseline, Anchor::End));
        }
        panel.x_frame(&mut group);
        let words = Text::fitted(&self.x, style::LABEL, WIDTH - 12.0);
        let half = 0.5 * words.width(style::LABEL);
        let bottom = panel.frame.bottom + X_LABELS;
        let below = [
            panel.frame.center()[0].min(WIDTH - 6.0 - half),
            bottom - 6.0,
        ];
        group.push(panel::label(&words, below, Anchor::Middle, false));
        Ok(Drawing {
            width: WIDTH,
            height: bottom + 2.0,
            title: self.title.clone(),
            groups: vec![group],
        })
    }
}

fn draw_row(panel: &Panel<'_>, group: &mut Group, row: &IntervalRow, middle: f64) {
    let color = row.tone.color();
    let place = |x: f64| match x.is_finite() {
        true => panel.at(x, 0.0)[0],
        false if x > 0.0 => panel.frame.right,
        false => panel.frame.left,
    };
    if let Some((low, high)) = row.ends {
        let stroke = Stroke {
            color,
            width: 1.6,
            dash: if (high - low).is_finite() {
                &[]
            } else {
                &[1.2, 1.4]
            },
        };
        let path = Path::line([place(low), middle], [place(high), middle]);
        group.push(Shape::stroked("interval", path, stroke).hinted(&row.hint));
    }
    let path = Path::circle([place(row.value), middle], 2.4);
    group.push(Shape::filled("point", path, Fill::solid(color)).hinted(&row.hint));
    // The whole line answers to the pointer.
    let area = Rect {
        top: middle - 0.5 * LINE,
        bottom: middle + 0.5 * LINE,
        ..panel.frame
    };
    let fill = Fill {
        color: style::GREY,
        opacity: 0.0,
    };
    group.push(Shape::filled("strip", Path::rectangle(area), fill).hinted(&row.hint));
}
