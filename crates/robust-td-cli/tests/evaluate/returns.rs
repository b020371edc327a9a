//! Tests the comparison of predicted values with returns, which runs by default.

use std::fmt::Write as _;

use robust_td_core::random::Stream;
use serde_json::Value;

use crate::common::{folder, json_in, run_in};
use crate::log::{Columns, Log, words};

/// Episodes on the states 0 to 5, moving up at most one state per step; some are truncated.
fn chain(episodes: usize, next: bool) -> String {
    let mut text = String::from("obs_0,reward,terminated,truncated,episode");
    text += if next { ",next_obs_0\n" } else { "\n" };
    let mut stream = Stream::new(11, 0);
    for episode in 0..episodes {
        let (mut state, mut cut) = (0, false);
        while state < 6 && !cut {
            let to = state + u32::from(stream.uniform() < 0.5);
            let reward = f64::from(state * state) + stream.uniform();
            cut = stream.uniform() < 0.02;
            let (end, cut_here) = (u8::from(to == 6), u8::from(cut));
            write!(text, "{state},{reward},{end},{cut_here},{episode}").unwrap();
            if next {
                write!(text, ",{}", to.min(5)).unwrap();
            }
            text.push('\n');
            state = to;
        }
    }
    text
}

const CHECK: &str = "evaluate log.csv --discount 0.9";

fn z(tenth: &Value) -> f64 {
    let number = |key: &str| tenth[key].as_f64().unwrap();
    assert_eq!(
        number("difference"),
        number("predicted") - number("return"),
        "{tenth}"
    );
    number("difference").abs() / number("stderr")
}

fn has(found: &Value, kind: &str) -> bool {
    let findings = found["findings"].as_array().unwrap();
    findings.iter().any(|finding| finding["kind"] == kind)
}

#[test]
fn features_that_cannot_express_the_values_are_told() {
    for (next, algorithm) in [(false, "auto"), (true, "auto"), (true, "lstd")] {
        let text = chain(1500, next);
        let folder = folder([("log.csv", text.as_bytes())]);
        let found = |features: &str| -> Value {
            let line = format!("{CHECK} --json --algorithm {algorithm} --features {features}");
            json_in(folder.path(), &words(&line))
        };
        let good = found("one-hot");
        let check = &good["check"];
        let tenths = check["tenths"].as_array().unwrap();
        assert!(tenths.len() >= 5);
        assert!(tenths.iter().all(|tenth| z(tenth) < 4.0), "{check}");
        assert!(!has(&good, "features-do-not-fit"), "{}", good["findings"]);
        // A quarter is held out from the default; a learner has seen all.
        let held_out = algorithm == "auto";
        assert_eq!(check["held_out"], held_out);
        let terminated = |line: &str| line.split(',').nth(2) == Some("1");
        let complete = text.lines().skip(1).filter(|line| terminated(line)).count();
        let count = |key: &str| check[key].as_u64().unwrap();
        if !held_out {
            assert_eq!(count("episodes"), 1500);
            assert_eq!(count("episodes") - count("cut"), complete as u64);
            assert_eq!(count("rows"), text.lines().count() as u64 - 1);
        }
        assert!(count("cut") > if held_out { 15 } else { 50 });
        let bad = found("bias");
        let tenths = bad["check"]["tenths"].as_array().unwrap();
        assert!(
            tenths.iter().all(|tenth| z(tenth) > 4.0),
            "{}",
            bad["check"]
        );
        assert!(has(&bad, "features-do-not-fit"));
    }
}

#[test]
fn the_page_has_the_table() {
    let folder = folder([("log.csv", chain(1500, true).as_bytes())]);
    let line = format!("{CHECK} --features bias --out model.json");
    let run = run_in(folder.path(), &words(&line));
    assert_eq!(run.code, 0, "{}", run.stderr);
    for part in [
        "features fit",
        "no: predicted values differ from the returns",
        "Predicted values against returns, by tenths (held out from the fit)",
        "were cut",
        "difference",
        "far off",
        "cannot express the values",
    ] {
        let page = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(part), "{part}: {}", run.stdout);
    }
    // predict repeats the finding.
    let run = run_in(folder.path(), &words("predict model.json log.csv"));
    assert!(
        run.stderr
            .starts_with("warning: model.json: predicted values differ from returns"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_check_can_be_left_out() {
    let folder = folder([("log.csv", chain(300, true).as_bytes())]);
    let line = format!("{CHECK} --features one-hot --json");
    let whole = json_in(folder.path(), &words(&line));
    let plain = json_in(folder.path(), &words(&format!("{line} --no-check")));
    assert!(whole["check"].is_object() && whole["monte_carlo"].is_object());
    assert!(plain["check"].is_null() && plain["monte_carlo"].is_null());
    for key in ["value", "lower", "upper"] {
        let [a, b] = [&whole, &plain].map(|found| found["start_value"][key].as_f64().unwrap());
        assert!((a - b).abs() < 1e-9 * a.abs(), "{key}");
    }
    let page = run_in(folder.path(), &words(&format!("{CHECK} --no-check")));
    assert!(!page.stdout.contains("tenth") && !page.stdout.contains("features fit"));
}

#[test]
fn equal_predictions_are_no_sign_that_all_is_well() {
    let rows: String = (0..200)
        .map(|i| format!("{},{},1\n", i % 2, (i / 2) % 3))
        .collect();
    let text = format!("obs_0,reward,terminated\n{rows}");
    let folder = folder([("log.csv", text.as_bytes())]);
    let run = run_in(folder.path(), &words(&format!("{CHECK} --features bias")));
    assert!(
        run.stdout.contains("all predicted values are equal"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("yes: predicted"), "{}", run.stdout);
}

#[test]
fn a_log_without_an_end_is_checked_with_the_values_at_its_cuts() {
    let folder = folder([]);
    Log::continuing("ref-3", 60, 2).write(folder.path(), "log.csv", Columns::Plain);
    let found = json_in(folder.path(), &words(&format!("{CHECK} --json")));
    let check = &found["check"];
    assert_eq!(check["held_out"], true);
    assert_eq!(check["episodes"], check["cut"]);
    let tenths = check["tenths"].as_array().unwrap();
    let rows = tenths.iter().map(|tenth| tenth["rows"].as_u64().unwrap());
    assert_eq!(check["rows"], rows.sum::<u64>());
    assert!(found["monte_carlo"].is_null());
    assert_eq!(found["start_value"]["starts"], 59);
}

#[test]
fn values_that_are_not_finite_are_not_checked() {
    let folder = folder([]);
    Log::episodic("ref-3", 3000, 5).write(folder.path(), "log.csv", Columns::All);
    let line = "evaluate log.csv --discount 0.9 --c 1e-9 --json";
    let found = json_in(folder.path(), &words(line));
    assert_eq!(
        (&found["diverged"], &found["converged"]),
        (&true.into(), &false.into())
    );
    assert!(found["check"].is_null() && found["relative_residual"].is_null());
    assert!(has(&found, "not-learned") && has(&found, "diverged"));
}

#[test]
fn a_stream_has_no_check() {
    let folder = folder([]);
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_robust-td"))
        .current_dir(folder.path())
        .args(words(
            "evaluate - --format csv --discount 0.9 --c 1 --phi-inf 1 --json",
        ))
        .write_stdin(chain(50, true))
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["check"].is_null() && found["converged"].is_null());
}
