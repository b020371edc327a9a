//! Tests that the results depend only on the data, not on the file format, and that they are near the truth.

use assert_cmd::Command;
use robust_td_core::moments;
use robust_td_core::schedule::{RobustDecay, Schedule};
use serde_json::Value;

use crate::common::{folder, json_in, run_in};
use crate::log::{Columns, Log, gzip, words};

/// The result without the one number that may differ.
fn timeless(mut value: Value) -> Value {
    assert!(value.as_object_mut().unwrap().remove("seconds").is_some());
    value
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn every_format_gives_the_same_numbers() {
    for columns in [Columns::Plain, Columns::Episodes, Columns::All] {
        let log = Log::episodic("boyan", 700, 3);
        let csv = log.csv(columns, 0..700);
        let ndjson = log.ndjson(columns);
        let zipped = gzip(csv.as_bytes());
        let parquet = log.parquet(columns);
        let folder = folder([
            ("log.csv", csv.as_bytes()),
            ("log.ndjson", ndjson.as_bytes()),
            ("log.csv.gz", &zipped),
            ("log.parquet", &parquet),
        ]);
        let common = "--discount 0.9 --c 0.1 --horizon 500 --phi-inf 1 --json";
        let of = |text: &str| timeless(json_in(folder.path(), &words(text)));
        let expected = of(&format!("evaluate log.csv {common}"));
        assert_eq!(expected["steps"], 500);
        for name in ["log.ndjson", "log.csv.gz", "log.parquet"] {
            assert_eq!(of(&format!("evaluate {name} {common}")), expected, "{name}");
        }
        for (format, input) in [("csv", csv), ("ndjson", ndjson)] {
            let output = Command::new(env!("CARGO_BIN_EXE_robust-td"))
                .args(words(&format!("evaluate - --format {format} {common}")))
                .write_stdin(input)
                .output()
                .unwrap();
            let found: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(timeless(found), expected, "stdin, {format}");
        }
    }
}

#[test]
fn the_keys_of_the_contract_are_there() {
    let folder = folder([]);
    Log::continuing("ref-3", 50, 1).write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --discount 0.9 --c 1 --out model.json --json";
    let found = json_in(folder.path(), &words(line));
    let keys =
        "algorithm steps dimension theta theta_bar phi_inf max_theta_norm_sq diverged seconds";
    for key in words(keys) {
        assert!(
            found.get(key).is_some_and(|value| !value.is_null()),
            "{key}"
        );
    }
    assert_eq!(
        (&found["algorithm"], &found["steps"]),
        (&"alg1".into(), &49.into())
    );
    let model = std::fs::read(folder.path().join("model.json")).unwrap();
    let model: Value = serde_json::from_slice(&model).unwrap();
    let keys = "phi_inf limit features learner pairing diagnostics";
    for key in words(keys) {
        assert!(model["model"]["learned"].get(key).is_some(), "{key}");
    }
    assert_eq!(model["kind"], "robust-td model");
}

#[test]
fn reports_on_the_way_are_the_answers_of_shorter_logs() {
    let folder = folder([]);
    Log::continuing("ref-3", 300, 2).write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --discount 0.9 --algorithm lstd --json";
    let quiet = timeless(json_in(folder.path(), &words(line)));
    let run = run_in(folder.path(), &words(&format!("{line} --report-every")));
    assert_eq!(timeless(serde_json::from_str(&run.stdout).unwrap()), quiet);
    let reports: Vec<Value> = (run.stderr.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let steps: Vec<u64> = reports
        .iter()
        .map(|r| r["steps"].as_u64().unwrap())
        .collect();
    assert_eq!(steps, [1, 2, 4, 8, 16, 32, 64, 128, 256]);
    for (steps, report) in steps.iter().zip(&reports).skip(2) {
        let shorter = json_in(folder.path(), &words(&format!("{line} --horizon {steps}")));
        assert_eq!(shorter["theta_bar"], report["theta_bar"], "{steps}");
    }
    let run = run_in(folder.path(), &words(&format!("{line} --report-every=100")));
    assert_eq!(run.stderr.lines().count(), 2);
}

#[test]
fn the_error_is_on_average_what_the_exact_expectation_says() {
    const T: u64 = 1000;
    const LOGS: u64 = 200;
    let folder = folder([]);
    let mut expected = 0.0;
    let errors: Vec<f64> = (0..LOGS)
        .map(|seed| {
            let log = Log::continuing("ref-3", T as usize + 1, 100 + seed);
            log.write(folder.path(), "log.csv", Columns::Plain);
            let discount = log.problem.discount();
            let line = format!("evaluate log.csv --discount {discount} --c 0.1 --json");
            let found = json_in(folder.path(), &words(&line));
            assert_eq!(found["steps"], T);
            assert_eq!(found["phi_inf"], log.problem.phi_inf());
            let steps = RobustDecay::new(T, 0.1, log.problem.phi_inf()).unwrap();
            let exact = moments::expectation(&log.problem, T, |t| steps.step_size(t));
            expected = exact.f_of_average;
            log.problem.f(&numbers(&found["theta_bar"]))
        })
        .collect();
    let mean = errors.iter().sum::<f64>() / LOGS as f64;
    let squares = errors.iter().map(|f| (f - mean) * (f - mean)).sum::<f64>();
    let standard_error = (squares / (LOGS * (LOGS - 1)) as f64).sqrt();
    // The seeds are fixed, so the result never changes. The standard error is small enough to detect a mean that is off by a
    // third.
    assert!(
        standard_error < expected / 9.0,
        "{standard_error}, {expected}"
    );
    assert!(
        (mean - expected).abs() < 3.0 * standard_error,
        "{mean} +- {standard_error} against {expected}"
    );
}

#[test]
fn predictions_are_features_times_theta_bar() {
    let log = Log::continuing("ref-3", 400, 5);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::Plain);
    // With bound and horizon set the log is not read again, so nothing is known that predict could warn about.
    let line =
        "evaluate log.csv --discount 0.9 --c 0.1 --phi-inf 2 --horizon 399 --out model.json --json";
    let theta = numbers(&json_in(folder.path(), &words(line))["theta_bar"]);
    let run = run_in(folder.path(), &words("predict model.json log.csv"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let mut lines = run.stdout.lines();
    assert_eq!(lines.next(), Some("value"));
    let values: Vec<f64> = lines.map(|line| line.parse().unwrap()).collect();
    assert_eq!(values.len(), log.rows.len());
    for (value, row) in values.iter().zip(&log.rows) {
        let expected: f64 = row.obs.iter().zip(&theta).map(|(x, y)| x * y).sum();
        assert!((value - expected).abs() <= 1e-14 * (1.0 + expected.abs()));
    }
    let run = run_in(
        folder.path(),
        &words("predict model.json log.csv --out v.csv"),
    );
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let written = std::fs::read_to_string(folder.path().join("v.csv")).unwrap();
    assert_eq!(written.lines().count(), 401);
}
