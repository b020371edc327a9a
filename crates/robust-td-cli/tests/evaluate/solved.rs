//! Tests the default of `evaluate` on files: what it prints, what it refuses, what predict says.

use std::fmt::Write as _;

use robust_td_core::random::Stream;
use serde_json::Value;

use crate::bad_data::assert_refused;
use crate::common::{folder, json_in, run_in};
use crate::log::{Columns, Log, gzip, words};

/// Episodes on the states 0 to 4; half of the users get more in every state.
fn users(episodes: u32) -> String {
    let mut stream = Stream::new(3, 0);
    let mut text = String::from("obs_0,reward,terminated,episode,user\n");
    for episode in 0..episodes {
        let user = (stream.uniform() * 30.0) as u32;
        let mut state = 0;
        while state < 5 {
            let next = state + u32::from(stream.uniform() < 0.7);
            let reward = f64::from(state + 3 * (user % 2)) + stream.uniform();
            let terminated = u8::from(next == 5);
            writeln!(text, "{state},{reward},{terminated},{episode},u{user}").unwrap();
            state = next;
        }
    }
    text
}

fn has(found: &Value, kind: &str) -> bool {
    let findings = found["findings"].as_array().unwrap();
    findings.iter().any(|finding| finding["kind"] == kind)
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

#[test]
fn the_keys_of_the_contract_have_their_shapes() {
    let folder = folder([("log.csv", users(300).as_bytes())]);
    let line = "evaluate log.csv --discount 0.9 --features one-hot --json";
    let found = json_in(folder.path(), &words(line));
    assert_eq!(
        (&found["algorithm"], &found["solver"]),
        (&"auto".into(), &"least-squares".into())
    );
    assert_eq!(
        (&found["converged"], &found["diverged"]),
        (&true.into(), &false.into())
    );
    assert!(found["relative_residual"].as_f64().unwrap() < 1e-9);
    assert_eq!(
        (&found["rank"], &found["dimension"]),
        (&5.into(), &5.into())
    );
    let names = found["feature_names"].as_array().unwrap();
    assert_eq!(names.len(), 5);
    assert!(
        names[3].as_str().unwrap().starts_with("one-hot(obs_0=3"),
        "{names:?}"
    );
    assert_eq!(found["theta"], found["theta_bar"]);
    let intervals = &found["intervals"];
    assert_eq!(intervals["confidence"], 0.95);
    assert_eq!(intervals["clusters"], 300);
    assert!(intervals["method"].is_string());
    for j in 0..5 {
        let theta = found["theta_bar"][j].as_f64().unwrap();
        let [lower, upper] = ["lower", "upper"].map(|end| intervals[end][j].as_f64().unwrap());
        assert!(lower < theta && theta < upper);
    }
    assert_eq!(
        keys(&found["start_value"]),
        ["lower", "starts", "upper", "value"]
    );
    assert_eq!(
        keys(&found["monte_carlo"]),
        ["cut", "episodes", "lower", "upper", "value"]
    );
    let number = |of: &str, key: &str| found[of][key].as_f64().unwrap();
    for of in ["start_value", "monte_carlo"] {
        assert!(number(of, "lower") < number(of, "value"), "{of}");
        assert!(number(of, "value") < number(of, "upper"), "{of}");
    }
    // All episodes start in state 0 and terminate, so the two are estimates of the same number.
    assert_eq!(number("start_value", "starts"), 300.0);
    assert_eq!(number("monte_carlo", "episodes"), 300.0);
    assert_eq!(found["start_value"]["value"], found["theta_bar"][0]);
    let away = number("start_value", "value") - number("monte_carlo", "value");
    assert!(away.abs() < number("start_value", "upper") - number("start_value", "value"));
    let tenth = &found["check"]["tenths"][0];
    assert_eq!(
        keys(tenth),
        [
            "difference",
            "episodes",
            "predicted",
            "return",
            "rows",
            "stderr",
            "units"
        ]
    );
    for finding in found["findings"].as_array().unwrap() {
        assert!(finding["kind"].is_string() && finding["message"].is_string());
        assert!(finding.get("file").is_some() && finding.get("row").is_some());
    }
    assert!(found["seconds"].is_f64() && found["phi_inf"] == 1.0);
}

#[test]
fn formats_threads_and_splits_print_the_same_numbers() {
    let log = Log::episodic("boyan", 3000, 3);
    for columns in [Columns::Plain, Columns::Episodes, Columns::All] {
        let csv = log.csv(columns, 0..3000);
        let (ndjson, zipped, parquet) = (
            log.ndjson(columns),
            gzip(csv.as_bytes()),
            log.parquet(columns),
        );
        let parts = [0..700, 700..701, 701..3000].map(|range| log.csv(columns, range));
        let folder = folder([
            ("log.csv", csv.as_bytes()),
            ("log.ndjson", ndjson.as_bytes()),
            ("log.csv.gz", &zipped),
            ("log.parquet", &parquet),
            ("a.csv", parts[0].as_bytes()),
            ("b.csv", parts[1].as_bytes()),
            ("c.csv", parts[2].as_bytes()),
        ]);
        let line = "evaluate log.csv --discount 0.9 --json --no-check";
        let names = json_in(folder.path(), &words(line))["feature_names"].clone();
        let of = |files: &str| {
            let line = format!("evaluate {files} --discount 0.9 --json");
            let mut found = json_in(folder.path(), &words(&line));
            assert!(found.as_object_mut().unwrap().remove("seconds").is_some());
            if files.contains("ndjson") {
                // A list has no names for its entries.
                found["feature_names"] = names.clone();
            }
            for finding in found["findings"].as_array_mut().unwrap() {
                let finding = finding.as_object_mut().unwrap();
                assert!(finding.remove("file").is_some() && finding.remove("row").is_some());
            }
            found
        };
        let expected = of("log.csv");
        let findings = expected["findings"].as_array().unwrap();
        let is_cut = |finding: &Value| finding["kind"] == "cut-rows-left-out";
        assert!(expected["theta"][0].is_f64());
        assert_eq!(
            expected["start_value"]["upper"].is_null(),
            findings.iter().any(is_cut)
        );
        for files in [
            "log.ndjson",
            "log.csv.gz",
            "log.parquet",
            "a.csv b.csv c.csv",
            "log.csv --threads 1",
            "log.csv --threads 3",
            "log.csv --threads 8",
        ] {
            assert_eq!(of(files), expected, "{files}");
        }
    }
}

#[test]
fn clusters_widen_the_intervals_and_must_exist() {
    let folder = folder([("log.csv", users(600).as_bytes())]);
    let line = "evaluate log.csv --discount 0.9 --features one-hot --json";
    let width = |options: &str| {
        let found = json_in(folder.path(), &words(&format!("{line} {options}")));
        let end = |key: &str| found["start_value"][key].as_f64().unwrap();
        (
            end("upper") - end("lower"),
            found["intervals"]["clusters"].clone(),
        )
    };
    let (plain, users) = (width(""), width("--cluster user"));
    assert_eq!((&plain.1, &users.1), (&600.into(), &30.into()));
    assert!(users.0 > 2.0 * plain.0, "{plain:?} {users:?}");
    let named = width("--cluster episode");
    assert_eq!(named.1, plain.1);
    assert!((named.0 / plain.0 - 1.0).abs() < 1e-9);
    let run = run_in(folder.path(), &words(&format!("{line} --cluster site")));
    assert_refused(&run, 2, &["log.csv", "site"], "an unknown column");
}

#[test]
fn a_discount_of_one_needs_episodes_that_terminate() {
    let text = users(200);
    let cut = text.trim_end().rsplit_once('\n').unwrap().0;
    let folder = folder([("log.csv", text.as_bytes()), ("cut.csv", cut.as_bytes())]);
    let options = "--discount 1 --features one-hot --json";
    let found = json_in(
        folder.path(),
        &words(&format!("evaluate log.csv {options}")),
    );
    let rewards = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap());
    let mean = rewards.map(|x| x.parse::<f64>().unwrap()).sum::<f64>() / 200.0;
    for key in ["start_value", "monte_carlo"] {
        let value = found[key]["value"].as_f64().unwrap();
        assert!((value / mean - 1.0).abs() < 1e-9, "{key}: {value} {mean}");
    }
    let line = format!("evaluate cut.csv {options} --out model.json");
    let run = run_in(folder.path(), &words(&line));
    assert_refused(&run, 2, &["--discount", "199 of 200", "terminates"], &line);
    assert!(!folder.path().join("model.json").exists());
    for wrong in ["1.01", "-0.1", "nan"] {
        let line = format!("evaluate log.csv --discount {wrong}");
        assert_refused(
            &run_in(folder.path(), &words(&line)),
            2,
            &["--discount"],
            wrong,
        );
    }
}

