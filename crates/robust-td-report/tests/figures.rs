//! Checks the structure of the figures: panels, ticks, markers, coordinates, and that SVG and PNG agree.

// Helpers outside the test functions unwrap as well.
#![allow(clippy::unwrap_used)]

use crate::common::{grid_figure, point};
use robust_td_report::{
    AxisLabel, BandPoint, Clamp, Curve, Drawing, Error, GridFigure, GridPoint, Key, LineFigure,
    LineMeaning, Pattern, Reference, Scale,
};
use roxmltree::{Document, Node};

/// The `class` shapes inside each panel, as path data.
fn in_panels(document: &Document, class: &str) -> Vec<Vec<String>> {
    let panels = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("panel"));
    let paths = |panel: Node| {
        let children = panel
            .children()
            .filter(|child| child.attribute("class") == Some(class));
        children
            .filter_map(|child| child.attribute("d").map(str::to_owned))
            .collect()
    };
    panels.map(paths).collect()
}

fn texts(document: &Document) -> Vec<String> {
    document
        .descendants()
        .filter_map(|node| node.attribute("data-text").map(str::to_owned))
        .collect()
}

/// Outlines in path data: each begins with a move.
fn outlines(data: &str) -> usize {
    data.matches('m').count()
}

/// Every position that the path passes, from its relative coordinates.
fn positions(data: &str) -> Vec<[f64; 2]> {
    let mut numbers: Vec<(char, String)> = Vec::new();
    let mut letter = ' ';
    for character in data.chars() {
        match character {
            'm' | 'l' | 'c' | 'z' => {
                letter = character;
                numbers.push((letter, String::new()));
            }
            ' ' => numbers.push((letter, String::new())),
            '-' => numbers.push((letter, "-".to_owned())),
            other => numbers.last_mut().unwrap().1.push(other),
        }
    }
    let values: Vec<(char, f64)> = numbers
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(l, text)| (*l, text.parse().unwrap()))
        .collect();
    let (mut at, mut start, mut all) = ([0.0, 0.0], [0.0, 0.0], Vec::new());
    let mut rest = values.as_slice();
    for letter in data.chars().filter(|character| "mlcz".contains(*character)) {
        let taken = match letter {
            'z' => 0,
            'c' => 6,
            _ => 2,
        };
        let (numbers, after) = rest.split_at(taken);
        rest = after;
        let points = numbers
            .chunks(2)
            .map(|pair| [at[0] + pair[0].1, at[1] + pair[1].1])
            .collect::<Vec<_>>();
        at = points.last().copied().unwrap_or(start);
        if letter == 'm' {
            start = at;
        }
        all.extend(points);
    }
    assert!(rest.is_empty());
    all
}

fn assert_inside(drawing: &Drawing) {
    let svg = drawing.to_svg();
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    let document = Document::parse(&svg).unwrap();
    let paths: Vec<&str> = document
        .descendants()
        .filter_map(|node| node.attribute("d"))
        .collect();
    assert!(!paths.is_empty());
    for [x, y] in paths.into_iter().flat_map(positions) {
        assert!(
            (0.0..=drawing.width()).contains(&x) && (0.0..=drawing.height()).contains(&y),
            "{x} {y}"
        );
    }
}

#[test]
fn a_grid_has_nine_panels_with_decade_ticks() {
    let svg = grid_figure(3).draw().unwrap().to_svg();
    let document = Document::parse(&svg).unwrap();
    assert_eq!(in_panels(&document, "frame").len(), 9);
    // x: labels at 10^-8, 10^-4, 10^0, 10^4, 10^8 and ticks at the 12 decades between them, under each panel;
    // y: every fourth of the 19 decades 10^-6..10^12 is labelled, or 0, 0.5, 1.
    for (j, column) in in_panels(&document, "major-ticks").chunks(3).enumerate() {
        let y = if j == 1 { 3 } else { 5 };
        assert!(
            column.iter().all(|ticks| outlines(&ticks[0]) == 5 + y),
            "{column:?}"
        );
    }
    let texts = texts(&document);
    for label in ["10^−8", "10^−4", "10^4", "10^8"] {
        assert!(
            texts.iter().filter(|text| *text == label).count() >= 3,
            "{label}"
        );
    }
    assert_eq!(texts.iter().filter(|text| *text == "10^12").count(), 6);
    for label in [
        "Boundedness ratio",
        "Divergence rate",
        "Suboptimality gap",
        "c_0 = 40.46",
        "problem 2",
        "ratio 1 and gap 0.5",
    ] {
        assert!(
            texts.iter().any(|text| text == label),
            "{label} in {texts:?}"
        );
    }
    assert!(texts.contains(&"ω = 0.0338".to_owned()));
}

