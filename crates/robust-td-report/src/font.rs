//! Reads glyph outlines from the embedded fonts.
//!
//! Libertinus Serif 7 (The Libertinus Project Authors), SIL Open Font License 1.1, see `fonts/OFL.txt`. It has upright and
//! italic Latin, Greek and Cyrillic, and the few mathematical signs that the figures need.

use std::sync::LazyLock;

use ttf_parser::{Face, OutlineBuilder};

use crate::scene::{Path, Point, Segment};

/// Upright or italic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slant {
    Upright,
    Italic,
}

struct Fonts {
    upright: Face<'static>,
    italic: Face<'static>,
}

static FONTS: LazyLock<Fonts> = LazyLock::new(|| {
    let parse = |bytes| {
        Face::parse(bytes, 0).expect("the embedded font is a valid font file, as the tests check")
    };
    Fonts {
        upright: parse(include_bytes!("../fonts/LibertinusSerif-Regular.otf")),
        italic: parse(include_bytes!("../fonts/LibertinusSerif-Italic.otf")),
    }
});

/// Whether the fonts have a glyph for `character`.
#[cfg(test)]
pub(crate) fn has(character: char, slant: Slant) -> bool {
    face(slant).glyph_index(character).is_some()
}

fn face(slant: Slant) -> &'static Face<'static> {
    match slant {
        Slant::Upright => &FONTS.upright,
        Slant::Italic => &FONTS.italic,
    }
}

/// Appends the outline of `character` with its left end on the baseline at `origin`, and returns its advance.
/// A character that the font lacks becomes the font's box for missing characters.
pub(crate) fn append(
    path: &mut Path,
    character: char,
    slant: Slant,
    size: f64,
    origin: Point,
) -> f64 {
    let face = face(slant);
    let scale = size / f64::from(face.units_per_em());
    // Glyph 0 is the box for missing characters, in every font.
    let glyph = face
        .glyph_index(character)
        .unwrap_or(ttf_parser::GlyphId(0));
    let mut pen = Pen {
        path,
        origin,
        scale,
        last: origin,
    };
    face.outline_glyph(glyph, &mut pen);
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale
}

/// Turns font units (y upwards) into points (y downwards).
struct Pen<'a> {
    path: &'a mut Path,
    origin: Point,
    scale: f64,
    last: Point,
}

impl Pen<'_> {
    fn place(&self, x: f32, y: f32) -> Point {
        [
            self.origin[0] + f64::from(x) * self.scale,
            self.origin[1] - f64::from(y) * self.scale,
        ]
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.last = self.place(x, y);
        self.path.segments.push(Segment::Move(self.last));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.last = self.place(x, y);
        self.path.segments.push(Segment::Line(self.last));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        // A quadratic is the cubic whose handles lie two thirds of the way to its control point.
        let (control, end) = (self.place(x1, y1), self.place(x, y));
        let towards = |from: Point| [0, 1].map(|i| from[i] + 2.0 / 3.0 * (control[i] - from[i]));
        self.path
            .segments
            .push(Segment::Cubic([towards(self.last), towards(end), end]));
        self.last = end;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.last = self.place(x, y);
        self.path.segments.push(Segment::Cubic([
            self.place(x1, y1),
            self.place(x2, y2),
            self.last,
        ]));
    }

    fn close(&mut self) {
        self.path.segments.push(Segment::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fonts_have_every_sign_of_the_figures() {
        for character in "0123456789E‖*×−=,.[]()/∞…\u{200a}\u{2009} max".chars() {
            assert!(has(character, Slant::Upright), "{character}");
        }
        for character in "θωκctTf".chars() {
            assert!(has(character, Slant::Italic), "{character}");
        }
    }

    #[test]
    fn a_missing_character_is_drawn_as_a_box() {
        let mut path = Path::default();
        let advance = append(&mut path, '漢', Slant::Upright, 10.0, [0.0, 0.0]);
        assert!(advance > 0.0 && !path.segments.is_empty());
    }

    #[test]
    fn a_glyph_stands_on_the_baseline_in_its_size() {
        let mut path = Path::default();
        append(&mut path, 'E', Slant::Upright, 10.0, [5.0, 20.0]);
        let heights = path.segments.iter().filter_map(|segment| match *segment {
            Segment::Move(p) | Segment::Line(p) | Segment::Cubic([_, _, p]) => Some(p[1]),
            Segment::Close => None,
        });
        let (top, bottom) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| {
            (low.min(y), high.max(y))
        });
        assert!((bottom - 20.0).abs() < 0.2, "baseline {bottom}");
        assert!(
            (5.5..7.5).contains(&(bottom - top)),
            "capital height {}",
            bottom - top
        );
    }
}
