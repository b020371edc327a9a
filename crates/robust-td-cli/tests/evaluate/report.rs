//! Tests `--report`: the numbers on the page are those of `--json`, and the page needs nothing else.

use std::fs;
use std::path::Path;
use std::process::Command;

use roxmltree::{Document, ParsingOptions};
use serde_json::Value;

use crate::common::{folder, json_in, run_in};
use crate::log::{Columns, Log, words};

fn parse(page: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(page, options).unwrap()
}

/// Compares every number that has a key with the JSON, and returns the keys.
fn assert_equals_json(page: &str, json: &Value) -> Vec<String> {
    let document = parse(page);
    let numbers = document
        .descendants()
        .filter(|node| node.tag_name().name() == "data");
    let keys = numbers.map(|node| {
        let key = node.attribute("data-key").unwrap().to_owned();
        let shown: f64 = node.attribute("value").unwrap().parse().unwrap();
        let found = json.pointer(&format!("/{}", key.replace('.', "/")));
        match found.unwrap_or_else(|| panic!("{key} is not in the JSON")) {
            Value::Null => assert!(!shown.is_finite(), "{key}: {shown}"),
            number => assert_eq!(number.as_f64().unwrap().to_bits(), shown.to_bits(), "{key}"),
        }
        key
    });
    keys.collect()
}

/// Checks that the page loads and runs nothing.
fn assert_alone(page: &str) {
    let document = parse(page);
    for name in [
        "script", "link", "img", "iframe", "object", "image", "use", "base",
    ] {
        let found = document
            .descendants()
            .filter(|node| node.tag_name().name() == name);
        assert_eq!(found.count(), 0, "{name}");
    }
    for node in document.descendants() {
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            let refers = ["src", "href", "action", "srcset"].contains(&name);
            assert!(!refers || value.starts_with('#'), "{name}={value}");
            assert!(!name.starts_with("on"), "{name}");
        }
    }
    assert!(!page.contains("url(") && !page.contains("@import"));
}

/// The headings of the page.
fn sections(page: &str) -> Vec<String> {
    let document = parse(page);
    let headings = document
        .descendants()
        .filter(|node| node.tag_name().name() == "h2");
    headings
        .map(|node| node.attribute("id").unwrap().to_owned())
        .collect()
}

/// The number of pictures that do not show an episode, and of those that do.
fn pictures(page: &str) -> (usize, usize) {
    let all = page.matches("<g class=\"panel\">").count();
    let episodes = page.matches("<title>Values along episode").count();
    (all - episodes, episodes)
}

#[test]
fn the_page_has_the_numbers_of_the_json() {
    let log = Log::episodic("boyan", 3000, 5);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    let line = "evaluate log.csv --discount 0.9 --features identity --report page.html --json";
    let json = json_in(folder.path(), &words(line));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    let keys = assert_equals_json(&page, &json);
    for key in [
        "start_value.value",
        "start_value.lower",
        "monte_carlo.upper",
        "relative_residual",
        "rank",
        "theta_bar.3",
        "intervals.lower.0",
        "check.tenths.0.stderr",
        "typical_rows.4.upper",
        "rows",
        "steps",
        "seconds",
    ] {
        assert!(keys.iter().any(|found| found == key), "{key} in {keys:?}");
    }
    assert_alone(&page);
    let expected = [
        "findings",
        "value",
        "check",
        "rows",
        "episodes",
        "weights",
        "convergence",
        "data",
        "rerun",
    ];
    assert_eq!(sections(&page), expected);
    // Two estimates, first rows, tenths, values, weights; up to six episodes, without those of one row.
    let (others, episodes) = pictures(&page);
    assert!(
        others == 5 && (3..=6).contains(&episodes),
        "{others}, {episodes}"
    );
    assert!(page.contains("robust-td evaluate log.csv --discount 0.9 --features identity"));
    assert!(page.contains(env!("CARGO_PKG_VERSION")));
    // Pictures show their numbers to the pointer.
    let first = &json["check"]["tenths"][0];
    let hint = format!("{} rows of {} episodes", first["rows"], first["episodes"]);
    assert!(page.contains(&hint), "{hint}");
    // Only the page and the log are left.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn the_same_log_gives_the_same_page_for_any_number_of_threads() {
    let log = Log::episodic("boyan", 40_000, 6);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::Episodes);
    let page = |threads: usize| {
        let line = format!(
            "evaluate log.csv --discount 0.9 --threads {threads} --report {threads}.html --json"
        );
        json_in(folder.path(), &words(&line));
        let page = fs::read_to_string(folder.path().join(format!("{threads}.html"))).unwrap();
        let (start, end) = ("id=\"value\"", "id=\"convergence\"");
        page[page.find(start).unwrap()..page.find(end).unwrap()].to_owned()
    };
    assert_eq!(page(1), page(3));
}

