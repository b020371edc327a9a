//! Draws a small panel of bars, curves and points with error bars, two of which fit side by side on a page.
//!
//! Bars, points and strips show their numbers when the pointer rests on them.

use crate::axis::{Axis, Scale};
use crate::legend::{Entry, Legend, Sample};
use crate::panel::{self, Panel};
use crate::scene::{Color, Drawing, Fill, Group, Path, Point, Rect, Shape, Stroke};
use crate::series::{self, Mark};
use crate::style;
use crate::text::{Anchor, Text};
use crate::{Error, Result};

/// A chart with linear axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// What the chart shows, for screen readers.
    pub title: String,
    /// What the horizontal axis shows.
    pub x: String,
    /// What the vertical axis shows.
    pub y: String,
    /// What is drawn, in order.
    pub layers: Vec<Layer>,
    /// Whether both axes have the same range.
    pub same_axes: bool,
}

/// One kind of mark. An empty label leaves a layer out of the legend.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Layer {
    /// Bars from 0 upwards.
    Bars {
        /// Legend entry.
        label: String,
        /// The bars.
        bars: Vec<Bar>,
    },
    /// A curve.
    Line {
        /// Legend entry.
        label: String,
        /// (x, y) pairs; a y that is not finite interrupts the curve.
        points: Vec<(f64, f64)>,
        /// The colour.
        tone: Tone,
    },
    /// Points with error bars.
    Points {
        /// Legend entry.
        label: String,
        /// The points.
        points: Vec<ErrorBar>,
        /// The colour.
        tone: Tone,
    },
    /// The line y = x.
    Diagonal {
        /// Legend entry.
        label: String,
    },
    /// A vertical line.
    Vertical {
        /// Legend entry.
        label: String,
        /// Where it is.
        x: f64,
    },
    /// Strips without marks that only show numbers.
    Strips {
        /// The strips.
        strips: Vec<Strip>,
    },
}

/// A colour with a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// The first colour.
    #[default]
    First,
    /// The second colour.
    Second,
    /// The colour of what is wrong.
    Wrong,
}

impl Tone {
    pub(crate) fn color(self) -> Color {
        match self {
            Self::First => style::BLUE,
            Self::Second => style::ORANGE,
            Self::Wrong => style::VERMILLION,
        }
    }
}

/// A bar over an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The left end.
    pub low: f64,
    /// The right end.
    pub high: f64,
    /// The height, at least 0.
    pub value: f64,
    /// The words for the pointer.
    pub hint: String,
}

/// A point with an error bar.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorBar {
    /// Abscissa.
    pub x: f64,
    /// Ordinate.
    pub y: f64,
    /// The lower and upper end of the bar, if there is one.
    pub ends: Option<(f64, f64)>,
    /// The words for the pointer.
    pub hint: String,
}

/// An interval of x with words for the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// The left end.
    pub low: f64,
    /// The right end.
    pub high: f64,
    /// The words for the pointer.
    pub hint: String,
}

/// Width of a chart: that of a phone at the least readable size.
pub(crate) const WIDTH: f64 = 264.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 156.0;
const RIGHT: f64 = WIDTH - 10.0;
/// Space for tick labels and axis label below the panel.
const X_LABELS: f64 = 28.0;
/// Radius of a point.
const POINT: f64 = 2.4;
/// Half the width of the ends of an error bar.
const CAP: f64 = 2.2;
const BAR_OPACITY: f64 = 0.55;
/// What only the pointer sees.
const INVISIBLE: Fill = Fill {
    color: style::GREY,
    opacity: 0.0,
};

