//! Checks `robust-td problems` and what every command has in common.

#![allow(clippy::unwrap_used)]

use std::process::{Command, Stdio};

use crate::common::{json, run};

#[test]
fn the_catalog_is_listed_with_its_parameters() {
    let listing = json(&["problems", "--json"]);
    let problems = listing["problems"].as_array().unwrap();
    let find = |name: &str| {
        problems
            .iter()
            .find(|problem| problem["name"] == name)
            .unwrap()
    };
    assert_eq!(find("paper-ring")["parameters"][0]["name"], "scale");
    assert_eq!(find("paper-ring")["parameters"][0]["default"], 1.0);
    assert_eq!(find("two-state")["parameters"][0]["default"], 0.6);
    assert_eq!(find("two-state")["parameters"][1]["default"], 0.3);
    let text = run(&["problems"]).stdout;
    for problem in problems {
        assert!(text.contains(&format!("{}: ", problem["name"].as_str().unwrap())));
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn every_problem_of_the_catalog_can_be_shown() {
    for problem in json(&["problems", "--json"])["problems"]
        .as_array()
        .unwrap()
    {
        let name = problem["name"].as_str().unwrap();
        let shown = json(&["problems", name, "--json"]);
        assert_eq!(shown["problem"], name);
        assert_eq!(&shown["description"], problem);
        assert!(shown["omega"].as_f64().unwrap() > 0.0, "{name}");
        assert_eq!(
            shown["theta_star"].as_array().unwrap().len() as u64,
            shown["dimension"].as_u64().unwrap()
        );
    }
}

#[test]
fn settings_change_the_problem() {
    let shown = json(&["problems", "two-state", "--set", "epsilon=0.01", "--json"]);
    assert!((shown["omega"].as_f64().unwrap() - 1e-4).abs() < 1e-16);
    let page = run(&["problems", "two-state", "--set", "epsilon=0.01"]).stdout;
    assert!(
        page.contains("  epsilon = 0.01  ") && page.contains("0.3)"),
        "{page}"
    );
}

#[test]
fn help_has_examples_and_there_is_a_version() {
    for arguments in [
        &["--help"][..],
        &["certify", "--help"],
        &["problems", "--help"],
    ] {
        let help = run(arguments);
        assert_eq!(help.code, 0);
        assert!(
            help.stdout.contains("Examples:\n  robust-td "),
            "{arguments:?}"
        );
    }
    let version = run(&["--version"]).stdout;
    assert_eq!(
        version,
        format!("robust-td {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(run(&[]).code, 2);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for arguments in [
        &["problems"][..],
        &["problems", "--json"],
        &["certify", "ref-2", "--horizon", "100"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_robust-td"))
            .args(arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    }
}
