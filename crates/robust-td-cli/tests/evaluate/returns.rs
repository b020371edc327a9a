//! Tests `evaluate --monte-carlo-check`.

use std::fmt::Write as _;

use robust_td_core::random::Stream;
use serde_json::Value;

use crate::bad_data::assert_refused;
use crate::common::{folder, run_in};
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

const CHECK: &str = "evaluate log.csv --discount 0.9 --algorithm lstd --monte-carlo-check";

fn z(decile: &Value) -> f64 {
    let number = |key: &str| decile[key].as_f64().unwrap();
    assert_eq!(
        number("difference"),
        number("predicted") - number("return"),
        "{decile}"
    );
    number("difference").abs() / number("stderr")
}

#[test]
fn features_that_cannot_express_the_values_are_told() {
    for next in [false, true] {
        let text = chain(1500, next);
        let folder = folder([("log.csv", text.as_bytes())]);
        let found = |features: &str| -> Value {
            let line = format!("{CHECK} --json --features {features}");
            let run = run_in(folder.path(), &words(&line));
            assert_eq!(run.code, 0, "{}", run.stderr);
            serde_json::from_str::<Value>(&run.stdout).unwrap()["monte_carlo_check"].clone()
        };
        let good = found("one-hot");
        let deciles = good["deciles"].as_array().unwrap();
        assert!(deciles.len() >= 5);
        assert!(deciles.iter().all(|decile| z(decile) < 4.0), "{good}");
        assert!(
            good["meaning"]
                .as_str()
                .unwrap()
                .starts_with("no difference")
        );
        let terminated = |line: &str| line.split(',').nth(2) == Some("1");
        let complete = text.lines().skip(1).filter(|line| terminated(line)).count();
        assert_eq!(good["episodes"], complete);
        assert!(good["left_out_episodes"].as_u64().unwrap() > 50);
        let rows = |key: &str| good[key].as_u64().unwrap();
        if next {
            assert_eq!(
                rows("rows") + rows("left_out_rows"),
                text.lines().count() as u64 - 1
            );
        }
        let bad = found("bias");
        assert!(
            bad["deciles"]
                .as_array()
                .unwrap()
                .iter()
                .all(|decile| z(decile) > 10.0)
        );
        assert!(bad["meaning"].as_str().unwrap().contains("cannot express"));
    }
}

#[test]
fn the_page_has_the_table() {
    let folder = folder([("log.csv", chain(300, true).as_bytes())]);
    let run = run_in(folder.path(), &words(&format!("{CHECK} --features bias")));
    assert_eq!(run.code, 0, "{}", run.stderr);
    for part in [
        "Returns of complete episodes against predicted values",
        "left out",
        "decile",
        "difference",
        "far off",
        "cannot express the values",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    let plain = run_in(
        folder.path(),
        &words("evaluate log.csv --discount 0.9 --algorithm lstd --json"),
    );
    assert!(!plain.stdout.contains("monte_carlo_check"));
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
        run.stdout.contains("all predictions are equal"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("no sign"), "{}", run.stdout);
}

#[test]
fn a_log_without_a_complete_episode_is_told_plainly() {
    let folder = folder([]);
    Log::continuing("ref-3", 60, 2).write(folder.path(), "log.csv", Columns::Plain);
    let run = run_in(folder.path(), &words(CHECK));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("no episode ends with terminated"));
    let run = run_in(folder.path(), &words(&format!("{CHECK} --json")));
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let check = &found["monte_carlo_check"];
    assert_eq!(check["episodes"], 0);
    assert_eq!(check["left_out_rows"], 59);
    assert_eq!(check["deciles"].as_array().unwrap().len(), 0);
}

#[test]
fn values_that_are_not_finite_are_not_checked() {
    let folder = folder([]);
    Log::episodic("ref-3", 3000, 5).write(folder.path(), "log.csv", Columns::All);
    let line = "evaluate log.csv --discount 0.9 --c 1e-9 --monte-carlo-check --json";
    let run = run_in(folder.path(), &words(line));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["diverged"], true);
    let meaning = found["monte_carlo_check"]["meaning"].as_str().unwrap();
    assert!(meaning.contains("not finite"), "{meaning}");
}

#[test]
fn standard_input_is_refused() {
    let folder = folder([]);
    let line = "evaluate - --format csv --discount 0.9 --c 1 --phi-inf 1 --monte-carlo-check";
    let run = run_in(folder.path(), &words(line));
    assert_refused(&run, 2, &["--monte-carlo-check", "read again"], line);
}
