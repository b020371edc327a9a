//! Checks the small figures and the pages made of them: well formed, escaped, and with the numbers for the pointer.

// Helpers outside the test functions unwrap as well.
#![allow(clippy::unwrap_used)]

use robust_td_report::{
    Answer, Bar, Block, Cell, Chart, Column, Document, Drawing, Error, ErrorBar, HeatMap,
    IntervalFigure, IntervalRow, Layer, Mood, Note, PageFigure, Section, Strip, Table, Tone,
};
use roxmltree::{Document as Xml, ParsingOptions};

const MARKUP: &str = "<script>alert(\"x\")</script> & 'y'";

fn chart() -> Chart {
    let bar = |k: u8| Bar {
        low: f64::from(k),
        high: f64::from(k + 1),
        value: f64::from(k % 3),
        hint: format!("{MARKUP} {k}"),
    };
    let point = |k: u8| ErrorBar {
        x: f64::from(k),
        y: f64::from(k) + 0.5,
        ends: (k > 0).then_some((f64::from(k), f64::from(k) + 1.0)),
        hint: format!("point {k}"),
    };
    Chart {
        title: MARKUP.into(),
        x: MARKUP.into(),
        y: "a label that is too long for the height of the panel, so it is cut somewhere".into(),
        layers: vec![
            Layer::Bars {
                label: String::new(),
                bars: (0..6).map(bar).collect(),
            },
            Layer::Points {
                label: "points".into(),
                points: (0..4).map(point).collect(),
                tone: Tone::Wrong,
            },
            Layer::Line {
                label: "line".into(),
                points: vec![(0.0, 1.0), (2.0, f64::NAN), (3.0, 2.0), (4.0, 1.0)],
                tone: Tone::Second,
            },
            Layer::Diagonal {
                label: "diagonal".into(),
            },
            Layer::Vertical {
                label: "mean".into(),
                x: 2.5,
            },
            Layer::Strips {
                strips: vec![Strip {
                    low: 1.0,
                    high: 2.0,
                    hint: "strip".into(),
                }],
            },
        ],
        same_axes: false,
    }
}

fn intervals() -> IntervalFigure {
    let row = |label: &str, value: f64, ends| IntervalRow {
        label: label.into(),
        value,
        ends,
        hint: format!("{label} is {value}"),
        tone: Tone::First,
    };
    IntervalFigure {
        title: MARKUP.into(),
        x: "effect".into(),
        rows: vec![
            row(MARKUP, 2.0, Some((1.0, 3.0))),
            row("unbounded", -1.0, Some((f64::NEG_INFINITY, f64::INFINITY))),
            row("not known", f64::NAN, None),
            row("without", 0.5, None),
        ],
        zero: true,
    }
}

fn heat_map(size: usize) -> HeatMap {
    let value = |i: usize, j: usize| (i != 1).then(|| if i == j { 1.0 } else { -0.25 });
    HeatMap {
        title: MARKUP.into(),
        names: (0..size).map(|k| format!("{MARKUP} {k}")).collect(),
        values: (0..size)
            .map(|i| (0..size).map(|j| value(i, j)).collect())
            .collect(),
    }
}

/// The number of shapes of a class, and the words for the pointer.
fn shapes(drawing: &Drawing, class: &str) -> (usize, Vec<String>) {
    let svg = drawing.to_svg();
    let xml = Xml::parse(&svg).unwrap();
    let found = xml
        .descendants()
        .filter(|node| node.tag_name().name() == "path" && node.attribute("class") == Some(class));
    let nodes: Vec<_> = found.collect();
    let hints = nodes.iter().filter_map(|node| {
        let title = node.first_element_child()?;
        title.text().map(str::to_owned)
    });
    (nodes.len(), hints.collect())
}

#[test]
fn a_chart_draws_every_layer_and_shows_its_numbers() {
    let drawing = chart().draw().unwrap();
    // Bars of height 0 are not drawn.
    let (count, hints) = shapes(&drawing, "bar");
    assert_eq!((count, hints.len()), (4, 4));
    assert_eq!(hints[0], format!("{MARKUP} 1"));
    assert_eq!(shapes(&drawing, "point").0, 4);
    assert_eq!(shapes(&drawing, "error").0, 3);
    assert_eq!(shapes(&drawing, "strip").1, ["strip"]);
    for class in ["curve", "diagonal", "level", "frame"] {
        assert_eq!(shapes(&drawing, class).0, 1, "{class}");
    }
    // Everything is inside the drawing.
    assert!(drawing.width() == 264.0 && drawing.height() < 230.0);
    assert_eq!(drawing, chart().draw().unwrap());
    assert!(!drawing.to_png(72.0).unwrap().is_empty());
}

