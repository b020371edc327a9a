//! Draws the inside of one frame: axes, curves, markers and reference lines.

use crate::axis::Axis;
use crate::scene::{Fill, Group, Path, Point, Rect, Shape, Stroke};
use crate::series::{Edge, Mark};
use crate::style;
use crate::text::{Anchor, Placement, Text};

/// Length of a major tick.
const MAJOR: f64 = 3.0;
/// Length of a minor tick.
const MINOR: f64 = 1.7;
/// Distance of the tick labels from the frame.
const LABEL_GAP: f64 = 2.5;

/// A frame with its two axes.
pub(crate) struct Panel<'a> {
    pub(crate) frame: Rect,
    pub(crate) x: &'a Axis,
    pub(crate) y: &'a Axis,
}

impl Panel<'_> {
    /// Where the value pair is drawn.
    pub(crate) fn at(&self, x: f64, y: f64) -> Point {
        [
            self.frame.left + self.x.fraction(x) * self.frame.width(),
            self.frame.bottom - self.y.fraction(y) * self.frame.height(),
        ]
    }

    /// Pale lines at the labelled ticks, to be drawn first.
    pub(crate) fn grid(&self, group: &mut Group) {
        let Rect {
            left,
            top,
            right,
            bottom,
        } = self.frame;
        let mut path = Path::default();
        for tick in self.x.ticks.iter().filter(|tick| tick.label.is_some()) {
            let x = self.frame.left + self.x.fraction(tick.value) * self.frame.width();
            path.extend(Path::line([x, top], [x, bottom]));
        }
        for tick in self.y.ticks.iter().filter(|tick| tick.label.is_some()) {
            let y = self.frame.bottom - self.y.fraction(tick.value) * self.frame.height();
            path.extend(Path::line([left, y], [right, y]));
        }
        group.push(Shape::stroked("grid", path, style::GRID_LINE));
    }

    /// Pale vertical lines only.
    pub(crate) fn x_grid(&self, group: &mut Group) {
        let mut path = Path::default();
        for tick in self.x.ticks.iter().filter(|tick| tick.label.is_some()) {
            let x = self.at(tick.value, 0.0)[0];
            path.extend(Path::line([x, self.frame.top], [x, self.frame.bottom]));
        }
        group.push(Shape::stroked("grid", path, style::GRID_LINE));
    }

    /// The frame with the ticks of x only.
    pub(crate) fn x_frame(&self, group: &mut Group) {
        self.outline(group, true, false);
    }

    /// The frame and its ticks, to be drawn last; x labels only where `x_labels` says so.
    pub(crate) fn frame(&self, group: &mut Group, x_labels: bool) {
        self.outline(group, x_labels, true);
    }

    fn outline(&self, group: &mut Group, x_labels: bool, y_ticks: bool) {
        let Rect { left, bottom, .. } = self.frame;
        let (mut major, mut minor) = (Path::default(), Path::default());
        for tick in &self.x.ticks {
            let x = left + self.x.fraction(tick.value) * self.frame.width();
            let (path, length) = if tick.label.is_some() {
                (&mut major, MAJOR)
            } else {
                (&mut minor, MINOR)
            };
            path.extend(Path::line([x, bottom], [x, bottom - length]));
            if let (Some(label), true) = (&tick.label, x_labels) {
                group.push(label.shape(tick_label(
                    [x, bottom + LABEL_GAP + style::TICK],
                    Anchor::Middle,
                )));
            }
        }
        for tick in self.y.ticks.iter().filter(|_| y_ticks) {
            let y = bottom - self.y.fraction(tick.value) * self.frame.height();
            let (path, length) = if tick.label.is_some() {
                (&mut major, MAJOR)
            } else {
                (&mut minor, MINOR)
            };
            path.extend(Path::line([left, y], [left + length, y]));
            if let Some(label) = &tick.label {
                // A third of the size centres the digits on the tick.
                group.push(label.shape(tick_label(
                    [left - LABEL_GAP, y + 0.32 * style::TICK],
                    Anchor::End,
                )));
            }
        }
        group.push(Shape::stroked("minor-ticks", minor, style::MINOR_TICK));
        group.push(Shape::stroked("major-ticks", major, style::FRAME_LINE));
        group.push(Shape::stroked(
            "frame",
            Path::rectangle(self.frame),
            style::FRAME_LINE,
        ));
    }

    /// The line through `marks`, interrupted where a value is missing.
    pub(crate) fn line(
        &self,
        group: &mut Group,
        class: &'static str,
        marks: &[Option<Mark>],
        stroke: Stroke,
    ) {
        let mut path = Path::default();
        for stretch in marks.split(Option::is_none) {
            let points: Vec<Point> = stretch
                .iter()
                .flatten()
                .map(|mark| self.at(mark.x, mark.y))
                .collect();
            path.extend(Path::polyline(&points));
        }
        group.push(Shape::stroked(class, path, stroke));
    }

    /// A dot at every mark that is not clamped.
    pub(crate) fn dots(&self, group: &mut Group, marks: &[Option<Mark>], fill: Fill) {
        let mut path = Path::default();
        for mark in marks.iter().flatten().filter(|mark| mark.edge.is_none()) {
            path.extend(dot(self.at(mark.x, mark.y)));
        }
        group.push(Shape::filled("dots", path, fill));
    }

    /// A ring at every mark.
    pub(crate) fn rings(&self, group: &mut Group, marks: &[Option<Mark>]) {
        let mut path = Path::default();
        for mark in marks.iter().flatten() {
            path.extend(Path::circle(self.at(mark.x, mark.y), style::RING));
        }
        group.push(Shape::stroked("rings", path, style::RING_LINE));
    }

    /// Triangles at the clamped marks, pointing out of the panel. A run of neighbours gets one at its start and
    /// then one wherever the last is far enough away, so that they stay distinct. Returns whether there was any.
    pub(crate) fn triangles(&self, group: &mut Group, marks: &[Option<Mark>], fill: Fill) -> bool {
        let mut path = Path::default();
        let mut last: Option<(Edge, f64)> = None;
        for mark in marks {
            let Some(&Mark {
                x,
                y,
                edge: Some(edge),
            }) = mark.as_ref()
            else {
                last = None;
                continue;
            };
            let point = self.at(x, y);
            let close = |(side, at): (Edge, f64)| {
                side == edge && (point[0] - at).abs() < style::TRIANGLE_DISTANCE
            };
            if !last.is_some_and(close) {
                path.extend(triangle(point, edge));
                last = Some((edge, point[0]));
            }
        }
        let any = !path.segments.is_empty();
        if any {
            group.push(Shape::filled("clamped", path, fill));
        }
        any
    }

    /// The area between `low` and `high`.
    pub(crate) fn band(&self, group: &mut Group, edges: &[(f64, f64, f64)], fill: Fill) {
        let lower = edges.iter().map(|&(x, low, _)| self.at(x, low));
        let upper = edges.iter().rev().map(|&(x, _, high)| self.at(x, high));
        let points: Vec<Point> = lower.chain(upper).collect();
        group.push(Shape::filled("band", Path::polygon(&points), fill));
    }

    /// A vertical line at `x`; returns whether `x` is in the range, so that the line was drawn.
    pub(crate) fn vertical(
        &self,
        group: &mut Group,
        class: &'static str,
        x: f64,
        stroke: Stroke,
    ) -> bool {
        let inside = self.x.contains(x);
        if inside {
            let x = self.frame.left + self.x.fraction(x) * self.frame.width();
            group.push(Shape::stroked(
                class,
                Path::line([x, self.frame.bottom], [x, self.frame.top]),
                stroke,
            ));
        }
        inside
    }

    /// A horizontal line at `y`; returns whether `y` is in the range, so that the line was drawn.
    pub(crate) fn horizontal(
        &self,
        group: &mut Group,
        class: &'static str,
        y: f64,
        stroke: Stroke,
    ) -> bool {
        let inside = self.y.contains(y);
        if inside {
            let y = self.frame.bottom - self.y.fraction(y) * self.frame.height();
            group.push(Shape::stroked(
                class,
                Path::line([self.frame.left, y], [self.frame.right, y]),
                stroke,
            ));
        }
        inside
    }
}

