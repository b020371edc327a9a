//! Lays out the key of a figure in centred lines.

use crate::panel;
use crate::scene::{Fill, Group, Path, Point, Rect, Shape, Stroke};
use crate::series::Edge;
use crate::style;
use crate::text::{Anchor, Text};

/// Length of a sample.
const SAMPLE: f64 = 16.0;
/// Space between sample and label.
const GAP: f64 = 4.0;
/// Space between entries.
const SPACE: f64 = 14.0;
/// Height of a line.
const LINE: f64 = 12.5;

/// The sample of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sample {
    /// A line.
    Line(Stroke),
    /// A line with dots.
    Dotted(Stroke),
    /// A line in a band.
    Banded(Stroke, Fill),
    /// The ring of a printed point.
    Ring,
    /// The triangles of clamped values.
    Triangles(Fill),
    /// A bar.
    Box(Fill),
    /// A point.
    Point(Fill),
}

/// A sample and its meaning.
pub(crate) struct Entry {
    pub(crate) sample: Sample,
    pub(crate) label: Text,
}

impl Entry {
    fn width(&self) -> f64 {
        SAMPLE + GAP + self.label.width(style::LABEL)
    }

    fn draw(&self, group: &mut Group, [left, middle]: Point) {
        let (from, to, center) = ([left, middle], [left + SAMPLE, middle], left + 0.5 * SAMPLE);
        match self.sample {
            Sample::Line(stroke) => group.push(Shape::stroked("key", Path::line(from, to), stroke)),
            Sample::Dotted(stroke) => {
                group.push(Shape::stroked("key", Path::line(from, to), stroke));
                let mut dots = Path::default();
                for x in [-5.0, 0.0, 5.0] {
                    dots.extend(panel::dot([center + x, middle]));
                }
                group.push(Shape::filled("key", dots, Fill::solid(stroke.color)));
            }
            Sample::Banded(stroke, fill) => {
                let area = [[left, middle - 3.0], [left + SAMPLE, middle - 3.0]];
                let area = [
                    area[0],
                    area[1],
                    [left + SAMPLE, middle + 3.0],
                    [left, middle + 3.0],
                ];
                group.push(Shape::filled("key", Path::polygon(&area), fill));
                group.push(Shape::stroked("key", Path::line(from, to), stroke));
            }
            Sample::Ring => {
                group.push(Shape::stroked(
                    "key",
                    Path::circle([center, middle], style::RING),
                    style::RING_LINE,
                ));
            }
            Sample::Box(fill) => {
                let area = Rect {
                    left: center - 5.0,
                    top: middle - 3.0,
                    right: center + 5.0,
                    bottom: middle + 3.0,
                };
                group.push(Shape::filled("key", Path::rectangle(area), fill));
            }
            Sample::Point(fill) => {
                let path = Path::circle([center, middle], 2.4);
                group.push(Shape::filled("key", path, fill));
            }
            Sample::Triangles(fill) => {
                let mut path = panel::triangle([center - 3.5, middle], Edge::High);
                path.extend(panel::triangle([center + 3.5, middle], Edge::Low));
                group.push(Shape::filled("key", path, fill));
            }
        }
        let baseline = [left + SAMPLE + GAP, middle + 0.32 * style::LABEL];
        group.push(panel::label(&self.label, baseline, Anchor::Start, false));
    }
}

/// Entries broken into lines of a given width.
pub(crate) struct Legend {
    lines: Vec<Vec<Entry>>,
}

impl Legend {
    pub(crate) fn new(entries: Vec<Entry>, width: f64) -> Self {
        let mut lines: Vec<Vec<Entry>> = Vec::new();
        for entry in entries {
            match lines.last_mut() {
                Some(line) if line_width(line) + SPACE + entry.width() <= width => line.push(entry),
                _ => lines.push(vec![entry]),
            }
        }
        Self { lines }
    }

    pub(crate) fn height(&self) -> f64 {
        LINE * self.lines.len() as f64
    }

    /// The lines, centred around `center` below `top`.
    pub(crate) fn draw(&self, center: f64, top: f64) -> Group {
        let mut group = Group::new("legend");
        for (i, line) in self.lines.iter().enumerate() {
            let mut left = center - 0.5 * line_width(line);
            for entry in line {
                entry.draw(&mut group, [left, top + LINE * (i as f64 + 0.5)]);
                left += entry.width() + SPACE;
            }
        }
        group
    }
}

fn line_width(line: &[Entry]) -> f64 {
    let widths: f64 = line.iter().map(Entry::width).sum();
    widths + SPACE * line.len().saturating_sub(1) as f64
}