#[test]
fn options_of_other_algorithms_are_refused() {
    let folder = folder([("log.csv", users(50).as_bytes())]);
    for (options, parts) in [
        ("--features running", ["--features", "standardise"]),
        ("--features running+bias", ["--features", "standardise"]),
        ("--passes 2", ["--passes", "auto"]),
        ("--replicates 64", ["--replicates", "auto"]),
        ("--sandwich", ["--sandwich", "auto"]),
        ("--param lambda=0.5", ["--param", "auto"]),
        ("--algorithm auto --c 0.1", ["--c", "auto"]),
    ] {
        let line = format!("evaluate log.csv --discount 0.9 --out model.json {options}");
        assert_refused(&run_in(folder.path(), &words(&line)), 2, &parts, options);
    }
    assert!(!folder.path().join("model.json").exists());
}

#[test]
fn resuming_a_solved_model_is_one_evaluation_of_all_files() {
    let text = users(50);
    let lines: Vec<&str> = text.lines().collect();
    let half = lines.len() / 2;
    let rest = [&lines[..1], &lines[half..]].concat().join("\n");
    let first = lines[..half].join("\n");
    let files = [("a.csv", first.as_bytes()), ("b.csv", rest.as_bytes())];
    let folder = folder(files);
    let json = |line: &str| {
        let mut found = json_in(folder.path(), &words(line));
        found["seconds"] = 0.into();
        found
    };
    json("evaluate a.csv --discount 0.9 --out a.json --json");
    let before = std::fs::read(folder.path().join("a.json")).unwrap();
    let resumed = json("evaluate b.csv --resume a.json --out both.json --json");
    assert_eq!(resumed, json("evaluate a.csv b.csv --discount 0.9 --json"));
    let refused = |line: &str, said: &[&str]| {
        let run = run_in(folder.path(), &words(line));
        assert_refused(&run, 2, said, line);
    };
    refused(
        "evaluate a.csv --resume a.json --out a.json",
        &["a.csv", "already made from this file"],
    );
    refused(
        "evaluate b.csv --resume a.json --discount 0.5 --out a.json",
        &["--discount is 0.5", "0.9"],
    );
    std::fs::write(folder.path().join("a.csv"), "obs_0,reward\n1,2\n").unwrap();
    refused(
        "evaluate b.csv --resume a.json --out a.json",
        &["a.csv", "missing or has changed"],
    );
    assert_eq!(std::fs::read(folder.path().join("a.json")).unwrap(), before);
}