#[test]
fn everything_is_finite_and_inside_the_picture() {
    for rows in [1, 2, 3, 7] {
        assert_inside(&grid_figure(rows).draw().unwrap());
    }
}

#[test]
fn each_panel_has_its_series_and_reference_lines() {
    let svg = grid_figure(2).draw().unwrap().to_svg();
    let document = Document::parse(&svg).unwrap();
    for (class, count) in [
        ("dotted", [1, 1, 1]),
        ("thin", [1, 1, 1]),
        ("rings", [1, 1, 1]),
        ("line", [2, 2, 2]),
        ("level", [1, 0, 1]),
        ("clamped", [1, 0, 1]),
    ] {
        let found: Vec<usize> = in_panels(&document, class).iter().map(Vec::len).collect();
        let expected: Vec<usize> = count.into_iter().flat_map(|n| [n, n]).collect();
        assert_eq!(found, expected, "{class}");
    }
    for rings in in_panels(&document, "rings") {
        assert_eq!(outlines(&rings[0]), 5);
    }
}

#[test]
fn clamped_values_are_triangles_and_never_dots() {
    let mut figure = grid_figure(1);
    // Seven values far apart: three beyond the upper limit, one of them not a number, one below the lower limit.
    let ratios = [f64::INFINITY, f64::NAN, 2e12, 1e12, 5.0, 1e-6, 0.0];
    let values = ratios.iter().zip(-3..).map(|(&ratio, k)| GridPoint {
        x: 10f64.powi(k),
        values: vec![Some(ratio)],
    });
    figure.rows[0].series = vec![values.collect()];
    let svg = figure.draw().unwrap().to_svg();
    let document = Document::parse(&svg).unwrap();
    assert_eq!(
        in_panels(&document, "frame").len(),
        1,
        "columns without values are left out"
    );
    assert_eq!(outlines(&in_panels(&document, "clamped")[0][0]), 4);
    assert_eq!(outlines(&in_panels(&document, "dots")[0][0]), 3);
    assert!(texts(&document).contains(&"clamped to [10^−6, 10^12]".to_owned()));
}

#[test]
fn a_figure_without_clamped_values_does_not_speak_of_clamping() {
    let mut figure = grid_figure(1);
    figure.rows[0].series = vec![(0..5).map(|k| point(f64::from(k + 1))).collect()];
    let svg = figure.draw().unwrap().to_svg();
    let document = Document::parse(&svg).unwrap();
    assert!(in_panels(&document, "clamped").iter().all(Vec::is_empty));
    let texts = texts(&document);
    assert!(
        !texts
            .iter()
            .any(|text| text.contains("clamped") || text.contains("exact") || text.contains("c_0"))
    );
    assert!(
        texts.contains(&"5".to_owned()),
        "c from 1 to 5 has plain labels: {texts:?}"
    );
}

#[test]
fn a_missing_value_interrupts_the_line() {
    let mut figure = grid_figure(1);
    figure.rows[0].series[0][50].values[0] = None;
    let svg = figure.draw().unwrap().to_svg();
    let document = Document::parse(&svg).unwrap();
    let lines: Vec<usize> = in_panels(&document, "dotted")
        .iter()
        .map(|paths| outlines(&paths[0]))
        .collect();
    assert_eq!(lines, [2, 1, 1]);
}

#[test]
fn names_with_markup_stay_text() {
    let mut figure = grid_figure(1);
    let name = "a<b> & \"c\"\u{1}";
    figure.title = name.to_owned();
    figure.rows[0].label = name.to_owned();
    figure.series[0].label = name.to_owned();
    let svg = figure.draw().unwrap().to_svg();
    let document = Document::parse(&svg).unwrap();
    let expected = "a<b> & \"c\"\u{fffd}";
    assert_eq!(
        document.root_element().attribute("aria-label"),
        Some(expected)
    );
    assert_eq!(
        texts(&document)
            .iter()
            .filter(|text| *text == expected)
            .count(),
        2
    );
}

#[test]
fn bad_input_is_refused_with_its_value() {
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut figure = grid_figure(1);
        figure.rows[0].series[0][3].x = c;
        assert!(
            matches!(figure.draw(), Err(Error::BadAbscissa { .. })),
            "{c}"
        );
    }
    assert!(matches!(
        GridFigure::default().draw(),
        Err(Error::NothingToDraw { .. })
    ));
    let mut figure = grid_figure(1);
    figure.clamp = Clamp {
        low: 1.0,
        high: 0.1,
    };
    assert!(matches!(figure.draw(), Err(Error::BadClamp { .. })));
}

