//! Tests the warnings about data and models that may mislead.

use crate::bad_data::assert_refused;
use crate::common::{folder, run_in};
use crate::log::{Columns, Log, words};

#[test]
fn a_model_that_diverged_is_named_and_refused_when_its_values_are_not_finite() {
    let folder = folder([]);
    Log::continuing("ref-3", 3000, 5).write(folder.path(), "log.csv", Columns::Plain);
    let learn = |horizon: u64| {
        let line = format!(
            "evaluate log.csv --discount 0.9 --c 1e-6 --phi-inf 2 --horizon {horizon} --out model.json --json"
        );
        let run = run_in(folder.path(), &words(&line));
        assert_eq!(run.code, 0, "{}", run.stderr);
        let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(found["diverged"], true);
        found
    };
    let found = learn(10);
    assert!(found["theta_bar"][0].is_number());
    let run = run_in(folder.path(), &words("predict model.json log.csv"));
    assert_eq!((run.code, run.stdout.lines().count()), (0, 3001));
    assert_eq!(run.stderr.lines().count(), 1);
    let step = format!("at step {}", found["diverged_at"]);
    for part in ["warning: model.json", "diverged", &step] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    assert!(learn(3000)["theta_bar"][0].is_null());
    for line in [
        "predict model.json log.csv",
        "predict model.json log.csv --out values.csv",
    ] {
        let run = run_in(folder.path(), &words(line));
        assert_refused(&run, 2, &["model.json", "diverged", "not finite"], line);
    }
    assert!(!folder.path().join("values.csv").exists());
}

#[test]
fn predict_prints_nothing_when_the_rows_do_not_fit() {
    let folder = folder([
        ("other.csv", b"obs_0,reward\n1,2\n2,3\n".as_slice()),
        ("bad.csv", b"obs_0,obs_1\n1,x\n"),
    ]);
    Log::continuing("ref-3", 30, 2).write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --discount 0.9 --c 0.1 --out model.json --json";
    assert_eq!(run_in(folder.path(), &words(line)).code, 0);
    for (line, part) in [
        ("predict model.json other.csv", "no column obs_1"),
        ("predict model.json bad.csv", "row 1"),
    ] {
        assert_refused(&run_in(folder.path(), &words(line)), 2, &[part], line);
    }
}

#[test]
fn importance_ratios_that_are_not_used_are_named() {
    let log = Log::continuing("ref-3", 50, 3);
    let text = log.csv(Columns::Plain, 0..50);
    let rated: String = (text.lines().enumerate())
        .map(|(i, line)| format!("{line},{}\n", if i == 0 { "rho" } else { "0.5" }))
        .collect();
    let folder = folder([("log.csv", rated.as_bytes())]);
    for (options, warned) in [
        ("--c 0.1", true),
        ("--c 0.1 --phi-inf 2 --horizon 40", true),
        ("--algorithm swift-td", true),
        ("--algorithm bhandari-a --param radius=5", true),
        ("", false),
        ("--algorithm lstd", false),
        ("--algorithm td-lambda --c 0.1", false),
        ("--algorithm tdc --param step=0.1 --param step_w=0.1", false),
    ] {
        let line = format!("evaluate log.csv --discount 0.9 --json --out model.json {options}");
        let run = run_in(folder.path(), &words(&line));
        assert_eq!(run.code, 0, "{options}: {}", run.stderr);
        assert_eq!(
            run.stderr.lines().count(),
            usize::from(warned),
            "{options}: {}",
            run.stderr
        );
        if warned {
            let id = serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap();
            let id = id["algorithm"].as_str().unwrap();
            for part in ["warning: ", "rho", &format!("{id} does not use"), "lstd"] {
                assert!(run.stderr.contains(part), "{options}: {}", run.stderr);
            }
        }
    }
}

#[test]
fn what_is_said_of_lstd_and_of_single_rows_is_true() {
    let folder = folder([("one.csv", b"obs_0,reward\n1,2\n".as_slice())]);
    Log::continuing("ref-3", 30, 2).write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --discount 0.9 --algorithm lstd --verbose";
    let page = run_in(folder.path(), &words(line)).stdout;
    assert!(page.contains("none, solved for"), "{page}");
    assert!(!page.contains("bounded"), "{page}");
    let said = "29 transitions from 30 rows; 1 row without a successor, 0 bad rows skipped";
    assert!(page.contains(said), "{page}");
    let page = run_in(folder.path(), &words("inspect one.csv")).stdout;
    let said = "1 good, 0 bad; 0 transitions, 1 row without a successor";
    assert!(page.contains(said), "{page}");
    let page = run_in(folder.path(), &words("inspect log.csv")).stdout;
    assert!(page.contains("read as one run"), "{page}");
    assert!(page.contains("(first: log.csv, row 30)"), "{page}");
    for options in ["", "--horizon 9", "--horizon 9 --phi-inf 2"] {
        let line = format!("evaluate one.csv --discount 0.9 --c 0.1 {options}");
        let run = run_in(folder.path(), &words(&line));
        assert_eq!(run.code, 2, "{options}");
        let last = run.stderr.lines().last().unwrap();
        assert!(
            last.starts_with("error: the data yield no transitions"),
            "{last}"
        );
    }
}

#[test]
fn inspect_describes_a_file_without_rewards() {
    let folder = folder([("new.csv", b"obs_0,obs_1\n1,2\n3,5\n0,4\n".as_slice())]);
    let run = run_in(folder.path(), &words("inspect new.csv"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for part in ["reward         none", "no reward column", "feature obs_1"] {
        assert!(run.stdout.contains(part), "{}", run.stdout);
    }
    let line = "evaluate new.csv --discount 0.9 --c 1";
    let run = run_in(folder.path(), &words(line));
    assert_refused(&run, 2, &["new.csv", "reward"], line);
    let line = "inspect new.csv --column reward=prize";
    let run = run_in(folder.path(), &words(line));
    assert_refused(&run, 2, &["new.csv", "prize"], line);
}
