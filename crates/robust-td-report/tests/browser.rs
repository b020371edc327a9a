//! Opens a report in headless Chromium, when one is installed.

use std::process::Command;

use robust_td_report::{Cell, Column, Fact, Page, PageFigure, Table};

/// The first of the usual names that can be started.
fn browser() -> Option<&'static str> {
    let starts = |name: &&str| {
        Command::new(name)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| starts(name))
}

#[test]
fn a_browser_shows_figures_and_numbers_with_a_clean_console() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium, chromium-browser or google-chrome on PATH");
        return;
    };
    let report = Page {
        title: "A report <in> a browser".to_owned(),
        facts: vec![Fact::count("Updates", 279_360_000_000)],
        figures: vec![PageFigure {
            title: "Figure 1".to_owned(),
            caption: "A sweep".to_owned(),
            drawing: crate::common::grid_figure(3).draw().unwrap(),
        }],
        tables: vec![Table {
            title: "Thresholds".to_owned(),
            columns: vec![Column::words("figure"), Column::numbers("best gap")],
            rows: vec![vec![Cell::word("1"), Cell::number(Some(6.4e-6))]],
            ..Table::default()
        }],
        ..Page::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("report.html");
    std::fs::write(&page, report.to_html().unwrap()).unwrap();

    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!(
            "--user-data-dir={}",
            directory.path().join("profile").display()
        ))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let (dom, log) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{log}");

    assert_eq!(dom.matches("class=\"panel\"").count(), 9, "{log}");
    assert!(dom.contains("data-text=\"Boundedness ratio\"") && dom.contains("data-text=\"10^−8\""));
    assert!(dom.contains("279,360,000,000") && dom.contains("6.4 × 10<sup>−6</sup>"));
    assert!(dom.contains("<h1>A report &lt;in&gt; a browser</h1>"));
    // Everything that a page writes to its console, including refused loads, is logged with this word.
    let console: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    assert!(console.is_empty(), "{console:?}");
}
