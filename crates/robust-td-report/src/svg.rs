//! Writes a drawing as SVG text.

use crate::scene::{Color, Drawing, Path, Point, Segment, Shape};

impl Drawing {
    /// The figure as one `<svg>` element, for a file or an HTML page.
    ///
    /// All text is outlines (class `text`); the words are kept in `data-text`.
    pub fn to_svg(&self) -> String {
        let (width, height, title) = (number(self.width), number(self.height), escape(&self.title));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        for group in &self.groups {
            out.push_str(&format!("<g class=\"{}\">\n", group.class));
            for shape in &group.shapes {
                write_shape(&mut out, shape);
            }
            out.push_str("</g>\n");
        }
        out.push_str("</svg>\n");
        out
    }
}

fn write_shape(out: &mut String, shape: &Shape) {
    let mut attributes = format!("class=\"{}\"", shape.class);
    if let Some(text) = &shape.text {
        attributes.push_str(&format!(" data-text=\"{}\"", escape(text)));
    }
    match shape.fill {
        Some(fill) => {
            attributes.push_str(&format!(" fill=\"{}\"", hex(fill.color)));
            if fill.opacity < 1.0 {
                attributes.push_str(&format!(" fill-opacity=\"{}\"", number(fill.opacity)));
            }
        }
        None => attributes.push_str(" fill=\"none\""),
    }
    if let Some(stroke) = shape.stroke {
        attributes.push_str(&format!(
            " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
            hex(stroke.color),
            number(stroke.width)
        ));
        if !stroke.dash.is_empty() {
            let dash: Vec<String> = stroke.dash.iter().map(|&length| number(length)).collect();
            attributes.push_str(&format!(" stroke-dasharray=\"{}\"", dash.join(" ")));
        }
    }
    let data = path_data(&shape.path);
    out.push_str(&match &shape.hint {
        Some(hint) => format!(
            "<path {attributes} d=\"{data}\"><title>{}</title></path>\n",
            escape(hint)
        ),
        None => format!("<path {attributes} d=\"{data}\"/>\n"),
    });
}

/// Path data with relative coordinates in hundredths of a point (1/7200 inch, finer than any printer). Differences are
/// taken between rounded positions, so rounding never accumulates.
fn path_data(path: &Path) -> String {
    let mut data = String::new();
    let (mut position, mut start) = ([0; 2], [0; 2]);
    for segment in &path.segments {
        let (letter, points): (char, &[Point]) = match segment {
            Segment::Move(p) => ('m', std::slice::from_ref(p)),
            Segment::Line(p) => ('l', std::slice::from_ref(p)),
            Segment::Cubic(points) => ('c', points),
            Segment::Close => ('z', &[]),
        };
        data.push(letter);
        let mut end = if letter == 'z' { start } else { position };
        for (i, point) in points.iter().enumerate() {
            end = point.map(hundredths);
            for axis in 0..2 {
                let text = decimal(end[axis] - position[axis]);
                // A minus sign separates numbers by itself.
                if i + axis > 0 && !text.starts_with('-') {
                    data.push(' ');
                }
                data.push_str(&text);
            }
        }
        position = end;
        if letter == 'm' {
            start = position;
        }
    }
    data
}

fn number(value: f64) -> String {
    decimal(hundredths(value))
}

fn hundredths(value: f64) -> i64 {
    debug_assert!(
        value.is_finite(),
        "coordinates are finite: the figures check their input"
    );
    (value * 100.0).round() as i64
}

/// `hundredths` / 100 in as few characters as possible: 12, -.5, 3.07.
fn decimal(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, part) = (
        hundredths.unsigned_abs() / 100,
        hundredths.unsigned_abs() % 100,
    );
    match (whole, part) {
        (_, 0) => format!("{sign}{whole}"),
        (0, _) => format!("{sign}.{part:02}").trim_end_matches('0').to_owned(),
        (_, _) => format!("{sign}{whole}.{part:02}")
            .trim_end_matches('0')
            .to_owned(),
    }
}

fn hex([r, g, b]: Color) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Escapes `text` for element content and double-quoted attributes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars().map(allowed) {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

/// `character`, or a replacement for control characters, which XML forbids even when escaped.
pub(crate) fn allowed(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' => ' ',
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        let cases = [
            (12.0, "12"),
            (0.126, ".13"),
            (-0.001, "0"),
            (100.0, "100"),
            (-0.5, "-.5"),
            (3.07, "3.07"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn path_data_is_relative_and_returns_to_the_start_on_close() {
        let mut path = Path::polygon(&[[1.0, 2.0], [3.0, 2.0], [3.0, 0.5]]);
        path.extend(Path::line([2.0, 2.0], [1.9, 2.0]));
        assert_eq!(path_data(&path), "m1 2l2 0l0-1.5zm1 0l-.1 0");
    }

    #[test]
    fn escape_leaves_no_markup_and_no_forbidden_character() {
        assert_eq!(
            escape("a<b>&\"c\"\u{1}\n"),
            "a&lt;b&gt;&amp;&quot;c&quot;\u{fffd} "
        );
    }
}