impl Chart {
    /// Draws the chart, 3.7 inches wide.
    ///
    /// # Errors
    /// [`Error::NothingToDraw`] without a finite value, [`Error::BadAbscissa`] for an x that is not finite.
    pub fn draw(&self) -> Result<Drawing> {
        let xs: Vec<f64> = self.layers.iter().flat_map(Layer::xs).collect();
        if let Some(&value) = xs.iter().find(|x| !x.is_finite()) {
            let series = self.title.clone();
            return Err(Error::BadAbscissa { series, value });
        }
        let ys: Vec<f64> = self.layers.iter().flat_map(Layer::ys).collect();
        let ranges = (
            series::range(xs.into_iter()),
            series::range(ys.into_iter().filter(|y| y.is_finite())),
        );
        let (Some(x), Some(y)) = ranges else {
            return Err(Error::NothingToDraw {
                figure: self.title.clone(),
            });
        };
        let (x, y) = match self.same_axes {
            true => {
                let both = (x.0.min(y.0), x.1.max(y.1));
                (both, both)
            }
            false => (x, y),
        };
        let bars = (self.layers.iter()).any(|layer| matches!(layer, Layer::Bars { .. }));
        let y_axis = match bars && y.1 > 0.0 {
            true => Axis::counts(y.1, 6),
            false => Axis::new(Scale::Linear, y.0, y.1, 6),
        };
        let left = 4.0 + style::LABEL + 6.0 + y_axis.label_width(style::TICK) + 3.0;
        let x_axis = Axis::below(x.0, x.1, RIGHT - left, style::TICK).within(
            left,
            RIGHT - left,
            style::TICK,
            WIDTH,
        );
        let panel = Panel {
            frame: Rect {
                left,
                top: TOP,
                right: RIGHT,
                bottom: BOTTOM,
            },
            x: &x_axis,
            y: &y_axis,
        };
        Ok(self.drawing(&panel))
    }

    fn drawing(&self, panel: &Panel<'_>) -> Drawing {
        let mut group = Group::new("panel");
        panel.grid(&mut group);
        let mut entries = Vec::new();
        for layer in &self.layers {
            layer.draw(panel, &mut group);
            entries.extend(layer.entry());
        }
        panel.frame(&mut group, true);
        // What the pointer finds lies on top.
        let mut strips = Group::new("strips");
        for layer in &self.layers {
            layer.draw_strips(panel, &mut strips);
        }
        let legend = Legend::new(entries, WIDTH - 8.0);
        let legend_top = BOTTOM + X_LABELS + 2.0;
        Drawing {
            width: WIDTH,
            height: legend_top + legend.height() + 4.0,
            title: self.title.clone(),
            groups: vec![
                group,
                self.axis_labels(panel.frame),
                legend.draw(0.5 * WIDTH, legend_top),
                strips,
            ],
        }
    }

    fn axis_labels(&self, frame: Rect) -> Group {
        let mut group = Group::new("axes");
        let [x, y] = frame.center();
        let below = [x, frame.bottom + X_LABELS - 6.0];
        let words = Text::fitted(&self.x, style::LABEL, WIDTH - 12.0);
        // A long label under a narrow panel moves to the middle of the chart.
        let half = 0.5 * words.width(style::LABEL);
        let middle = below[0].min(WIDTH - 6.0 - half).max(6.0 + half);
        let below = [middle, below[1]];
        group.push(panel::label(&words, below, Anchor::Middle, false));
        let vertical = Text::fitted(&self.y, style::LABEL, frame.height());
        let beside = [3.0 + style::LABEL, y];
        group.push(panel::label(&vertical, beside, Anchor::Middle, true));
        group
    }
}

impl Layer {
    fn xs(&self) -> Vec<f64> {
        match self {
            Self::Bars { bars, .. } => bars.iter().flat_map(|bar| [bar.low, bar.high]).collect(),
            Self::Line { points, .. } => points.iter().map(|point| point.0).collect(),
            Self::Points { points, .. } => points.iter().map(|point| point.x).collect(),
            Self::Vertical { x, .. } => vec![*x],
            Self::Diagonal { .. } | Self::Strips { .. } => Vec::new(),
        }
    }

    fn ys(&self) -> Vec<f64> {
        match self {
            Self::Bars { bars, .. } => bars.iter().map(|bar| bar.value).collect(),
            Self::Line { points, .. } => points.iter().map(|point| point.1).collect(),
            Self::Points { points, .. } => {
                let ends = points.iter().filter_map(|point| point.ends);
                let ends = ends.flat_map(|(low, high)| [low, high]);
                ends.chain(points.iter().map(|point| point.y)).collect()
            }
            Self::Diagonal { .. } | Self::Vertical { .. } | Self::Strips { .. } => Vec::new(),
        }
    }