fn tick_label(position: Point, anchor: Anchor) -> Placement {
    Placement {
        position,
        anchor,
        size: style::TICK,
        color: style::BLACK,
        turned: false,
    }
}

/// A label in the size of labels.
pub(crate) fn label(text: &Text, position: Point, anchor: Anchor, turned: bool) -> Shape {
    text.shape(Placement {
        position,
        anchor,
        size: style::LABEL,
        color: style::BLACK,
        turned,
    })
}

/// A label in the size of the numbers at the ticks.
pub(crate) fn small_label(text: &Text, position: Point, anchor: Anchor) -> Shape {
    text.shape(tick_label(position, anchor))
}

/// The same from bottom to top, ending at `position`.
pub(crate) fn turned_label(text: &Text, position: Point) -> Shape {
    text.shape(Placement {
        turned: true,
        ..tick_label(position, Anchor::End)
    })
}

/// The dot of a value.
pub(crate) fn dot(center: Point) -> Path {
    Path::circle(center, style::DOT)
}

/// The triangle of a clamped value, with its base on the limit.
pub(crate) fn triangle([x, y]: Point, edge: Edge) -> Path {
    let half = style::TRIANGLE;
    let height = match edge {
        Edge::High => -1.7 * half,
        Edge::Low => 1.7 * half,
    };
    let base = y - 0.5 * height;
    Path::polygon(&[[x - half, base], [x + half, base], [x, base + height]])
}
