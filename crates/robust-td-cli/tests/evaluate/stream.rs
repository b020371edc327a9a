//! Tests standard input, where the number of rows is not known in advance.

use std::path::Path;

use assert_cmd::Command;
use robust_td_core::learner::Learner;
use robust_td_core::portfolio::{RobustTd, RobustTdParams};
use robust_td_core::registry::AnyLearner;
use serde_json::Value;

use crate::common::{folder, run_in};
use crate::log::{Columns, Log, words};

/// Feeds a text to a command and returns its standard output.
fn piped(folder: &Path, line: &str, input: &str) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_robust-td"))
        .current_dir(folder)
        .args(words(line))
        .write_stdin(input)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {errors}");
    output.stdout
}

#[test]
fn a_stream_ends_with_the_bits_of_the_library() {
    let log = Log::episodic("boyan", 4000, 6);
    let folder = folder([]);
    let params = RobustTdParams {
        replicates: 64,
        ..RobustTdParams::new(0.9, 1.0)
    };
    let new = RobustTd::new(params, 4).unwrap();
    let mut learner = AnyLearner::from(new);
    log.feed(&mut learner);
    // Phases of 1024 and 2048 rows are complete, the third is under way.
    let answer = learner.choice().unwrap();
    assert_eq!(answer.samples, 2048);
    for (format, input) in [
        ("csv", log.csv(Columns::All, 0..4000)),
        ("ndjson", log.ndjson(Columns::All)),
    ] {
        let line =
            format!("evaluate - --format {format} --discount 0.9 --c auto --phi-inf 1 --json");
        let found: Value = serde_json::from_slice(&piped(folder.path(), &line, &input)).unwrap();
        assert_eq!(found["algorithm"], "alg1-auto");
        assert_eq!(
            (&found["steps"], &found["samples"]),
            (&4000.into(), &2048.into())
        );
        assert_eq!(found["c"], answer.c);
        assert_eq!(
            found["theta_bar"],
            Value::from(answer.output.clone()),
            "{format}"
        );
        assert_eq!(
            found["theta"],
            Value::from(learner.theta().to_vec()),
            "{format}"
        );
        assert_eq!(found["intervals"]["bootstrap"]["replicates"], 64);
    }
}

#[test]
fn a_stream_of_known_length_is_a_file() {
    let log = Log::episodic("boyan", 3000, 7);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    let common = "--discount 0.9 --c auto --phi-inf 1 --horizon 3000";
    let line = format!("evaluate log.csv {common} --out file.json");
    assert_eq!(run_in(folder.path(), &words(&line)).code, 0);
    let line = format!("evaluate - --format csv {common} --out stream.json");
    piped(folder.path(), &line, &log.csv(Columns::All, 0..3000));
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("file.json") == read("stream.json"));
}

#[test]
fn parts_of_a_stream_write_the_same_model_as_the_whole() {
    let log = Log::episodic("boyan", 3500, 8);
    let folder = folder([]);
    for options in ["--c auto --phi-inf 1", ""] {
        let start = format!("evaluate - --format csv --discount 0.9 {options}");
        let whole = log.csv(Columns::Episodes, 0..3500);
        piped(folder.path(), &format!("{start} --out whole.json"), &whole);
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        // Inside the first phase, at its end, just after it, and inside the third.
        let cuts = [1, 700, 1024, 1025, 3072, 3100];
        let ends = cuts.into_iter().chain([3500]);
        for (from, to) in [0].into_iter().chain(cuts).zip(ends) {
            let line = match from {
                0 => format!("{start} --out parts.json"),
                _ => "evaluate - --format csv --resume parts.json --out parts.json".into(),
            };
            piped(folder.path(), &line, &log.csv(Columns::Episodes, from..to));
        }
        assert!(read("whole.json") == read("parts.json"), "{options}");
    }
}

#[test]
fn a_stream_is_solved_like_a_file_by_default() {
    let log = Log::episodic("boyan", 4000, 9);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    let json = |bytes: &[u8]| -> Value { serde_json::from_slice(bytes).unwrap() };
    let input = log.csv(Columns::All, 0..4000);
    let line = "evaluate - --format csv --discount 0.9 --out model.json --json";
    let found = json(&piped(folder.path(), line, &input));
    let line = "evaluate log.csv --discount 0.9 --features identity+bias --json";
    let expected = json(run_in(folder.path(), &words(line)).stdout.as_bytes());
    assert_eq!(found["features"], "identity + bias");
    for key in [
        "algorithm",
        "solver",
        "steps",
        "rank",
        "phi_inf",
        "unit",
        "monte_carlo",
        "feature_names",
    ] {
        assert_eq!(found[key], expected[key], "{key}");
    }
    let of_start = |report: &Value, key: &str| report["start_value"][key].as_f64().unwrap();
    for key in ["value", "starts"] {
        let (x, y) = (of_start(&found, key), of_start(&expected, key));
        assert!((x - y).abs() < 1e-9 * y.abs(), "{key}: {x} {y}");
    }
    let width = |report| of_start(report, "upper") - of_start(report, "lower");
    let ratio = width(&found) / width(&expected);
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
    assert_eq!(found["converged"], true);
    let numbers = |report: &Value| -> Vec<f64> {
        serde_json::from_value(report["theta_bar"].clone()).unwrap()
    };
    for (x, y) in numbers(&found).iter().zip(numbers(&expected)) {
        assert!((x - y).abs() < 1e-9 * y.abs().max(1.0), "{x} {y}");
    }
    let predicted = run_in(folder.path(), &words("predict model.json log.csv"));
    assert_eq!(predicted.code, 0, "{}", predicted.stderr);
    let bounded = |line: &str| {
        line.split(',')
            .all(|x| x.parse::<f64>().unwrap().is_finite())
    };
    assert!(predicted.stdout.lines().skip(1).all(bounded));
    let page = piped(
        folder.path(),
        "evaluate - --format csv --discount 0.9",
        &input,
    );
    let page = String::from_utf8(page).unwrap();
    for part in [
        "value of the policy",
        "mean over the first rows of",
        "converged",
        "yes (relative residual",
        "least squares, discount 0.9",
        "are independent of each other",
    ] {
        assert!(page.contains(part), "{page}");
    }
}
