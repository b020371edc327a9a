//! Checks `compare` and `algorithms` through the real binary.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use crate::common::{folder, json, json_in, run, run_in};
use serde_json::Value;

const SMALL: [&str; 6] = ["compare", "ref-2", "--horizon", "500", "--runs", "3"];

fn with(more: &[&str]) -> Vec<String> {
    SMALL.iter().chain(more).map(ToString::to_string).collect()
}

fn compare(more: &[&str]) -> Value {
    let arguments = with(more);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    json(&[&arguments[..], &["--json"]].concat())
}

fn find<'a>(report: &'a Value, label: &str) -> &'a Value {
    let entries = report["algorithms"].as_array().unwrap();
    let found = entries.iter().find(|entry| entry["label"] == label);
    found.unwrap_or_else(|| panic!("no {label} in {report}"))
}

#[test]
fn the_json_has_its_keys() {
    let report = compare(&["--algorithms", "alg1,alg1-const:c=0.5", "--seed", "3"]);
    assert_eq!(report["problem"], "ref-2");
    assert_eq!(
        (&report["horizon"], &report["runs"]),
        (&500.into(), &3.into())
    );
    assert_eq!(report["algorithms"].as_array().unwrap().len(), 2);
    assert_eq!(report["skipped"], Value::Array(Vec::new()));
    for entry in report["algorithms"].as_array().unwrap() {
        for key in ["f", "d_norm_sq", "theta_error_sq"] {
            let (mean, error) = (&entry[key]["mean"], &entry[key]["stderr"]);
            assert!(
                mean.as_f64().unwrap() > 0.0 && error.as_f64().unwrap() > 0.0,
                "{key}"
            );
        }
        for key in ["max_mean_theta_norm_sq", "divergence_rate", "f_of_mean"] {
            assert!(entry[key].is_f64(), "{key}");
        }
        assert_eq!(entry["oracle"], false);
        assert_eq!(entry["updates"], 500);
        assert!(entry["projections"].is_null());
        assert_eq!(entry["standing"], "proved");
        assert!(entry["notes"][0].as_str().unwrap().contains("40.4558"));
    }
    // Certificate Y does not need c > c_0; at T = 500 it holds only for the constant step.
    assert!(find(&report, "alg1")["guarantee"].is_null());
    let guarantee = &find(&report, "alg1-const:c=0.5")["guarantee"];
    assert_eq!(
        (&guarantee["quantity"], &guarantee["statement"]),
        (&"f".into(), &"certificate Y".into())
    );
    assert!(guarantee["bound"].as_f64().unwrap() > 0.0);
    let inputs = &find(&report, "alg1-const:c=0.5")["inputs"];
    assert_eq!((&inputs["T"], &inputs["c"]), (&500.0.into(), &0.5.into()));
    assert_eq!(inputs["phi_inf"], 1.044030650891055);
    assert_eq!(find(&report, "alg1-const:c=0.5")["settings"]["c"], 0.5);
}

/// E f of Algorithm 1 on REF-2 at T = 200, c = 0.2 is 0.15695139065052535 (reference numbers of the exact moments).
#[test]
fn the_mean_is_within_its_standard_errors_of_the_exact_expectation() {
    let report = json(&[
        "compare",
        "ref-2",
        "--horizon",
        "200",
        "--runs",
        "2000",
        "--algorithms",
        "alg1",
        "--c",
        "0.2",
        "--json",
    ]);
    let f = &report["algorithms"][0]["f"];
    let (mean, error) = (f["mean"].as_f64().unwrap(), f["stderr"].as_f64().unwrap());
    let off = (mean - 0.15695139065052535) / error;
    assert!(off.abs() < 4.0, "{off} standard errors");
    let peak = report["algorithms"][0]["max_mean_theta_norm_sq"]
        .as_f64()
        .unwrap();
    assert!((peak / 1.5236742086182025 - 1.0).abs() < 0.1, "{peak}");
}

#[test]
fn the_nearest_setting_wins() {
    let report = compare(&[
        "--algorithms",
        "alg1,alg1:c=3,alg1-const,alg1-doubling",
        "--c",
        "2",
        "--param",
        "alg1.c=5",
        "--param",
        "t0=64",
    ]);
    for (label, c) in [
        ("alg1", 5.0),
        ("alg1:c=3", 3.0),
        ("alg1-const", 2.0),
        ("alg1-doubling", 2.0),
    ] {
        assert_eq!(find(&report, label)["inputs"]["c"], c, "{label}");
    }
    assert_eq!(find(&report, "alg1-doubling")["inputs"]["t0"], 64.0);
    assert!(find(&report, "alg1")["inputs"].get("t0").is_none());
}

