//! Checks `experiment` through the real binary.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{folder, run_in};

const SPEC: &str = "\
title = \"A small one\"
question = \"Does it work?\"
problem = \"two-state\"
set = { alpha = 0.9 }
vary = { epsilon = [0.3, 0.1] }
algorithms = [\"alg1:c=0.1\", \"alg1-const:c=0.1\"]
horizon = 400
runs = 4
";

/// Runs a spec and gives the rows of a CSV file by (value, label, extra key) -> (column -> text).
fn table(directory: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let csv = std::fs::read_to_string(directory.join(name)).unwrap();
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| {
            let fields = line.split(',').map(str::to_string);
            header.iter().map(ToString::to_string).zip(fields).collect()
        })
        .collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap()
}

#[test]
fn an_experiment_runs_every_method_at_every_value() {
    let place = folder([("small.toml", SPEC.as_bytes())]);
    let run = run_in(place.path(), &["experiment", "small.toml"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
    let report = Path::new("out/small/report.html");
    let told = format!("; see {}\n", report.display());
    assert!(run.stderr.ends_with(&told), "{}", run.stderr);
    let out = place.path().join("out/small");
    let rows = table(&out, "results.csv");
    assert_eq!(rows.len(), 4);
    let keys: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row["value"].as_str(), row["label"].as_str()))
        .collect();
    assert_eq!(
        keys,
        [
            ("0.3", "alg1:c=0.1"),
            ("0.3", "alg1-const:c=0.1"),
            ("0.1", "alg1:c=0.1"),
            ("0.1", "alg1-const:c=0.1")
        ]
    );
    for row in &rows {
        assert_eq!(row["vary"], "epsilon");
        let epsilon = number(row, "value");
        assert!((number(row, "omega") / epsilon.powi(2) - 1.0).abs() < 1e-12);
        assert!(number(row, "f") < number(row, "f_zero") && number(row, "f_stderr") > 0.0);
        assert!(number(row, "f_of_mean") <= number(row, "f"));
    }
    for name in ["figure.svg", "figure.png", "report.html", "manifest.json"] {
        assert!(out.join(name).metadata().unwrap().len() > 200, "{name}");
    }
    assert!(!out.join("agents.csv").exists());
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("A small one") && page.contains("Does it work?"));
}

