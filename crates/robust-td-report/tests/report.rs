//! Checks the page: well formed, self-contained, escaped, and with exactly the sections that have contents.

// Helpers outside the test functions unwrap as well.
#![allow(clippy::unwrap_used)]

use robust_td_report::{
    Agreement, AgreementPoint, Cell, CertificateRow, Column, ConstantsRow, ExpectationRow, Fact,
    Quantity, Report, ReportFigure, Rerun, RunFacts, Table, ThresholdRow,
};
use roxmltree::{Document, Node, ParsingOptions};

const MARKUP: &str = "<script>alert(\"x\")</script> & 'y' {{ z }} {% if %}";

fn full_report() -> Report {
    let text = || MARKUP.to_owned();
    let point = AgreementPoint {
        figure: text(),
        problem: text(),
        c: 1e-3,
        quantity: Quantity::Ratio,
        printed: Some(51_399.672),
        ours: 51_399.672_4,
        relative_difference: Some(7.8e-9),
        agrees: true,
    };
    let clamped = AgreementPoint {
        printed: None,
        ours: f64::INFINITY,
        relative_difference: None,
        ..point.clone()
    };
    let wrong = AgreementPoint {
        ours: f64::NAN,
        relative_difference: Some(f64::NAN),
        agrees: false,
        ..point.clone()
    };
    Report {
        title: text(),
        summary: text(),
        run: Some(RunFacts {
            command: text(),
            mode: text(),
            problem: text(),
            horizon: Some(10_000_000),
            simulated_steps: Some(30_000),
            runs: Some(48),
            c_values: Some(97),
            problems: Some(3),
            seeds: text(),
            kernel: text(),
            threads: Some(2),
            seconds: Some(171.3),
            lane_steps: Some(279_360_000_000),
            lane_steps_per_second: Some(1.63e9),
            more: vec![Fact {
                name: text(),
                value: text(),
            }],
        }),
        figures: vec![ReportFigure {
            title: text(),
            caption: text(),
            drawing: crate::common::sweep_figure(3).draw().unwrap(),
        }],
        tables: vec![Table {
            title: text(),
            text: vec![text()],
            columns: vec![
                Column::words(MARKUP),
                Column::words("word"),
                Column::words("prose"),
                Column::words("mark"),
                Column::numbers("number"),
                Column::numbers("estimate"),
                Column::numbers("count"),
                Column::numbers("nothing"),
            ],
            rows: vec![vec![
                Cell::word(MARKUP),
                Cell::word(MARKUP),
                Cell::prose(MARKUP),
                Cell::Mark {
                    text: text(),
                    good: false,
                },
                Cell::number(Some(f64::INFINITY)),
                Cell::Estimate {
                    value: 1.5e-7,
                    stderr: 2.5e-9,
                },
                Cell::Count { value: 7_654_321 },
                Cell::number(None),
            ]],
        }],
        agreement: Some(Agreement {
            tolerance: 1e-6,
            points: vec![point, clamped, wrong],
        }),
        thresholds: vec![ThresholdRow {
            figure: text(),
            problem: text(),
            best_gap: Some(6.415_718_4e-6),
            ..ThresholdRow::default()
        }],
        expectations: vec![ExpectationRow {
            figure: text(),
            problem: text(),
            c: 1e-3,
            exact_ratio: Some(1.99e5),
            sampled_ratio: Some(f64::INFINITY),
            ..ExpectationRow::default()
        }],
        constants: vec![ConstantsRow {
            problem: text(),
            omega: 0.0338,
            t_mix: Some(1234),
            ..ConstantsRow::default()
        }],
        certificates: vec![CertificateRow {
            problem: text(),
            certificate: text(),
            why_not: Some(text()),
            ..CertificateRow::default()
        }],
        rerun: vec![Rerun {
            what: text(),
            command: text(),
        }],
    }
}

fn parse(html: &str) -> Document<'_> {
    Document::parse_with_options(
        html,
        ParsingOptions {
            allow_dtd: true,
            ..ParsingOptions::default()
        },
    )
    .unwrap()
}

fn named<'a>(document: &'a Document, name: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document
        .descendants()
        .filter(move |node| node.tag_name().name() == name)
}

fn text_of(node: Node) -> String {
    node.descendants()
        .filter(Node::is_text)
        .filter_map(|node| node.text())
        .collect()
}

