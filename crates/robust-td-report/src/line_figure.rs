//! Draws curves with bands in one panel: learning curves, comparisons of algorithms.

use serde::Serialize;

use crate::axis::{Axis, Scale};
use crate::legend::{Entry, Legend, Sample};
use crate::panel::{self, Panel};
use crate::scene::{Color, Drawing, Fill, Group, Rect, Stroke};
use crate::series::{self, Clamp, Mark};
use crate::side_labels;
use crate::style;
use crate::text::{Anchor, Text};
use crate::{Error, Result};

/// Name and scale of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisLabel {
    /// What the axis shows.
    pub label: String,
    /// How its values are spread.
    pub scale: Scale,
}

/// The band around a curve at one x.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BandPoint {
    /// Abscissa.
    pub x: f64,
    /// Lower edge.
    pub low: f64,
    /// Upper edge.
    pub high: f64,
}

/// A curve with its legend entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curve {
    /// Legend entry.
    pub label: String,
    /// (x, y) pairs in the order of drawing. On a log axis y is clamped and marked like in a sweep; on a linear axis a y
    /// that is not finite interrupts the curve.
    pub points: Vec<(f64, f64)>,
    /// The band, or nothing.
    pub band: Vec<BandPoint>,
    /// The pattern of the line.
    pub pattern: Pattern,
}

/// The pattern of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Pattern {
    /// Solid until the colours are used up, then dashed.
    #[default]
    Automatic,
    /// Solid.
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
}

/// The meaning of a pattern.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineMeaning {
    /// The pattern.
    pub pattern: Pattern,
    /// Legend entry.
    pub label: String,
}

/// Where the labels of the curves go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// In a legend below the panel.
    #[default]
    Below,
    /// Next to the ends of the curves, for many curves.
    Beside,
}

/// A horizontal reference line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reference {
    /// Legend entry.
    pub label: String,
    /// Where the line is.
    pub value: f64,
}

/// A figure with one panel.
#[derive(Clone, Debug, PartialEq)]
pub struct LineFigure {
    /// What the figure shows, for screen readers (the caption is the caller's).
    pub title: String,
    /// Horizontal axis.
    pub x: AxisLabel,
    /// Vertical axis.
    pub y: AxisLabel,
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
    /// Horizontal lines to compare with; one outside the range of the curves is left out.
    pub references: Vec<Reference>,
    /// Limits of y on a log axis.
    pub clamp: Clamp,
    /// Where the labels of the curves go.
    pub key: Key,
    /// The meaning of the line patterns.
    pub meanings: Vec<LineMeaning>,
}

/// Width of a figure with labels below.
const WIDTH: f64 = 396.0;
/// Height of the panel with few curves; many labels next to it make it higher.
const FRAME: Rect = Rect {
    left: 40.0,
    top: 8.0,
    right: WIDTH - 10.0,
    bottom: 222.0,
};
/// Space for tick labels and axis label below the panel.
const X_LABELS: f64 = 30.0;
const BAND_OPACITY: f64 = 0.18;

