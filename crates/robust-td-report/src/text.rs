//! Sets lines of text with italics, subscripts and superscripts.

use crate::font::{self, Slant};
use crate::scene::{Color, Fill, Path, Point, Segment, Shape};

/// Size of sub- and superscripts, relative to the text.
const SCRIPT_SIZE: f64 = 0.7;
/// Rise of a superscript, relative to the text size.
const RISE: f64 = 0.38;
/// Drop of a subscript, relative to the text size.
const DROP: f64 = 0.16;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Script {
    Normal,
    Super,
    Sub,
}

#[derive(Clone, Debug, PartialEq)]
struct Run {
    text: String,
    slant: Slant,
    script: Script,
}

/// A line of text with italics, subscripts and superscripts, for figures and pages.
///
/// Strings are taken literally: there is no markup to escape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    runs: Vec<Run>,
}

impl Text {
    /// Upright text.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::default().upright(text)
    }

    /// Adds upright text.
    pub fn upright(self, text: impl Into<String>) -> Self {
        self.run(text.into(), Slant::Upright, Script::Normal)
    }

    /// Adds italic text, for symbols.
    pub fn italic(self, text: impl Into<String>) -> Self {
        self.run(text.into(), Slant::Italic, Script::Normal)
    }

    /// Adds a superscript.
    pub fn superscript(self, text: impl Into<String>) -> Self {
        self.run(text.into(), Slant::Upright, Script::Super)
    }

    /// Adds a subscript.
    pub fn subscript(self, text: impl Into<String>) -> Self {
        self.run(text.into(), Slant::Upright, Script::Sub)
    }

    /// Adds an italic subscript, for indices.
    pub fn italic_subscript(self, text: impl Into<String>) -> Self {
        self.run(text.into(), Slant::Italic, Script::Sub)
    }

    /// Adds another text.
    pub fn then(mut self, other: Text) -> Self {
        self.runs.extend(other.runs);
        self
    }

    /// Whether there is nothing to set.
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(|run| run.text.is_empty())
    }

    fn run(mut self, text: String, slant: Slant, script: Script) -> Self {
        self.runs.push(Run {
            text,
            slant,
            script,
        });
        self
    }

    /// `text`, cut with an ellipsis when it is wider than `width` in `size`.
    pub(crate) fn fitted(text: &str, size: f64, width: f64) -> Self {
        let whole = Self::plain(text);
        if whole.width(size) <= width {
            return whole;
        }
        let mut kept: Vec<char> = text.chars().collect();
        while kept.pop().is_some() {
            let cut = Self::plain(kept.iter().collect::<String>() + "…");
            if cut.width(size) <= width {
                return cut;
            }
        }
        Self::plain("…")
    }

    /// `text`, cut in its middle when it is wider than `width` in `size`: names often differ at their end.
    pub(crate) fn squeezed(text: &str, size: f64, width: f64) -> Self {
        let whole = Self::plain(text);
        let letters: Vec<char> = text.chars().collect();
        if letters.len() < 8 || whole.width(size) <= width {
            return Self::fitted(text, size, width);
        }
        for kept in (6..letters.len()).rev() {
            let tail = kept / 2;
            let (head, tail) = (&letters[..kept - tail], &letters[letters.len() - tail..]);
            let cut: String = head.iter().chain(&['…']).chain(tail).collect();
            let cut = Self::plain(cut);
            if cut.width(size) <= width {
                return cut;
            }
        }
        Self::fitted(text, size, width)
    }

    /// The words, with `^` and `_` for raised and lowered parts.
    pub(crate) fn words(&self) -> String {
        let mut words = String::new();
        for run in &self.runs {
            match run.script {
                Script::Normal => {}
                Script::Super => words.push('^'),
                Script::Sub => words.push('_'),
            }
            words.push_str(&run.text);
        }
        words
    }

    /// The text as HTML, with `escape` for its strings.
    pub(crate) fn html(&self, escape: impl Fn(&str) -> String) -> String {
        let mut html = String::new();
        for run in &self.runs {
            let text = escape(&run.text);
            let text = match run.slant {
                Slant::Upright => text,
                Slant::Italic => format!("<i>{text}</i>"),
            };
            html.push_str(&match run.script {
                Script::Normal => text,
                Script::Super => format!("<sup>{text}</sup>"),
                Script::Sub => format!("<sub>{text}</sub>"),
            });
        }
        html
    }

    /// Width of the line when set in `size`.
    pub(crate) fn width(&self, size: f64) -> f64 {
        self.outline(size).1
    }

    /// The outlines with the line's left end at the origin, and the width.
    fn outline(&self, size: f64) -> (Path, f64) {
        let mut path = Path::default();
        let mut x = 0.0;
        for run in &self.runs {
            let (size, y) = match run.script {
                Script::Normal => (size, 0.0),
                Script::Super => (SCRIPT_SIZE * size, -RISE * size),
                Script::Sub => (SCRIPT_SIZE * size, DROP * size),
            };
            for character in run.text.chars() {
                x += font::append(&mut path, character, run.slant, size, [x, y]);
            }
        }
        (path, x)
    }

    /// The line as a shape at `at`.
    pub(crate) fn shape(&self, at: Placement) -> Shape {
        let (mut path, width) = self.outline(at.size);
        let shift = match at.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * width,
            Anchor::End => -width,
        };
        let place = |[x, y]: Point| {
            let (x, y) = (x + shift, y);
            let [left, base] = at.position;
            // Turned text reads from bottom to top.
            if at.turned {
                [left + y, base - x]
            } else {
                [left + x, base + y]
            }
        };
        for segment in &mut path.segments {
            *segment = match *segment {
                Segment::Move(p) => Segment::Move(place(p)),
                Segment::Line(p) => Segment::Line(place(p)),
                Segment::Cubic(points) => Segment::Cubic(points.map(place)),
                Segment::Close => Segment::Close,
            };
        }
        Shape {
            text: Some(self.words()),
            ..Shape::filled("text", path, Fill::solid(at.color))
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

/// Which part of a line is at its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Where and how a line of text is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placement {
    /// The anchor on the baseline.
    pub(crate) position: Point,
    pub(crate) anchor: Anchor,
    pub(crate) size: f64,
    pub(crate) color: Color,
    /// Set from bottom to top.
    pub(crate) turned: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_show_raised_and_lowered_parts() {
        let text = Text::plain("10")
            .superscript("−8")
            .upright(" <c")
            .subscript("0");
        assert_eq!(text.words(), "10^−8 <c_0");
    }

    #[test]
    fn width_adds_up_and_scripts_are_smaller() {
        let (one, two) = (Text::plain("1"), Text::plain("11"));
        assert!((two.width(9.0) - 2.0 * one.width(9.0)).abs() < 1e-12);
        let raised = Text::default().superscript("1");
        assert!((raised.width(9.0) - SCRIPT_SIZE * one.width(9.0)).abs() < 1e-12);
    }

    #[test]
    fn a_long_line_is_cut_to_its_room() {
        let long = Text::fitted(&"step ".repeat(50), 8.0, 60.0);
        assert!(long.width(8.0) <= 60.0 && long.words().ends_with('…'));
        assert_eq!(Text::fitted("short", 8.0, 60.0).words(), "short");
    }

    #[test]
    fn a_long_name_keeps_both_ends() {
        let name = format!("sensor {} 17", "x".repeat(60));
        let cut = Text::squeezed(&name, 8.0, 60.0);
        assert!(cut.width(8.0) <= 60.0);
        assert!(cut.words().starts_with("sens") && cut.words().ends_with(" 17"));
        assert_eq!(Text::squeezed("short", 8.0, 60.0).words(), "short");
    }

    #[test]
    fn anchors_move_the_line_by_its_width() {
        let text = Text::plain("HH");
        let left_end = |anchor| {
            let at = Placement {
                position: [100.0, 50.0],
                anchor,
                size: 10.0,
                color: [0; 3],
                turned: false,
            };
            match text.shape(at).path.segments[0] {
                Segment::Move(p) => p[0],
                ref other => panic!("an outline starts with a move, not {other:?}"),
            }
        };
        let width = text.width(10.0);
        assert!((left_end(Anchor::Start) - left_end(Anchor::End) - width).abs() < 1e-9);
        assert!((left_end(Anchor::Start) - left_end(Anchor::Middle) - 0.5 * width).abs() < 1e-9);
    }
}
