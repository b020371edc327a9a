//! Reads glyph outlines from the embedded fonts.
//!
//! Libertinus Serif 7 (The Libertinus Project Authors), SIL Open Font License 1.1, see `fonts/OFL.txt`. It has upright and
//! italic Latin, Greek and Cyrillic, and the few mathematical signs that the figures need. `scripts/outlines.py` of the repository writes its
//! outlines into the embedded files, so that no font is parsed here.

use std::sync::LazyLock;

use crate::scene::{Path, Point, Segment};

/// Upright or italic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slant {
    Upright,
    Italic,
}

struct Fonts {
    upright: Face,
    italic: Face,
}

static FONTS: LazyLock<Fonts> = LazyLock::new(|| Fonts {
    upright: Face::new(include_bytes!("../fonts/LibertinusSerif-Regular.outlines")),
    italic: Face::new(include_bytes!("../fonts/LibertinusSerif-Italic.outlines")),
});

/// The outlines of a font, as `scripts/outlines.py` writes them.
struct Face {
    units_per_em: f64,
    /// In increasing order of their codes.
    glyphs: Vec<Glyph>,
}

struct Glyph {
    code: u32,
    advance: f64,
    outline: &'static [u8],
}

impl Face {
    fn new(mut bytes: &'static [u8]) -> Self {
        let units_per_em = f64::from(u16::from_le_bytes(take(&mut bytes)));
        let count = u16::from_le_bytes(take(&mut bytes));
        let mut heads = Vec::with_capacity(count.into());
        for _ in 0..count {
            let code = u32::from_le_bytes(take(&mut bytes));
            let advance = u16::from_le_bytes(take(&mut bytes));
            heads.push((code, advance, u32::from_le_bytes(take(&mut bytes)) as usize));
        }
        let mut start = 0;
        let glyphs = heads.into_iter().map(|(code, advance, end)| {
            let outline = bytes.get(start..end).unwrap_or_default();
            start = end;
            Glyph {
                code,
                advance: advance.into(),
                outline,
            }
        });
        Self {
            units_per_em,
            glyphs: glyphs.collect(),
        }
    }

    fn glyph(&self, code: u32) -> Option<&Glyph> {
        let at = self.glyphs.binary_search_by_key(&code, |glyph| glyph.code);
        at.ok().map(|at| &self.glyphs[at])
    }
}

/// Takes the first bytes; beyond the end of the embedded file there are zeros.
fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (first, rest) = bytes.split_first_chunk().unwrap_or((&[0; N], &[]));
    *bytes = rest;
    *first
}

/// Takes a zigzag integer of seven bits per byte.
fn take_number(bytes: &mut &[u8]) -> i32 {
    let (mut bits, mut shift) = (0_u32, 0);
    loop {
        let [byte] = take(bytes);
        bits |= u32::from(byte & 127) << shift;
        shift += 7;
        if byte < 128 || shift > 28 {
            return (bits >> 1) as i32 ^ -((bits & 1) as i32);
        }
    }
}

/// Whether the fonts have a glyph for `character`.
#[cfg(test)]
pub(crate) fn has(character: char, slant: Slant) -> bool {
    face(slant).glyph(character.into()).is_some()
}

fn face(slant: Slant) -> &'static Face {
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
    let scale = size / face.units_per_em;
    let Some(glyph) = face.glyph(character.into()).or_else(|| face.glyph(0)) else {
        return 0.0;
    };
    // Font units, y upwards, become points, y downwards.
    let (mut bytes, mut at) = (glyph.outline, [0, 0]);
    let mut point = |bytes: &mut &[u8]| {
        at[0] += take_number(bytes);
        at[1] += take_number(bytes);
        let [x, y] = at.map(f64::from);
        [origin[0] + x * scale, origin[1] - y * scale]
    };
    while !bytes.is_empty() {
        let [letter] = take(&mut bytes);
        path.segments.push(match letter {
            b'm' => Segment::Move(point(&mut bytes)),
            b'l' => Segment::Line(point(&mut bytes)),
            b'c' => Segment::Cubic([(); 3].map(|()| point(&mut bytes))),
            _ => Segment::Close,
        });
    }
    glyph.advance * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fonts_have_every_sign_of_the_figures() {
        for character in "0123456789E‖*×−=,.[]()/∞…\u{200a}\u{2009} max".chars() {
            assert!(has(character, Slant::Upright), "{character}");
        }
        // All of the file was read.
        for face in [&FONTS.upright, &FONTS.italic] {
            let last = face
                .glyphs
                .iter()
                .rev()
                .find(|glyph| !glyph.outline.is_empty());
            assert!(face.glyphs.len() > 2000 && last.unwrap().outline.ends_with(b"z"));
            assert!(face.glyphs.is_sorted_by_key(|glyph| glyph.code));
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