    fn draw(&self, panel: &Panel<'_>, group: &mut Group) {
        match self {
            Self::Bars { bars, .. } => draw_bars(panel, group, bars),
            Self::Line { points, tone, .. } => {
                let marks: Vec<Option<Mark>> = (points.iter())
                    .map(|&(x, y)| y.is_finite().then_some(Mark { x, y, edge: None }))
                    .collect();
                panel.line(group, "curve", &marks, line(*tone));
            }
            Self::Points { points, tone, .. } => {
                for point in points.iter().filter(|point| point.y.is_finite()) {
                    draw_point(panel, group, point, *tone);
                }
            }
            Self::Diagonal { .. } => {
                let [low, high] = panel.y.shown();
                let ends = panel.x.shown().map(|end| end.clamp(low, high));
                let path = Path::line(panel.at(ends[0], ends[0]), panel.at(ends[1], ends[1]));
                group.push(Shape::stroked("diagonal", path, style::LEVEL_LINE));
            }
            Self::Vertical { x, .. } => {
                panel.vertical(group, "level", *x, style::FIRST_LINE);
            }
            Self::Strips { .. } => {}
        }
    }

    fn draw_strips(&self, panel: &Panel<'_>, group: &mut Group) {
        let Self::Strips { strips } = self else {
            return;
        };
        for strip in strips {
            let [low, high] = [strip.low, strip.high].map(|x| panel.at(x, 0.0)[0]);
            let inside = |x: f64| x.clamp(panel.frame.left, panel.frame.right);
            let area = Rect {
                left: inside(low),
                right: inside(high),
                ..panel.frame
            };
            let shape = Shape::filled("strip", Path::rectangle(area), INVISIBLE);
            group.push(shape.hinted(&strip.hint));
        }
    }

    fn entry(&self) -> Option<Entry> {
        let (label, sample) = match self {
            Self::Bars { label, .. } => (label, Sample::Box(bar_fill())),
            Self::Line { label, tone, .. } => (label, Sample::Line(line(*tone))),
            Self::Points { label, tone, .. } => (label, Sample::Point(Fill::solid(tone.color()))),
            Self::Diagonal { label } => (label, Sample::Line(style::LEVEL_LINE)),
            Self::Vertical { label, .. } => (label, Sample::Line(style::FIRST_LINE)),
            Self::Strips { .. } => return None,
        };
        let label = Text::fitted(label, style::LABEL, WIDTH - 32.0);
        (!label.is_empty()).then_some(Entry { sample, label })
    }
}

fn draw_bars(panel: &Panel<'_>, group: &mut Group, bars: &[Bar]) {
    for bar in bars.iter().filter(|bar| bar.value > 0.0) {
        let ([left, bottom], [right, top]) =
            (panel.at(bar.low, 0.0), panel.at(bar.high, bar.value));
        // A thin gap shows where one bar ends, and bars of width 0 are still seen.
        let gap = if right - left > 3.0 { 0.3 } else { 0.0 };
        let area = Rect {
            left: left + gap,
            top,
            right: (right - gap).max(left + gap + 0.6),
            bottom,
        };
        let shape = Shape::filled("bar", Path::rectangle(area), bar_fill());
        group.push(shape.hinted(&bar.hint));
    }
}

fn draw_point(panel: &Panel<'_>, group: &mut Group, point: &ErrorBar, tone: Tone) {
    let center = panel.at(point.x, point.y);
    if let Some((low, high)) = point.ends.filter(|(low, high)| (high - low).is_finite()) {
        let path = error_bar(panel.at(point.x, low), panel.at(point.x, high));
        group.push(Shape::stroked("error", path, line(tone)).hinted(&point.hint));
    }
    let path = Path::circle(center, POINT);
    let shape = Shape::filled("point", path, Fill::solid(tone.color()));
    group.push(shape.hinted(&point.hint));
}

fn error_bar(low: Point, high: Point) -> Path {
    let mut path = Path::line(low, high);
    for [x, y] in [low, high] {
        path.extend(Path::line([x - CAP, y], [x + CAP, y]));
    }
    path
}

fn line(tone: Tone) -> Stroke {
    Stroke {
        color: tone.color(),
        width: 1.1,
        dash: &[],
    }
}

fn bar_fill() -> Fill {
    Fill {
        color: style::BLUE,
        opacity: BAR_OPACITY,
    }
}