#[test]
fn without_a_choice_all_methods_that_apply_take_part() {
    let report = compare(&[]);
    let known = json(&["algorithms", "--json"]);
    let ids = |entries: &Value| -> Vec<String> {
        let entries = entries.as_array().unwrap().iter();
        entries
            .map(|entry| entry["id"].as_str().unwrap().to_string())
            .collect()
    };
    let mut seen = ids(&report["algorithms"]);
    seen.extend(ids(&report["skipped"]));
    let mut all = ids(&known["algorithms"]);
    assert_eq!(
        (all.len(), report["algorithms"].as_array().unwrap().len()),
        (41, 39)
    );
    seen.sort();
    all.sort();
    assert_eq!(seen, all);
    // Two methods learn to act, not to predict; all others take part.
    assert_eq!(ids(&report["skipped"]), ["optimal-stopping", "q-learning"]);
    for skipped in report["skipped"].as_array().unwrap() {
        assert!(skipped["why"].as_str().unwrap().len() > 10);
    }
}

/// Divergence is a result: null in JSON where a value is not finite, `inf` in CSV, and exit code 0.
#[test]
fn divergence_is_a_result() {
    let out = folder([]);
    let arguments = [
        "compare",
        "ref-2",
        "--horizon",
        "3000",
        "--runs",
        "2",
        "--algorithms",
        "alg1-const:c=1e-9",
        "--json",
        "--out",
        "x",
    ];
    let report = json_in(out.path(), &arguments);
    let entry = &report["algorithms"][0];
    assert_eq!(entry["divergence_rate"], 1.0);
    assert!(entry["f"]["mean"].is_null() && entry["max_mean_theta_norm_sq"].is_null());
    let csv = std::fs::read_to_string(out.path().join("x/compare.csv")).unwrap();
    assert!(csv.lines().nth(1).unwrap().contains(",inf,"), "{csv}");
}

