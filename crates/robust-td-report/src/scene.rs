//! Holds the shapes of a drawing, independent of the output format.

/// A point in points (1/72 inch), x to the right, y downwards.
pub(crate) type Point = [f64; 2];

/// One step of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Segment {
    Move(Point),
    Line(Point),
    Cubic([Point; 3]),
    Close,
}

/// An outline: lines and cubic curves.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Path {
    pub(crate) segments: Vec<Segment>,
}

impl Path {
    /// The open line through `points`.
    pub(crate) fn polyline(points: &[Point]) -> Self {
        let mut path = Self::default();
        for (i, &point) in points.iter().enumerate() {
            path.segments.push(if i == 0 {
                Segment::Move(point)
            } else {
                Segment::Line(point)
            });
        }
        path
    }

    /// The closed polygon through `points`.
    pub(crate) fn polygon(points: &[Point]) -> Self {
        let mut path = Self::polyline(points);
        path.segments.push(Segment::Close);
        path
    }

    /// The straight line from `a` to `b`.
    pub(crate) fn line(a: Point, b: Point) -> Self {
        Self::polyline(&[a, b])
    }

    /// The rectangle with these edges.
    pub(crate) fn rectangle(frame: Rect) -> Self {
        let Rect {
            left,
            top,
            right,
            bottom,
        } = frame;
        Self::polygon(&[[left, top], [right, top], [right, bottom], [left, bottom]])
    }

    /// The circle around `[x, y]`, as four cubic arcs.
    pub(crate) fn circle([x, y]: Point, radius: f64) -> Self {
        // 4/3 (sqrt 2 - 1): the handle length at which a cubic follows a quarter circle best.
        let k = radius * 0.552_284_749_8;
        let r = radius;
        Self {
            segments: vec![
                Segment::Move([x + r, y]),
                Segment::Cubic([[x + r, y + k], [x + k, y + r], [x, y + r]]),
                Segment::Cubic([[x - k, y + r], [x - r, y + k], [x - r, y]]),
                Segment::Cubic([[x - r, y - k], [x - k, y - r], [x, y - r]]),
                Segment::Cubic([[x + k, y - r], [x + r, y - k], [x + r, y]]),
                Segment::Close,
            ],
        }
    }

    /// Appends the segments of `other`.
    pub(crate) fn extend(&mut self, other: Path) {
        self.segments.extend(other.segments);
    }
}

/// Edges of a rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn center(&self) -> Point {
        [
            0.5 * (self.left + self.right),
            0.5 * (self.top + self.bottom),
        ]
    }
}

/// An sRGB colour.
pub(crate) type Color = [u8; 3];

/// How an outline is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fill {
    pub(crate) color: Color,
    pub(crate) opacity: f64,
}

impl Fill {
    pub(crate) const fn solid(color: Color) -> Self {
        Self {
            color,
            opacity: 1.0,
        }
    }
}

/// How an outline is stroked; joins are round, ends are flat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) color: Color,
    pub(crate) width: f64,
    /// Alternating lengths of dash and gap; empty for a solid line. An even number of entries.
    pub(crate) dash: &'static [f64],
}

/// A painted outline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// What the shape is, for style sheets and tests.
    pub(crate) class: &'static str,
    /// The words that the outlines show, when the shape is text.
    pub(crate) text: Option<String>,
    /// The words that a viewer shows when the pointer rests on the shape.
    pub(crate) hint: Option<String>,
    pub(crate) path: Path,
    pub(crate) fill: Option<Fill>,
    pub(crate) stroke: Option<Stroke>,
}

impl Shape {
    pub(crate) fn filled(class: &'static str, path: Path, fill: Fill) -> Self {
        Self {
            class,
            text: None,
            hint: None,
            path,
            fill: Some(fill),
            stroke: None,
        }
    }

    /// The shape with words for the pointer.
    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn stroked(class: &'static str, path: Path, stroke: Stroke) -> Self {
        Self {
            class,
            text: None,
            hint: None,
            path,
            fill: None,
            stroke: Some(stroke),
        }
    }
}

/// A named group of shapes: a panel, the legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) class: &'static str,
    pub(crate) shapes: Vec<Shape>,
}

impl Group {
    pub(crate) fn new(class: &'static str) -> Self {
        Self {
            class,
            shapes: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, shape: Shape) {
        self.shapes.push(shape);
    }
}

/// A finished figure. [`Drawing::to_svg`] and [`Drawing::to_png`] give the same picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) title: String,
    pub(crate) groups: Vec<Group>,
}

impl Drawing {
    /// Width in points (1/72 inch).
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Height in points (1/72 inch).
    pub fn height(&self) -> f64 {
        self.height
    }

    /// The title, which screen readers read instead of the picture.
    pub fn title(&self) -> &str {
        &self.title
    }
}