#[test]
fn every_section_is_there_and_linked() {
    let html = full_report().to_html().unwrap();
    let document = parse(&html);
    let ids: Vec<&str> = named(&document, "h2")
        .filter_map(|node| node.attribute("id"))
        .collect();
    let expected = [
        "run",
        "figures",
        "table1",
        "agreement",
        "thresholds",
        "expectations",
        "constants",
        "certificates",
        "rerun",
    ];
    assert_eq!(ids, expected);
    let links: Vec<String> = named(&document, "a")
        .filter_map(|node| node.attribute("href").map(str::to_owned))
        .collect();
    assert_eq!(links, expected.map(|id| format!("#{id}")));
    let classes = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("panel"));
    assert_eq!(classes.count(), 9);
}

#[test]
fn numbers_are_typeset() {
    let html = full_report().to_html().unwrap();
    for number in [
        "279,360,000,000",
        "1.63 × 10<sup>9</sup>",
        "10,000,000",
        "51399.672",
        "6.416 × 10<sup>−6</sup>",
        "1,234",
        "1.5 × 10<sup>−7</sup> ± 2.5 × 10<sup>−9</sup>",
        "7,654,321",
    ] {
        assert!(html.contains(number), "{number}");
    }
    assert!(html.contains(
        "2 of 3 printed values agree; the largest relative difference is 7.8 × 10<sup>−9</sup>."
    ));
    assert!(!html.contains("NaN") && !html.contains("inf<"));
}

#[test]
fn the_page_loads_nothing_and_runs_nothing() {
    let html = full_report().to_html().unwrap();
    let document = parse(&html);
    for name in ["script", "link", "img", "iframe", "object", "image", "use"] {
        assert_eq!(named(&document, name).count(), 0, "{name}");
    }
    let namespaces = ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"];
    let other = namespaces
        .iter()
        .fold(html.clone(), |html, namespace| html.replace(namespace, ""));
    assert!(!other.contains("http://") && !other.contains("https://") && !other.contains("url("));
    assert!(!other.contains("@import") && !other.contains(" src="));
}

#[test]
fn strings_with_markup_stay_text() {
    let html = full_report().to_html().unwrap();
    let document = parse(&html);
    assert_eq!(text_of(named(&document, "h1").next().unwrap()), MARKUP);
    assert_eq!(text_of(named(&document, "title").next().unwrap()), MARKUP);
    let shown = document
        .descendants()
        .filter(|node| node.is_text() && node.text().is_some_and(|t| t.trim() == MARKUP));
    // title, h1, summary; 5 facts and the named one (2); figure heading and caption;
    // tables (3 x 2, 2, 2, 1, 3); rerun (2); the free table (link, heading, text, a column, four cells).
    assert_eq!(shown.count(), 3 + 7 + 2 + 14 + 2 + 8);
}

#[test]
fn control_characters_do_not_break_the_page() {
    let report = Report {
        title: "a\u{0}b\u{1b}[0m".to_owned(),
        ..Report::default()
    };
    let html = report.to_html().unwrap();
    assert_eq!(
        text_of(named(&parse(&html), "h1").next().unwrap()),
        "a\u{fffd}b\u{fffd}[0m"
    );
}

#[test]
fn tables_have_headers_for_every_column_and_row() {
    let html = full_report().to_html().unwrap();
    let document = parse(&html);
    assert_eq!(named(&document, "table").count(), 6);
    for table in named(&document, "table") {
        assert_eq!(
            table.parent().unwrap().attribute("class"),
            Some("scroll"),
            "tables scroll in their box"
        );
        let rows: Vec<Node> = table
            .descendants()
            .filter(|node| node.tag_name().name() == "tr")
            .collect();
        let cells = |row: &Node| row.children().filter(Node::is_element).count();
        assert!(rows.len() >= 2 && rows.iter().all(|row| cells(row) == cells(&rows[0])));
        assert!(
            rows[0]
                .children()
                .filter(Node::is_element)
                .all(|cell| cell.attribute("scope") == Some("col"))
        );
        for row in &rows[1..] {
            assert_eq!(
                row.first_element_child().unwrap().attribute("scope"),
                Some("row")
            );
        }
    }
}

#[test]
fn an_empty_report_is_a_page_without_sections() {
    let html = Report {
        title: "Sweep".to_owned(),
        ..Report::default()
    }
    .to_html()
    .unwrap();
    let document = parse(&html);
    for name in ["section", "h2", "table", "figure", "a"] {
        assert_eq!(named(&document, name).count(), 0, "{name}");
    }
    assert_eq!(text_of(named(&document, "h1").next().unwrap()), "Sweep");
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(
        full_report().to_html().unwrap(),
        full_report().to_html().unwrap()
    );
}