#[test]
fn what_was_not_learned_has_no_intervals_and_predict_says_so() {
    let folder = folder([]);
    Log::continuing("ref-3", 200, 4).write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --discount 0.99 --algorithm alg1 --out model.json";
    let page = run_in(folder.path(), &words(line));
    assert!(page.stdout.contains("no: not learned"), "{}", page.stdout);
    let found = json_in(folder.path(), &words(&format!("{line} --json")));
    assert_eq!(found["converged"], false);
    assert!(found["relative_residual"].as_f64().unwrap() > 0.1);
    assert!(found["intervals"].is_null() && found["start_value"]["lower"].is_null());
    assert!(has(&found, "not-learned"));
    let run = run_in(folder.path(), &words("predict model.json log.csv"));
    assert_eq!(run.code, 0);
    assert!(run.stdout.starts_with("value\n"));
    let warnings: Vec<&str> = run.stderr.lines().collect();
    assert!(
        warnings[0].starts_with("warning: model.json: not learned"),
        "{warnings:?}"
    );
    // The default learns the same log.
    let line = "evaluate log.csv --discount 0.99 --features identity --json";
    let found = json_in(folder.path(), &words(line));
    assert_eq!(found["converged"], true);
    assert!(!has(&found, "not-learned"));
}

#[test]
fn a_good_answer_predicts_without_a_warning() {
    let folder = folder([
        ("log.csv", users(400).as_bytes()),
        ("new.csv", b"obs_0\n0\n4\n"),
        ("unseen.csv", b"obs_0\n1\n7\n"),
    ]);
    for features in [
        "one-hot",
        "one-hot+bias",
        "one-hot(count=9)",
        "one-hot(count=9)+bias",
    ] {
        let line =
            format!("evaluate log.csv --discount 0.9 --features {features} --out m.json --json");
        let found = json_in(folder.path(), &words(&line));
        assert_eq!(
            (&found["converged"], &found["rank"]),
            (&true.into(), &5.into()),
            "{features}"
        );
        let run = run_in(folder.path(), &words("predict m.json new.csv"));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{features}");
        assert!(!run.stdout.contains("inf") && run.stdout.lines().count() == 3);
        if features.contains("count") {
            let run = run_in(folder.path(), &words("predict m.json unseen.csv"));
            assert_eq!(run.code, 0, "{}", run.stderr);
            let last = run.stdout.lines().last().unwrap();
            assert!(last.ends_with(",-inf,inf"), "{features}: {last}");
            let ends = found["intervals"]["upper"].as_array().unwrap();
            assert!(ends[7].is_null() && found["intervals"]["lower"][7].is_null());
        }
    }
}

#[test]
fn the_first_line_is_the_value_of_the_policy() {
    let folder = folder([("log.csv", users(400).as_bytes())]);
    let line = "evaluate log.csv --discount 0.9 --features one-hot";
    let run = run_in(folder.path(), &words(line));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let mut lines = run.stdout.lines();
    let first = lines.next().unwrap();
    assert!(first.trim().starts_with("value of the policy"), "{first}");
    assert!(first.contains("95 % interval"), "{first}");
    for part in [
        "converged",
        "features fit",
        "one-hot(obs_0=3",
        "400 episodes",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("How it was computed"));
}