/// A point of an experiment is the comparison with the same settings, whatever varies.
#[test]
fn what_varies_is_the_horizon_a_method_or_the_problem() {
    let compare = |more: &[&str]| {
        let base = [
            "compare",
            "two-state",
            "--algorithms",
            "alg1",
            "--runs",
            "4",
            "--json",
        ];
        let report = crate::common::json(&[&base[..], more].concat());
        report["algorithms"][0]["f"]["mean"].as_f64().unwrap()
    };
    let rest = "problem = \"two-state\"\nalgorithms = [\"alg1\"]\nruns = 4\n";
    for (vary, fixed, flags) in [
        ("horizon = [100, 300]", "", ["--horizon", "300", "--c", "1"]),
        (
            "\"alg1.c\" = [2, 0.1]",
            "horizon = 100",
            ["--horizon", "100", "--c", "0.1"],
        ),
        (
            "c = [2, 0.1]",
            "horizon = 100",
            ["--horizon", "100", "--c", "0.1"],
        ),
        (
            "alpha = [0.9, 0.7]",
            "horizon = 100",
            ["--horizon", "100", "--set", "alpha=0.7"],
        ),
    ] {
        let spec = format!("{rest}{fixed}\nvary = {{ {vary} }}\n");
        let place = folder([("spec.toml", spec.as_bytes())]);
        let run = run_in(place.path(), &["experiment", "spec.toml", "--out", "x"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let rows = table(&place.path().join("x"), "results.csv");
        assert_eq!(rows.len(), 2);
        assert_eq!(number(&rows[1], "f"), compare(&flags), "{vary}");
    }
}

/// E f(mean of N) = bias + spread / N: the exact split adds up to the exact expectation (REF-2, T = 200, c = 0.2), and
/// the one from the runs agrees with it.
#[test]
fn one_shot_averaging_splits_bias_and_spread() {
    let spec = "problem = \"ref-2\"\nalgorithms = [\"alg1:c=0.2\", \"alg1-doubling:t0=64\"]\nhorizon = 200\n\
                runs = 2000\nagents = [1, 4, 64]\n";
    let place = folder([("agents.toml", spec.as_bytes())]);
    let run = run_in(place.path(), &["experiment", "agents.toml", "--out", "x"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let out = place.path().join("x");
    let rows = table(&out, "agents.csv");
    // Doubling has no exact split.
    assert_eq!(rows.len(), 9);
    let of = |label: &str, kind: &str, agents: &str| {
        let wanted = |row: &&BTreeMap<String, String>| {
            row["label"] == label && row["kind"] == kind && row["agents"] == agents
        };
        rows.iter().find(wanted).unwrap()
    };
    let one = of("alg1:c=0.2", "exact", "1");
    assert!((number(one, "f") / 0.15695139065052535 - 1.0).abs() < 1e-9);
    for agents in ["1", "4", "64"] {
        let (exact, sampled) = (
            of("alg1:c=0.2", "exact", agents),
            of("alg1:c=0.2", "sampled", agents),
        );
        let n: f64 = agents.parse().unwrap();
        let sum = number(exact, "bias") + number(exact, "spread") / n;
        assert!((number(exact, "f") / sum - 1.0).abs() < 1e-12);
        assert!((number(exact, "f") / number(sampled, "f") - 1.0).abs() < 0.05);
    }
    assert!(out.join("agents.svg").exists() && !out.join("figure.svg").exists());
}

#[test]
fn threads_leave_no_trace() {
    let place = folder([("small.toml", SPEC.as_bytes())]);
    let results = |threads: &str| {
        let run = run_in(
            place.path(),
            &["experiment", "small.toml", "--threads", threads],
        );
        assert_eq!(run.code, 0, "{}", run.stderr);
        std::fs::read_to_string(place.path().join("out/small/results.csv")).unwrap()
    };
    assert_eq!(results("1"), results("3"));
}

#[test]
fn bad_specs_are_refused_before_anything_is_written() {
    let replaced = |from: &str, to: &str| {
        assert!(SPEC.contains(from));
        SPEC.replace(from, to)
    };
    for (spec, words) in [
        (replaced("runs = 4", "runz = 4"), "runz"),
        (replaced("horizon = 400\n", ""), "missing key `horizon`"),
        (replaced("horizon = 400", "horizon = 2"), "at least 3"),
        (replaced("runs = 4", "runs = 0"), "runs is 0"),
        (replaced("two-state", "two-stat"), "two-state"),
        (replaced("[0.3, 0.1]", "[]"), "epsilon has no values"),
        (replaced("[0.3, 0.1]", "[0.3, 0.3]"), "0.3 twice"),
        (replaced("[0.3, 0.1]", "[0.3, 1.5]"), "at epsilon = 1.5"),
        (replaced("[0.3, 0.1]", "[nan]"), "not finite"),
        (replaced("epsilon =", "alpha ="), "both set and varied"),
        (replaced("epsilon =", "horizon ="), "both fixed and varied"),
        (replaced("epsilon =", "nothing ="), "\"nothing\""),
        (replaced("epsilon =", "\"alg1.c\" ="), "free to vary"),
        (
            replaced("epsilon = [0.3, 0.1]", "epsilon = [0.3], discount = [0.5]"),
            "only one thing varies",
        ),
        (replaced("alg1:c=0.1", "alg2"), "did you mean"),
        (replaced("alg1:c=0.1", "alg1:c=-1"), "alg1: c is -1"),
        (
            replaced("\"alg1:c=0.1\", \"alg1-const:c=0.1\"", ""),
            "algorithms is empty",
        ),
        (replaced("runs = 4", "agents = [0]"), "agents has 0"),
        (
            replaced("runs = 4", "agents = [2]\nruns = 1"),
            "at least 2 runs",
        ),
        (replaced("runs = 4", "show = \"g\""), "show = \"g\""),
        (replaced("runs = 4", "show = [\"f\", \"g\"]"), "\"g\""),
        (replaced("runs = 4", "show = []"), "at least one quantity"),
        (
            replaced("runs = 4", "against = \"log\""),
            "against = \"log\"",
        ),
    ] {
        let place = folder([("bad.toml", spec.as_bytes())]);
        let run = run_in(place.path(), &["experiment", "bad.toml"]);
        assert_eq!(run.code, 2, "{spec}: {}", run.stderr);
        assert!(
            run.stderr.contains("bad.toml") && run.stderr.contains(words),
            "{words}: {}",
            run.stderr
        );
        assert!(!place.path().join("out").exists());
    }
}

/// Several quantities in one figure, with the bounds that are proved, against 1 - gamma.
#[test]
fn bounds_stand_beside_what_they_bound() {
    let spec = "\
problem = \"two-state\"
set = { epsilon = 0.5 }
vary = { discount = [0.9, 0.999] }
algorithms = [\"alg1:c=8\", \"lstd\"]
horizon = 20000
runs = 4
show = [\"f\", \"d_norm_sq\", \"bound\", \"comparison_bound\"]
against = \"one_minus\"
";
    let place = folder([("bounds.toml", spec.as_bytes())]);
    let run = run_in(place.path(), &["experiment", "bounds.toml", "--out", "x"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let out = place.path().join("x");
    for row in table(&out, "results.csv") {
        // The bound on the D-norm has 1/(1-gamma); least squares states no bound.
        assert!(number(&row, "comparison_bound") > number(&row, "d_norm_sq"));
        match row["label"].as_str() {
            "alg1:c=8" => assert!(number(&row, "f_bound") > number(&row, "f")),
            _ => assert_eq!(row["f_bound"], ""),
        }
    }
    let figure = std::fs::read_to_string(out.join("figure.svg")).unwrap();
    let has = |words: &str| assert!(figure.contains(words), "{words}");
    has("alg1:c=8, bound on f");
    has("lstd, D-norm");
    has("Bhandari et al., bound on the D-norm");
    has("1 − discount");
    assert!(!figure.contains("lstd, bound on f"));
}

/// The specs that come with the project are valid; running them takes minutes.
#[test]
fn the_projects_experiments_are_valid() {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut seen = 0;
    for entry in std::fs::read_dir(specs).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|e| e == "toml") && text.contains("algorithms =") {
            let place = folder([]);
            let name = path.to_str().unwrap();
            let run = run_in(place.path(), &["experiment", name, "--check"]);
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert!(run.stdout.contains("contest"), "{}", run.stdout);
            assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
            seen += 1;
        }
    }
    assert!(seen > 0);
}