fn line_figure(scale: Scale) -> LineFigure {
    let curve = |k: i32| Curve {
        label: format!("curve <{k}>"),
        points: (0..50)
            .map(|t| (f64::from(t + 1), f64::from(k) / f64::from(t + 1)))
            .collect(),
        band: (0..50)
            .map(|t| BandPoint {
                x: f64::from(t + 1),
                low: 0.001,
                high: f64::from(k),
            })
            .collect(),
        pattern: Pattern::Automatic,
    };
    LineFigure {
        title: "Curves".to_owned(),
        x: AxisLabel {
            label: "step".to_owned(),
            scale,
        },
        y: AxisLabel {
            label: "f".to_owned(),
            scale,
        },
        curves: (1..=9).map(curve).collect(),
        references: vec![
            Reference {
                label: "f(0)".to_owned(),
                value: 2.0,
            },
            Reference {
                label: "far away".to_owned(),
                value: 1e20,
            },
        ],
        clamp: Clamp::default(),
        key: Key::Below,
        meanings: Vec::new(),
    }
}

#[test]
fn line_figures_have_a_curve_and_a_band_per_entry() {
    for scale in [Scale::Log, Scale::Linear] {
        let mut figure = line_figure(scale);
        figure.curves[2].points[7].1 = f64::NAN;
        figure.curves[2].band[7].high = f64::INFINITY;
        let drawing = figure.draw().unwrap();
        assert_inside(&drawing);
        let svg = drawing.to_svg();
        let document = Document::parse(&svg).unwrap();
        assert_eq!(in_panels(&document, "curve")[0].len(), 9);
        assert_eq!(in_panels(&document, "band")[0].len(), 9);
        assert_eq!(in_panels(&document, "level")[0].len(), 1);
        assert_eq!(
            in_panels(&document, "clamped")[0].len(),
            usize::from(scale == Scale::Log)
        );
        let texts = texts(&document);
        assert!(texts.contains(&"curve <9>".to_owned()) && texts.contains(&"f(0)".to_owned()));
        assert!(!texts.contains(&"far away".to_owned()));
        let clamped = texts.contains(&"clamped to [10^−6, 10^12]".to_owned());
        assert_eq!(clamped, scale == Scale::Log);
    }
    let mut empty = line_figure(Scale::Log);
    empty.curves.clear();
    assert!(matches!(empty.draw(), Err(Error::NothingToDraw { .. })));
}

#[test]
fn png_has_the_size_of_the_resolution_and_shows_the_colours() {
    let drawing = grid_figure(3).draw().unwrap();
    let png = drawing.to_png(144.0).unwrap();
    let picture = tiny_skia::Pixmap::decode_png(&png).unwrap();
    assert_eq!(picture.width(), 1008);
    assert_eq!(picture.height(), (2.0 * drawing.height()).ceil() as u32);
    let has = |r, g, b| {
        picture
            .pixels()
            .iter()
            .any(|p| (p.red(), p.green(), p.blue()) == (r, g, b))
    };
    assert!(
        has(0xff, 0xff, 0xff) && has(0x00, 0x72, 0xb2),
        "white paper and the blue of the series"
    );
    for dpi in [0.0, -3.0, f64::NAN, 1e9] {
        assert!(
            matches!(drawing.to_png(dpi), Err(Error::BadResolution { .. })),
            "{dpi}"
        );
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let (a, b) = (
        grid_figure(2).draw().unwrap(),
        grid_figure(2).draw().unwrap(),
    );
    assert_eq!(a.to_svg(), b.to_svg());
    assert_eq!(a.to_png(100.0).unwrap(), b.to_png(100.0).unwrap());
}

#[test]
fn many_curves_are_labelled_beside_their_ends() {
    let mut figure = line_figure(Scale::Log);
    let few = figure.draw().unwrap();
    figure.key = Key::Beside;
    figure.curves = (0..30)
        .map(|k| Curve {
            label: format!("method {k}"),
            points: vec![(1.0, 3.0), (50.0, if k == 7 { f64::INFINITY } else { 0.3 })],
            pattern: [Pattern::Solid, Pattern::Dashed, Pattern::Dotted][k % 3],
            ..Curve::default()
        })
        .collect();
    figure.meanings = vec![LineMeaning {
        pattern: Pattern::Dashed,
        label: "needs an oracle".to_owned(),
    }];
    let drawing = figure.draw().unwrap();
    assert_inside(&drawing);
    assert!(drawing.width() > few.width() && drawing.height() > few.height());
    let svg = drawing.to_svg();
    let texts = texts(&Document::parse(&svg).unwrap());
    for k in 0..30 {
        let label = format!("method {k}");
        assert_eq!(texts.iter().filter(|&text| *text == label).count(), 1);
    }
    assert!(texts.contains(&"needs an oracle".to_owned()));
}