#[test]
fn every_kind_of_evaluation_has_a_page() {
    let log = Log::episodic("boyan", 2000, 7);
    let run = Log::continuing("boyan", 1000, 8);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    run.write(folder.path(), "run.csv", Columns::Plain);
    for (line, expected, along) in [
        ("evaluate log.csv --discount 0.9 --no-check", 4, true),
        ("evaluate log.csv --discount 0 --confidence 0.8", 5, true),
        ("evaluate run.csv --discount 0.9", 4, true),
        ("evaluate log.csv --discount 0.9 --algorithm alg1", 5, true),
        // Divergence is a result.
        ("evaluate log.csv --discount 0.9 --c 1e-12", 0, false),
        (
            "evaluate log.csv --discount 0.9 --algorithm td-lambda --c 1 --param lambda=0.5",
            1,
            false,
        ),
    ] {
        let json = json_in(
            folder.path(),
            &words(&format!("{line} --report p.html --json")),
        );
        let page = fs::read_to_string(folder.path().join("p.html")).unwrap();
        assert_equals_json(&page, &json);
        assert_alone(&page);
        let (others, episodes) = pictures(&page);
        assert_eq!(
            (others, episodes > 0),
            (expected, along),
            "{line}: {:?}",
            sections(&page)
        );
    }
}

#[test]
fn markup_in_names_stays_text() {
    let name = "<script>alert(1)</script>&\"'";
    let quoted = name.replace('"', "\"\"");
    let mut text = format!("\"{quoted}\",reward,terminated\n");
    for t in 0..400 {
        text += &format!("{},{},{}\n", t % 7, t % 3, u8::from(t % 20 == 19));
    }
    let file = "<b>&.csv";
    let folder = folder([(file, text.as_bytes())]);
    let column = format!("obs={name}");
    for command in [
        &["evaluate", file, "--discount", "0.9"][..],
        &["inspect", file],
    ] {
        let rest = ["--column", &column, "--report", "p.html", "--json"];
        let arguments: Vec<&str> = command.iter().copied().chain(rest).collect();
        let json = json_in(folder.path(), &arguments);
        let page = fs::read_to_string(folder.path().join("p.html")).unwrap();
        assert_equals_json(&page, &json);
        assert_alone(&page);
        let document = parse(&page);
        let texts = |wanted: &str| {
            let nodes = document.descendants().filter(|node| node.is_text());
            let found = nodes.filter(|node| node.text().is_some_and(|text| text.contains(wanted)));
            found.count()
        };
        assert!(texts(name) >= 2 && texts(file) >= 2);
    }
}