fn written(directory: &Path, more: &[&str]) -> [String; 2] {
    let arguments = with(more);
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(["--out", "out"]);
    let run = run_in(directory, &arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
    ["compare.csv", "curves.csv"].map(|name| {
        let path = directory.join("out").join(name);
        std::fs::read_to_string(path).unwrap()
    })
}

#[test]
fn threads_and_kernels_leave_no_trace() {
    let out = folder([]);
    let reference = written(out.path(), &[]);
    for more in [
        ["--threads", "1"],
        ["--threads", "3"],
        ["--kernel", "scalar"],
        ["--kernel", "portable"],
    ] {
        assert!(written(out.path(), &more) == reference, "{more:?}");
    }
    assert!(written(out.path(), &["--seed", "2"]) != reference);
}

#[test]
fn the_files_are_there_and_the_report_stands_alone() {
    let out = folder([]);
    let [csv, curves] = written(out.path(), &["--algorithms", "alg1,alg1-const"]);
    assert!(csv.starts_with("label,id,standing,oracle,f,f_stderr,d_norm_sq,d_norm_sq_stderr,"));
    assert_eq!(csv.lines().count(), 3);
    assert!(curves.starts_with("label,samples,f,f_stderr\nalg1,"));
    assert!(
        curves
            .lines()
            .any(|line| line.starts_with("alg1-const,500,"))
    );
    let bytes = |name: &str| std::fs::read(out.path().join("out").join(name)).unwrap();
    assert!(bytes("compare.png").starts_with(b"\x89PNG"));
    assert!(
        bytes("compare.svg").starts_with(b"<svg") || bytes("compare.svg").starts_with(b"<?xml")
    );
    let page = String::from_utf8(bytes("report.html")).unwrap();
    for words in [
        "What was run",
        "Error against samples",
        "Ranking",
        "Inputs of each method",
        "Conditions that do not hold here",
        "How to run it again",
        "robust-td compare ref-2 --horizon 500 --runs 3 --algorithms alg1,alg1-const --out out",
        "arXiv:2506.01052",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("<script") && !page.contains("src="));
    let manifest: Value = serde_json::from_slice(&bytes("manifest.json")).unwrap();
    for key in [
        "version",
        "command",
        "seed",
        "problem_constants",
        "seconds",
        "threads",
        "kernel",
    ] {
        assert!(!manifest[key].is_null(), "{key}");
    }
    assert_eq!(
        manifest["algorithms"],
        serde_json::json!(["alg1", "alg1-const"])
    );
}

#[test]
fn without_out_nothing_is_written() {
    let place = folder([]);
    let run = run_in(place.path(), &SMALL);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout
            .starts_with("ref-2, T = 500, 3 runs, seed 1\nf(0) = 0.4311, ")
    );
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

/// The rows of the table are sorted by increasing f.
#[test]
fn the_table_is_sorted() {
    let arguments = with(&["--algorithms", "alg1:c=50,alg1:c=0.1,alg1:c=1"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let page = run(&arguments).stdout;
    let labels: Vec<&str> = page
        .lines()
        .skip(4)
        .take(3)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(labels, ["alg1:c=0.1", "alg1:c=1", "alg1:c=50"]);
    // c = 50 is above c_0: no condition fails, and only the others are named.
    let (_, notes) = page.split_once("Conditions that do not hold here").unwrap();
    let (notes, proved) = notes.split_once("Proved here").unwrap();
    assert!(proved.contains("alg1:c=50  E f <= "), "{proved}");
    assert!(
        notes.contains("alg1:c=1") && !notes.contains("alg1:c=50"),
        "{notes}"
    );
}

#[test]
fn the_markdown_table_has_a_row_per_method() {
    let arguments = with(&["--algorithms", "alg1,srikant-ying", "--markdown"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let table = run(&arguments).stdout;
    let rows: Vec<&str> = table.lines().filter(|line| line.contains("| `")).collect();
    assert_eq!(rows.len(), 2);
    assert!(
        rows[0].starts_with(
            "| O~(1/sqrt(T)) | `alg1` | Lee & Orabona 2025, arXiv:2506.01052, Algorithm 1 | phi_inf, T | yes | yes |  | 0."
        ),
        "{}",
        rows[0]
    );
    // The bars of |theta*| do not end a cell.
    assert!(
        rows[1].contains(" A, alpha, \\|theta*\\|, T |"),
        "{}",
        rows[1]
    );
}

/// The columns of the paper's Table 1, row by row, for the methods that it lists.
#[test]
fn the_markdown_table_is_table_1_of_the_paper() {
    let (fast, robust) = ("O~(1/T)", "O~(1/sqrt(T))");
    let printed = [
        ("bhandari-c", fast, "no", "no"),
        ("srikant-ying", fast, "yes", "no"),
        ("patil-tail", fast, "yes", "no"),
        ("samsonov", fast, "yes", "no"),
        ("mitra", fast, "yes", "no"),
        ("li-exp", fast, "yes", "no"),
        ("bhandari-a", robust, "no", "yes"),
        ("liu-olshevsky", robust, "no", "yes"),
        ("adatd", robust, "no", "no"),
        ("alg1", robust, "yes", "yes"),
    ];
    let ids: Vec<&str> = printed.iter().map(|row| row.0).collect();
    let arguments = with(&["--algorithms", &ids.join(","), "--markdown"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let table = run(&arguments).stdout;
    let heading =
        "| rate | method | paper | inputs | without projection | bound independent of ω |";
    assert!(table.starts_with(heading), "{table}");
    for (id, rate, unprojected, omega_free) in printed {
        let named = format!("| `{id}` |");
        let row = table.lines().find(|line| line.contains(&named)).unwrap();
        assert!(row.starts_with(&format!("| {rate} | `{id}` |")), "{row}");
        assert!(
            row.contains(&format!(" | {unprojected} | {omega_free} | ")),
            "{row}"
        );
    }
}

/// Inputs that a method computes itself are shown next to those that were set.
#[test]
fn the_steps_that_were_used_are_listed() {
    let report = compare(&[
        "--algorithms",
        "implicit-td,gtd2,tdc,etd,lstd,gtd2:step=0.5",
    ]);
    let phi_inf_sq = 1.09;
    let step = 1.0 / (phi_inf_sq * 500_f64.sqrt());
    for (label, name, value) in [
        ("implicit-td", "step", step),
        ("gtd2", "step", step),
        ("gtd2", "step_w", step),
        ("tdc", "step", step),
        // Divided by 1/(1-gamma) = 10, by which emphasis enlarges it.
        ("etd", "step", step / 10.0),
        ("lstd", "ridge", 1e-3 * phi_inf_sq),
        ("gtd2:step=0.5", "step", 0.5),
        ("gtd2:step=0.5", "step_w", 0.5),
    ] {
        let found = find(&report, label)["inputs"][name].as_f64().unwrap();
        assert!(
            (found / value - 1.0).abs() < 1e-12,
            "{label} {name}: {found}"
        );
    }
    assert_eq!(find(&report, "gtd2")["oracle"], false);
}

#[test]
fn algorithms_are_listed_with_all_that_can_be_set() {
    let listing = json(&["algorithms", "--json"]);
    for entry in listing["algorithms"].as_array().unwrap() {
        for key in ["id", "title", "reference", "standing"] {
            assert!(!entry[key].as_str().unwrap().is_empty(), "{key}: {entry}");
        }
        for parameter in entry["parameters"].as_array().unwrap() {
            for key in ["name", "meaning", "range", "default"] {
                assert!(
                    !parameter[key].as_str().unwrap().is_empty(),
                    "{key}: {parameter}"
                );
            }
        }
    }
    let page = run(&["algorithms", "alg1-doubling"]).stdout;
    for words in [
        "alg1-doubling: ",
        "reference: ",
        "theory: proved",
        "requires: phi_inf",
        "t0",
        "a whole number, at least 3",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let wrong = run(&["algorithms", "alg1-douling"]);
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.stderr.contains("did you mean \"alg1-doubling\"?"),
        "{}",
        wrong.stderr
    );
}