#[test]
fn intervals_without_a_value_are_left_out_and_unbounded_ones_fill_the_panel() {
    let drawing = intervals().draw().unwrap();
    assert_eq!(shapes(&drawing, "point").0, 3);
    assert_eq!(shapes(&drawing, "interval").0, 2);
    assert_eq!(shapes(&drawing, "strip").1.len(), 3);
    assert_eq!(shapes(&drawing, "level").0, 1);
}

#[test]
fn a_heat_map_has_a_cell_per_pair_that_is_known() {
    for size in [1, 4, 30] {
        let drawing = heat_map(size).draw().unwrap();
        let known = size * (size - usize::from(size > 1));
        let (count, hints) = shapes(&drawing, "cell");
        assert_eq!((count, hints.len()), (known, known));
        assert!(drawing.width() == 264.0);
    }
    let hints = shapes(&heat_map(4).draw().unwrap(), "cell").1;
    assert_eq!(hints[1], format!("{MARKUP} 0 and {MARKUP} 1: -0.250"));
}

#[test]
fn figures_without_values_are_errors() {
    let nothing = |result: Result<Drawing, Error>| {
        assert!(matches!(result, Err(Error::NothingToDraw { .. })));
    };
    nothing(Chart::default().draw());
    nothing(IntervalFigure::default().draw());
    nothing(HeatMap::default().draw());
    let mut bad = chart();
    bad.layers.push(Layer::Vertical {
        label: String::new(),
        x: f64::NAN,
    });
    assert!(matches!(bad.draw(), Err(Error::BadAbscissa { .. })));
}

fn document() -> Document {
    let figure = |drawing: Drawing| PageFigure {
        title: MARKUP.into(),
        caption: MARKUP.into(),
        drawing,
    };
    let table = Table {
        title: MARKUP.into(),
        columns: vec![Column::words(MARKUP), Column::numbers("number")],
        rows: vec![vec![
            Cell::prose(MARKUP),
            Cell::exact(Some(0.1 + 0.2), MARKUP),
        ]],
        ..Table::default()
    };
    Document {
        title: MARKUP.into(),
        summary: MARKUP.into(),
        answers: vec![Answer {
            name: MARKUP.into(),
            value: Cell::exact(Some(f64::INFINITY), "a"),
            detail: vec![Cell::prose(MARKUP), Cell::exact_count(1234, "b")],
            mood: Mood::Bad,
        }],
        sections: vec![Section {
            id: "one".into(),
            title: MARKUP.into(),
            link: String::new(),
            blocks: vec![
                Block::Text(MARKUP.into()),
                Block::Gallery(vec![figure(chart().draw().unwrap())]),
                Block::Beside(figure(intervals().draw().unwrap()), table.clone()),
                Block::Folded(table),
                Block::Notes(vec![Note {
                    text: MARKUP.into(),
                    advice: MARKUP.into(),
                    place: MARKUP.into(),
                    mood: Mood::Plain,
                }]),
            ],
        }],
    }
}

#[test]
fn a_document_is_well_formed_escaped_and_exact() {
    let html = document().to_html().unwrap();
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let xml = Xml::parse_with_options(&html, options).unwrap();
    let named = |name: &'static str| {
        xml.descendants()
            .filter(move |node| node.tag_name().name() == name)
    };
    assert_eq!(named("script").count(), 0);
    assert_eq!(named("svg").count(), 2);
    assert_eq!(named("table").count(), 2);
    assert_eq!(named("details").count(), 1);
    let values: Vec<f64> = named("data")
        .map(|node| node.attribute("value").unwrap().parse().unwrap())
        .collect();
    assert_eq!(values, [f64::INFINITY, 1234.0, 0.1 + 0.2, 0.1 + 0.2]);
    let keys: Vec<&str> = named("data")
        .filter_map(|node| node.attribute("data-key"))
        .collect();
    assert_eq!(keys, ["a", "b", MARKUP, MARKUP]);
    assert!(html.contains("1,234") && html.contains(">0.3<"));
    assert_eq!(html, document().to_html().unwrap());
}