#[test]
fn the_page_of_a_log_has_the_numbers_of_the_json() {
    let log = Log::episodic("boyan", 3000, 9);
    let folder = folder([]);
    let mut text = log.csv(Columns::All, 0..3000);
    text += &text.lines().nth(7).unwrap().replacen(',', ",x", 1);
    fs::write(folder.path().join("log.csv"), text).unwrap();
    let json = json_in(
        folder.path(),
        &words("inspect log.csv --report d.html --json"),
    );
    let page = fs::read_to_string(folder.path().join("d.html")).unwrap();
    let keys = assert_equals_json(&page, &json);
    for key in [
        "rows",
        "bad_rows.count",
        "episodes.length.max",
        "features.3.stats.std",
    ] {
        assert!(keys.iter().any(|found| found == key), "{key} in {keys:?}");
    }
    assert_alone(&page);
    // Rewards, lengths, four features, correlations.
    assert_eq!(pictures(&page), (2 + 4 + 1, 0));
    let expected = [
        "findings",
        "rewards",
        "features",
        "correlations",
        "bad",
        "rerun",
    ];
    assert_eq!(sections(&page), expected);
}

#[test]
fn a_path_that_cannot_be_written_is_refused_before_anything_is_read() {
    let folder = folder([("log.csv", &b"obs_0,reward\n1,2\n2,3\n"[..])]);
    fs::create_dir(folder.path().join("directory")).unwrap();
    for command in ["evaluate missing.csv --discount 0.9", "inspect missing.csv"] {
        for (path, message) in [
            (
                "no/p.html",
                "--report: cannot write no/p.html: there is no directory no",
            ),
            (
                "directory",
                "--report: cannot write directory: it is a directory",
            ),
        ] {
            let run = run_in(folder.path(), &words(&format!("{command} --report {path}")));
            assert_eq!((run.code, run.stdout.as_str()), (2, ""));
            assert_eq!(run.stderr, format!("error: {message}\n"));
        }
    }
    let line = "evaluate log.csv --discount 0.9 --out a.html --report a.html";
    let run = run_in(folder.path(), &words(line));
    assert_eq!(run.code, 2);
    assert_eq!(
        run.stderr,
        "error: --report and --out are both a.html; use two files\n"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// The first of the usual names that can be started.
fn browser() -> Option<&'static str> {
    let starts = |name: &&str| {
        let output = Command::new(name).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(starts)
}

/// The width that the contents of a page take in a frame of a given width, and what the console says.
fn width_in(browser: &str, folder: &Path, page: &str, width: usize) -> (usize, String) {
    // A window cannot be as narrow as a phone; a frame can.
    let source = page.replace('&', "&amp;").replace('"', "&quot;");
    let measure = "onload = () => { const page = document.getElementById('page').contentDocument.documentElement; \
                   document.title = 'width ' + page.scrollWidth; }";
    let copy = format!(
        "<!DOCTYPE html><title></title><body><iframe id=\"page\" style=\"border: 0; width: {width}px; height: 900px\" \
         srcdoc=\"{source}\"></iframe><script>{measure}</script></body>"
    );
    let path = folder.join("frame.html");
    fs::write(&path, copy).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .args([
            "--enable-logging=stderr",
            "--dump-dom",
            "--window-size=1400,900",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let (dom, log) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    let title = dom.split("<title>width ").nth(1);
    let found = title.and_then(|rest| rest.split('<').next()?.parse().ok());
    let console = log.lines().filter(|line| line.contains("CONSOLE"));
    (
        found.unwrap_or_else(|| panic!("{log}")),
        console.collect::<Vec<_>>().join("\n"),
    )
}

#[test]
fn a_browser_shows_the_page_on_a_desk_and_on_a_phone() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium, chromium-browser or google-chrome on PATH");
        return;
    };
    let log = Log::episodic("boyan", 3000, 11);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    for command in ["evaluate log.csv --discount 0.9", "inspect log.csv"] {
        let line = format!("{command} --report p.html --json");
        json_in(folder.path(), &words(&line));
        let page = fs::read_to_string(folder.path().join("p.html")).unwrap();
        for frame in [1280, 390] {
            let (width, console) = width_in(browser, folder.path(), &page, frame);
            assert_eq!(console, "");
            assert!(width <= frame, "{command}: {width} in {frame}");
        }
    }
}
