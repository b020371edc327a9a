//! Tests columns by name, categories, and what `predict` does with them.

use std::io::Write;

use assert_cmd::Command;
use serde_json::Value;

use crate::bad_data::assert_refused;
use crate::common::{folder, json_in, run_in};

const SPEC: &str = "standardise(x) + one-hot(city) + bias";

/// Episodes of 20 rows that move between three cities.
fn log() -> String {
    let cities = ["Bern", "Oslo", "New York"];
    let mut text = String::from("t,city,x,reward,episode\n");
    for t in 0..600_u32 {
        let city = cities[(t * t / 7 + t / 20) as usize % 3];
        let x = f64::from(t * 37 % 101) / 8.0;
        text += &format!("{t},{city},{x},{},{}\n", t * 11 % 5, t / 20);
    }
    text
}

#[test]
fn names_are_enough_to_evaluate_and_to_predict() {
    let log = log();
    let new = "key,x,city,t\n\"a,1\",1.5,Oslo,007\nb,2,New York,8\n";
    let folder = folder([("log.csv", log.as_bytes()), ("new.csv", new.as_bytes())]);
    let found = json_in(
        folder.path(),
        &[
            "evaluate",
            "log.csv",
            "--discount",
            "0.9",
            "--features",
            SPEC,
            "--no-check",
            "--out",
            "m.json",
            "--json",
        ],
    );
    assert_eq!(found["features"], SPEC);
    assert_eq!(found["feature_names"][2], "one-hot(city=New York)");
    let shown = found["typical_rows"][0]["obs"][1].as_str().unwrap();
    assert!(["Bern", "Oslo", "New York"].contains(&shown));
    let run = run_in(
        folder.path(),
        &["predict", "m.json", "new.csv", "--keep", "key,t"],
    );
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "key,t,value,lower,upper");
    assert!(
        lines[1].starts_with("\"a,1\",007,") && lines[2].starts_with("b,8,"),
        "{lines:?}"
    );
    let run = run_in(
        folder.path(),
        &["predict", "m.json", "new.csv", "--keep", "all"],
    );
    assert!(
        run.stdout.starts_with("key,x,city,t,value,"),
        "{}",
        run.stdout
    );
    let page = run_in(
        folder.path(),
        &[
            "evaluate",
            "log.csv",
            "--discount",
            "0.9",
            "--features",
            SPEC,
        ],
    );
    assert!(page.stdout.contains("city = "), "{}", page.stdout);
}

