//! Checks the page: well formed, self-contained, escaped, and with exactly the sections that have contents.

// Helpers outside the test functions unwrap as well.
#![allow(clippy::unwrap_used)]

use robust_td_report::{Cell, Column, Fact, Page, PageFigure, Rerun, Table, Text, number};
use roxmltree::{Document, Node, ParsingOptions};

const MARKUP: &str = "<script>alert(\"x\")</script> & 'y' {{ z }} {% if %}";

fn full_page() -> Page {
    let text = || MARKUP.to_owned();
    let row = |good: bool| {
        vec![
            Cell::word(MARKUP),
            Cell::word(MARKUP),
            Cell::prose(MARKUP),
            Cell::Mark { text: text(), good },
            Cell::number(Some(f64::INFINITY)),
            Cell::digits(Some(51_399.672_41), 8),
            Cell::Estimate {
                value: 1.5e-7,
                stderr: 2.5e-9,
            },
            Cell::Count { value: 7_654_321 },
            Cell::number(None),
            Cell::word("clamped"),
        ]
    };
    let table = Table {
        title: text(),
        link: String::new(),
        text: vec![
            text().into(),
            Text::plain("the largest is ")
                .then(number::text(7.8e-9, 2))
                .upright(MARKUP),
        ],
        columns: vec![
            Column::words(MARKUP),
            Column::words("word"),
            Column::words("prose"),
            Column::words("mark"),
            Column::numbers("number"),
            Column::numbers("digits"),
            Column::numbers(Text::plain("φ").subscript("∞").superscript("2")),
            Column::numbers("count"),
            Column::numbers("nothing"),
            Column::numbers("word among numbers"),
        ],
        rows: vec![row(true), row(false)],
    };
    let short = Table {
        title: "A long title".to_owned(),
        link: "Short".to_owned(),
        columns: vec![Column::words("name"), Column::numbers("gap")],
        rows: vec![vec![Cell::word("1"), Cell::number(Some(6.415_718_4e-6))]],
        ..Table::default()
    };
    Page {
        title: text(),
        summary: text(),
        facts: vec![
            Fact::new("Command", Cell::Code { text: text() }),
            Fact::text(text(), text()),
            Fact::count("Horizon", 10_000_000),
            Fact::count("Updates", 279_360_000_000),
            Fact::new("Updates per second", Cell::digits(Some(1.63e9), 3)),
        ],
        figures: vec![PageFigure {
            title: text(),
            caption: text(),
            drawing: crate::common::grid_figure(3).draw().unwrap(),
        }],
        tables: vec![table, short],
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
    let html = full_page().to_html().unwrap();
    let document = parse(&html);
    let ids: Vec<&str> = named(&document, "h2")
        .filter_map(|node| node.attribute("id"))
        .collect();
    let expected = ["run", "figures", "table1", "table2", "rerun"];
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
    let html = full_page().to_html().unwrap();
    for number in [
        "279,360,000,000",
        "1.63 × 10<sup>9</sup>",
        "10,000,000",
        "51399.672",
        "6.416 × 10<sup>−6</sup>",
        "the largest is 7.8 × 10<sup>−9</sup>",
        "φ<sub>∞</sub><sup>2</sup>",
        "<td>clamped</td>",
        "<a href=\"#table2\">Short</a>",
        "1.5 × 10<sup>−7</sup> ± 2.5 × 10<sup>−9</sup>",
        "7,654,321",
    ] {
        assert!(html.contains(number), "{number}");
    }
    assert!(!html.contains("NaN") && !html.contains("inf<"));
}

#[test]
fn the_page_loads_nothing_and_runs_nothing() {
    let html = full_page().to_html().unwrap();
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
    let html = full_page().to_html().unwrap();
    let document = parse(&html);
    assert_eq!(text_of(named(&document, "h1").next().unwrap()), MARKUP);
    assert_eq!(text_of(named(&document, "title").next().unwrap()), MARKUP);
    let shown = document
        .descendants()
        .filter(|node| node.is_text() && node.text().is_some_and(|t| t.trim() == MARKUP));
    // Title, h1, summary; the command and the named text (2); figure heading and caption; the table's link, heading, two
    // paragraphs, a column and four cells in each of two rows; rerun (2).
    assert_eq!(shown.count(), 3 + 3 + 2 + (5 + 8) + 2);
}

#[test]
fn control_characters_do_not_break_the_page() {
    let report = Page {
        title: "a\u{0}b\u{1b}[0m".to_owned(),
        ..Page::default()
    };
    let html = report.to_html().unwrap();
    assert_eq!(
        text_of(named(&parse(&html), "h1").next().unwrap()),
        "a\u{fffd}b\u{fffd}[0m"
    );
}

#[test]
fn tables_have_headers_for_every_column_and_row() {
    let html = full_page().to_html().unwrap();
    let document = parse(&html);
    assert_eq!(named(&document, "table").count(), 2);
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
    let html = Page {
        title: "Sweep".to_owned(),
        ..Page::default()
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
        full_page().to_html().unwrap(),
        full_page().to_html().unwrap()
    );
}
