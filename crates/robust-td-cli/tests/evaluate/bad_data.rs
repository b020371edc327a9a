//! Tests that bad data end with exit code 2 and one message that says where, and leave files unchanged.

use crate::common::{Run, folder, run_in};
use crate::log::{Columns, Log, words};

/// One line that says what is wrong, and nothing else.
pub fn assert_refused(run: &Run, code: i32, parts: &[&str], what: &str) {
    assert_eq!(run.code, code, "{what}: {}", run.stderr);
    assert_eq!(run.stdout, "", "{what}");
    assert_eq!(run.stderr.lines().count(), 1, "{what}: {}", run.stderr);
    assert!(run.stderr.starts_with("error: "), "{what}: {}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{what}: {}", run.stderr);
    for part in parts {
        assert!(
            run.stderr.contains(part),
            "{what}: no {part:?} in {}",
            run.stderr
        );
    }
}

#[test]
fn a_bad_row_is_named_and_the_old_model_stays() {
    let cases: [(&str, &str, &[&str]); 11] = [
        (
            "text.csv",
            "obs_0,reward\n1,2\nx,3\n",
            &["row 2", "line 3", "obs_0", "\"x\""],
        ),
        ("column.csv", "obs_0\n1\n2\n", &["reward", "obs_0"]),
        ("short.csv", "obs_0,reward\n1,2\n3\n", &["row 2", "line 3"]),
        ("empty.csv", "", &["empty"]),
        ("header.csv", "obs_0,reward\n", &["no rows"]),
        (
            "nan.csv",
            "obs_0,reward\n1,2\nnan,3\n",
            &["row 2", "obs_0", "nan"],
        ),
        (
            "inf.csv",
            "obs_0,reward\n1,2\n2,inf\n",
            &["row 2", "reward", "inf"],
        ),
        (
            "done.csv",
            "obs_0,reward,done\n1,2,0\n",
            &["terminated=done", "truncated=done"],
        ),
        (
            "flag.csv",
            "obs_0,reward,terminated\n1,2,maybe\n",
            &["row 1", "terminated", "maybe"],
        ),
        (
            "ragged.ndjson",
            "{\"obs\": [1, 2], \"reward\": 1}\n{\"obs\": [1], \"reward\": 1}\n",
            &["row 2", "obs", "1"],
        ),
        (
            "broken.ndjson",
            "{\"obs\": [1, 2], \"reward\": 1}\n{\"obs\": [1, 2], \"rew\n",
            &["row 2", "JSON"],
        ),
    ];
    let folder = folder([("model.json", b"the old model".as_slice())]);
    for (name, text, parts) in cases {
        std::fs::write(folder.path().join(name), text).unwrap();
        for given in ["", "--horizon 9 --phi-inf 1"] {
            let line = format!("evaluate {name} --discount 0.9 --c 1 --out model.json {given}");
            let run = run_in(folder.path(), &words(&line));
            assert_refused(&run, 2, &[parts, &[name]].concat(), name);
        }
    }
    let model = std::fs::read(folder.path().join("model.json")).unwrap();
    assert_eq!(model, b"the old model");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), cases.len() + 1, "no temporary file is left");
}

#[test]
fn damaged_parquet_is_refused_without_a_panic() {
    let bytes = Log::continuing("ref-3", 300, 1).parquet(Columns::Plain);
    let folder = folder([]);
    let mut refused = 0;
    for k in 0..24 {
        let place = 4 + k * (bytes.len() - 8) / 24;
        let mut flipped = bytes.clone();
        flipped[place..(place + 4).min(bytes.len())].fill(0xff);
        for (damage, must_fail) in [(&bytes[..place], true), (&flipped[..], false)] {
            std::fs::write(folder.path().join("log.parquet"), damage).unwrap();
            let run = run_in(
                folder.path(),
                &words("evaluate log.parquet --discount 0.9 --c 1 --json"),
            );
            // A flipped byte may still be a number; anything that is refused has a message.
            if must_fail || run.code != 0 {
                assert_refused(&run, 2, &["log.parquet"], &format!("byte {place}"));
                refused += 1;
            }
        }
    }
    assert!(refused > 24);
}

#[test]
fn bad_rows_are_skipped_up_to_the_allowance_and_counted() {
    let log = Log::continuing("ref-3", 40, 2);
    let text = log.csv(Columns::All, 0..40);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(11, "x,1,1,1,0,0,0,1,1,1");
    lines.insert(21, "1,1,1,nan,0,0,0,1,1,1");
    let folder = folder([
        ("log.csv", lines.join("\n").as_bytes()),
        ("good.csv", text.as_bytes()),
    ]);
    let line = "evaluate log.csv --discount 0.9 --algorithm lstd --json --skip-bad-rows";
    for (allowed, named) in [(0, "row 11"), (1, "row 21")] {
        let run = run_in(folder.path(), &words(&format!("{line} {allowed}")));
        assert_refused(&run, 2, &["log.csv", named], named);
    }
    let run = run_in(folder.path(), &words(&format!("{line} 2")));
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&found["bad_rows"], &found["steps"]),
        (&2.into(), &40.into())
    );
    let run = run_in(
        folder.path(),
        &words("evaluate good.csv --discount 0.9 --algorithm lstd --json"),
    );
    let good: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["theta_bar"], good["theta_bar"]);
}