#[test]
fn what_is_wrong_is_named_with_its_remedy() {
    let log = log();
    let lacking = log.replace("city", "town");
    let holes = log.replacen("Bern", "", 1);
    let folder = folder([
        ("log.csv", log.as_bytes()),
        ("lacking.csv", lacking.as_bytes()),
        ("holes.csv", holes.as_bytes()),
        ("new.csv", b"x,city\n1,Rome\n2,Oslo\n3,Lima\n"),
    ]);
    let run = run_in(
        folder.path(),
        &[
            "evaluate",
            "log.csv",
            "--discount",
            "0.9",
            "--features",
            SPEC,
            "--no-check",
            "--out",
            "m.json",
        ],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    for (line, parts) in [
        (
            vec!["evaluate", "log.csv", "--discount", "0.9"],
            vec![
                "--features 'standardise(t, x) + one-hot(city) + bias'",
                "--column obs=NAME",
            ],
        ),
        (
            vec![
                "evaluate",
                "log.csv",
                "--discount",
                "0.9",
                "--features",
                "one-hot(cite)",
            ],
            vec![
                "log.csv: no column is named cite; did you mean city?",
                "t, city, x, reward, episode",
            ],
        ),
        (
            vec![
                "evaluate",
                "holes.csv",
                "--discount",
                "0.9",
                "--features",
                SPEC,
            ],
            vec![
                "holes.csv: row 1 (line 2), column city: the value is missing",
                "one-hot(city; missing=level)",
            ],
        ),
        (
            vec!["predict", "m.json", "lacking.csv"],
            vec![
                "lacking.csv: no column is named city",
                "the features need x, city, in this order",
                "t, town, x",
                "--column obs=",
            ],
        ),
        (
            vec!["predict", "m.json", "log.csv", "--keep", "tt"],
            vec!["log.csv: no column is named tt", "did you mean t?"],
        ),
    ] {
        let run = run_in(folder.path(), &line);
        assert_refused(&run, 2, &parts, &line.join(" "));
    }
    let run = run_in(folder.path(), &["predict", "m.json", "new.csv"]);
    assert_eq!(run.code, 0);
    let unbounded: Vec<bool> = run
        .stdout
        .lines()
        .skip(1)
        .map(|line| line.ends_with(",-inf,inf"))
        .collect();
    assert_eq!(unbounded, [true, false, true]);
    let warning = "warning: m.json: 2 rows have a category that the log of the model does not have (first: new.csv, row 1, column \
                   city: \"Rome\")";
    assert!(run.stderr.starts_with(warning), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
}

#[test]
fn an_inspection_shows_levels() {
    let log = log();
    let folder = folder([("log.csv", log.as_bytes())]);
    let run = run_in(folder.path(), &["inspect", "log.csv"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(
        run.stdout.contains("category city  3 levels: "),
        "{}",
        run.stdout
    );
    let report = json_in(folder.path(), &["inspect", "log.csv", "--json"]);
    assert_eq!(report["categories"][0]["levels"], 3);
    assert_eq!(report["schema"]["categories"], serde_json::json!(["city"]));
    assert_eq!(report["features"].as_array().unwrap().len(), 2);
    let run = run_in(
        folder.path(),
        &["inspect", "log.csv", "--report", "data.html"],
    );
    assert_eq!(run.code, 0);
    let page = std::fs::read_to_string(folder.path().join("data.html")).unwrap();
    assert!(page.contains("New York") && page.contains("categories.0.most.0.rows"));
}

/// The lines on standard error of an evaluation of standard input.
fn followed(arguments: &[&str]) -> Vec<Value> {
    let folder = folder([]);
    let mut file = std::fs::File::create(folder.path().join("log.csv")).unwrap();
    file.write_all(log().as_bytes()).unwrap();
    let input = std::fs::read(folder.path().join("log.csv")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_robust-td"))
        .args([
            "evaluate",
            "-",
            "--format",
            "csv",
            "--discount",
            "0.9",
            "--json",
        ])
        .args(arguments)
        .write_stdin(input)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut lines: Vec<Value> = String::from_utf8(output.stderr)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    lines.push(serde_json::from_slice(&output.stdout).unwrap());
    lines
}

#[test]
fn reports_on_the_way_have_intervals() {
    let spec = "identity(x) + one-hot(city; levels=Bern/Oslo/New York)";
    let mut lines = followed(&["--features", spec, "--report-every=570"]);
    let last = lines.pop().unwrap();
    assert_eq!((lines.len(), &lines[0]["steps"]), (1, &570.into()));
    for key in ["value", "lower", "upper"] {
        assert_eq!(lines[0][key], last["start_value"][key], "{key}");
    }
    assert!(lines[0]["lower"].as_f64() < lines[0]["upper"].as_f64());
    assert_eq!(last["steps"], 570);
    let mut lines = followed(&[
        "--features",
        "identity(x) + bias",
        "--algorithm",
        "lstd",
        "--phi-inf",
        "20",
        "--report-every=570",
    ]);
    let last = lines.pop().unwrap();
    assert_eq!(lines[0]["lower"], last["intervals"]["lower"]);
    assert_eq!(lines[0]["upper"].as_array().unwrap().len(), 2);
}

#[test]
fn a_list_of_one_number_is_found_again() {
    let row = |t: i32| format!("{{\"obs\":[{}],\"reward\":{}}}\n", t % 3, t % 2);
    let log: String = (0..60).map(row).collect();
    let folder = folder([("log.ndjson", log.as_bytes())]);
    let line = [
        "evaluate",
        "log.ndjson",
        "--discount",
        "0.9",
        "--out",
        "m.json",
    ];
    assert_eq!(run_in(folder.path(), &line).code, 0);
    let run = run_in(folder.path(), &["predict", "m.json", "log.ndjson"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 61);
}