impl LineFigure {
    /// Draws the figure: a panel 5.5 inches wide, with labels next to it if requested.
    ///
    /// # Errors
    /// [`Error::NothingToDraw`] without any value, [`Error::BadAbscissa`] for an x that the axis cannot show,
    /// [`Error::BadClamp`] for invalid limits.
    pub fn draw(&self) -> Result<Drawing> {
        self.clamp.check()?;
        let xs = |curve: &Curve| -> Vec<f64> {
            curve
                .points
                .iter()
                .map(|point| point.0)
                .chain(curve.band.iter().map(|place| place.x))
                .collect()
        };
        for curve in &self.curves {
            if let Some(value) = xs(curve).into_iter().find(|&x| !self.x.scale.shows(x)) {
                return Err(Error::BadAbscissa {
                    series: curve.label.clone(),
                    value,
                });
            }
        }
        let marks: Vec<Vec<Option<Mark>>> =
            self.curves.iter().map(|curve| self.marks(curve)).collect();
        let bands: Vec<Vec<(f64, f64, f64)>> =
            self.curves.iter().map(|curve| self.band(curve)).collect();
        let drawn_y = marks.iter().flatten().flatten().map(|mark| mark.y);
        let band_y = bands
            .iter()
            .flatten()
            .flat_map(|&(_, low, high)| [low, high]);
        let ranges = (
            series::range(self.curves.iter().flat_map(xs)),
            series::range(drawn_y.chain(band_y)),
        );
        let (Some((x_min, x_max)), Some((y_min, y_max))) = ranges else {
            return Err(Error::NothingToDraw {
                figure: self.title.clone(),
            });
        };

        let x_axis = Axis::new(self.x.scale, x_min, x_max, 9);
        let y_axis = Axis::new(self.y.scale, y_min, y_max, 8);
        let beside = self.key == Key::Beside;
        let mut frame = FRAME;
        if beside {
            let least = side_labels::LINE * (self.curves.len() as f64 + 0.5);
            frame.bottom = frame.bottom.max(frame.top + least);
        }
        let panel = Panel {
            frame,
            x: &x_axis,
            y: &y_axis,
        };
        let mut group = Group::new("panel");
        let (mut entries, mut sides, mut clamped) = (Vec::new(), Vec::new(), false);
        panel.grid(&mut group);
        for (i, band) in bands
            .iter()
            .enumerate()
            .filter(|(_, band)| !band.is_empty())
        {
            panel.band(&mut group, band, tint(i));
        }
        for (i, (curve, marks)) in self.curves.iter().zip(&marks).enumerate() {
            let stroke = stroke(i, curve.pattern);
            panel.line(&mut group, "curve", marks, stroke);
            clamped |= panel.triangles(&mut group, marks, Fill::solid(color(i)));
            if beside {
                let end = marks.iter().flatten().last();
                let end = end.map(|mark| panel.at(mark.x, mark.y));
                sides.extend(end.map(|end| side_labels::Label::new(&curve.label, end, stroke)));
                continue;
            }
            let sample = if bands[i].is_empty() {
                Sample::Line(stroke)
            } else {
                Sample::Banded(stroke, tint(i))
            };
            entries.push(Entry {
                sample,
                label: fitted(&curve.label),
            });
        }
        for meaning in &self.meanings {
            let grey = Stroke {
                color: style::GREY,
                ..stroke(0, meaning.pattern)
            };
            entries.push(Entry {
                sample: Sample::Line(grey),
                label: fitted(&meaning.label),
            });
        }
        if clamped {
            let sample = Sample::Triangles(Fill::solid(style::GREY));
            entries.push(Entry {
                sample,
                label: self.clamp.label(),
            });
        }
        for reference in &self.references {
            if panel.horizontal(&mut group, "level", reference.value, style::LEVEL_LINE) {
                let label = fitted(&reference.label);
                entries.push(Entry {
                    sample: Sample::Line(style::LEVEL_LINE),
                    label,
                });
            }
        }
        panel.frame(&mut group, true);

        let legend = Legend::new(entries, WIDTH - 16.0);
        let legend_top = frame.bottom + X_LABELS;
        let height = legend_top + legend.height() + 6.0;
        let width = match sides.is_empty() {
            true => WIDTH,
            false => frame.right + side_labels::width(&sides) + 6.0,
        };
        let groups = vec![
            group,
            self.axis_labels(frame),
            side_labels::draw(sides, frame),
            legend.draw(0.5 * WIDTH, legend_top),
        ];
        Ok(Drawing {
            width,
            height,
            title: self.title.clone(),
            groups,
        })
    }

    fn marks(&self, curve: &Curve) -> Vec<Option<Mark>> {
        let mark = |&(x, y): &(f64, f64)| match self.y.scale {
            Scale::Log => Some(self.clamp.mark(x, y)),
            Scale::Linear => y.is_finite().then_some(Mark { x, y, edge: None }),
        };
        curve.points.iter().map(mark).collect()
    }

    /// The band with clamped edges; on a linear axis, without values that are not finite.
    fn band(&self, curve: &Curve) -> Vec<(f64, f64, f64)> {
        let place = |place: &BandPoint| match self.y.scale {
            Scale::Log => {
                let edge = |y| self.clamp.mark(place.x, y).y;
                Some((place.x, edge(place.low), edge(place.high)))
            }
            Scale::Linear if place.low.is_finite() && place.high.is_finite() => {
                Some((place.x, place.low, place.high))
            }
            Scale::Linear => None,
        };
        curve.band.iter().filter_map(place).collect()
    }

    fn axis_labels(&self, frame: Rect) -> Group {
        let mut group = Group::new("axes");
        let [x, y] = frame.center();
        let below = [x, frame.bottom + X_LABELS - 7.0];
        group.push(panel::label(
            &fitted(&self.x.label),
            below,
            Anchor::Middle,
            false,
        ));
        let vertical = Text::fitted(&self.y.label, style::LABEL, frame.height());
        group.push(panel::label(
            &vertical,
            [4.0 + style::LABEL, y],
            Anchor::Middle,
            true,
        ));
        group
    }
}

fn fitted(label: &str) -> Text {
    Text::fitted(label, style::LABEL, WIDTH - 50.0)
}

fn color(curve: usize) -> Color {
    style::CURVES[curve % style::CURVES.len()]
}

fn tint(curve: usize) -> Fill {
    Fill {
        color: color(curve),
        opacity: BAND_OPACITY,
    }
}

fn stroke(curve: usize, pattern: Pattern) -> Stroke {
    let dash = match pattern {
        Pattern::Automatic => (curve / style::CURVES.len()) % style::DASHES.len(),
        Pattern::Solid => 0,
        Pattern::Dashed => 1,
        Pattern::Dotted => 2,
    };
    Stroke {
        color: color(curve),
        width: 1.1,
        dash: style::DASHES[dash],
    }
}
