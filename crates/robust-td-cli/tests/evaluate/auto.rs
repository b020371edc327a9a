//! Tests `--algorithm alg1` without a constant (`--c auto`): the choice of the constant, its intervals, and that a resumed run writes the same bytes.

use std::path::Path;

use robust_td_core::learner::{Alg1, Learner, alg1};
use robust_td_core::portfolio::{CONSTANTS, RobustTd, RobustTdParams};
use serde_json::Value;

use crate::bad_data::assert_refused;
use crate::common::{folder, json_in, run_in};
use crate::log::{Columns, Log, unassessed, words};

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn algorithm_1_chooses_a_constant_and_says_how() {
    let log = Log::continuing("garnet", 20_000, 3);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    let found = json_in(
        folder.path(),
        &words("evaluate log.csv --discount 0.95 --algorithm alg1 --json"),
    );
    assert_eq!(found["algorithm"], "alg1-auto");
    assert_eq!(
        (&found["steps"], &found["diverged"]),
        (&20_000.into(), &false.into())
    );
    let lanes = found["portfolio"].as_array().unwrap();
    assert_eq!(lanes.len(), CONSTANTS.len());
    let bounded: Vec<&Value> = lanes
        .iter()
        .filter(|lane| lane["bounded"] == true)
        .collect();
    let residual = |lane: &Value| lane["residual"].as_f64().unwrap();
    let least = bounded
        .iter()
        .map(|lane| residual(lane))
        .fold(f64::INFINITY, f64::min);
    let chosen = bounded.iter().find(|lane| lane["c"] == found["c"]).unwrap();
    assert_eq!(residual(chosen), least);
    assert!(
        lanes
            .iter()
            .all(|lane| lane["bounded"].as_bool().unwrap() == lane["retired_at"].is_null())
    );
    assert!(bounded.len() < lanes.len());

    // The library ends with the same numbers.
    let params = RobustTdParams {
        horizon: Some(20_000),
        replicates: 64,
        ..RobustTdParams::new(0.95, log.phi_inf())
    };
    let mut learner = RobustTd::new(params, 8).unwrap().into();
    log.feed(&mut learner);
    assert_eq!(numbers(&found["theta_bar"]), learner.output());
    assert_eq!(numbers(&found["theta"]), learner.theta());

    // So does Algorithm 1 with the constant, up to rounding.
    let c = found["c"].as_f64().unwrap();
    let line = format!("evaluate log.csv --discount 0.95 --json --c {c}");
    let fixed = json_in(folder.path(), &words(&line));
    assert_eq!(fixed["algorithm"], "alg1");
    assert_eq!(
        (&fixed["c"], &fixed["intervals"]),
        (&Value::Null, &Value::Null)
    );
    for (x, y) in numbers(&found["theta"])
        .iter()
        .zip(numbers(&fixed["theta"]))
    {
        assert!((x - y).abs() < 1e-9 * (1.0 + y.abs()));
    }
    let own = alg1::Alg1Params::decaying(0.95, 20_000, c, log.phi_inf());
    let mut own = Alg1::new(own, 8).unwrap().into();
    log.feed(&mut own);
    assert_eq!(numbers(&fixed["theta"]), own.theta());
}

#[test]
fn intervals_by_two_routes_are_those_of_the_prediction() {
    let log = Log::continuing("ref-3", 30_001, 5);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::Plain);
    let discount = log.problem.discount();
    let line = format!(
        "evaluate log.csv --discount {discount} --c auto --out model.json --json --confidence 0.9"
    );
    let found = json_in(folder.path(), &words(&line));
    let intervals = &found["intervals"];
    assert_eq!(intervals["confidence"], 0.9);
    assert!(
        intervals["meaning"]
            .as_str()
            .unwrap()
            .contains("not the approximation error")
    );
    assert_eq!(intervals["bootstrap"]["replicates"], 64);
    let ratio = intervals["width_ratio"].as_f64().unwrap();
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
    // theta_bar and least squares are both near the fixed point that generated the log.
    let truth = log.problem.theta_star();
    for (route, theta) in [("bootstrap", "theta_bar"), ("lstd", "lstd")] {
        let [low, high] = ["lower", "upper"].map(|end| numbers(&intervals[route][end]));
        let theta = match theta {
            "lstd" => numbers(&intervals["lstd"]["theta"]),
            key => numbers(&found[key]),
        };
        for j in 0..2 {
            let half = (high[j] - low[j]) / 2.0;
            assert!(
                half > 0.0 && low[j] < theta[j] && theta[j] < high[j],
                "{route}"
            );
            assert!((theta[j] - truth[j]).abs() < 4.0 * half, "{route}");
        }
    }
    // Together they reach as far as either: around theta_bar as far as the bootstrap, and beyond least squares by 1.2816 of the
    // 1.6449 standard errors of its own interval.
    for j in 0..2 {
        let [low, high] = ["lower", "upper"].map(|end| numbers(&intervals[end])[j]);
        let [own, other] = ["bootstrap", "lstd"].map(|route| {
            let route = &intervals[route];
            (numbers(&route["upper"])[j] - numbers(&route["lower"])[j]) / 2.0
        });
        let away =
            (numbers(&found["theta_bar"])[j] - numbers(&intervals["lstd"]["theta"])[j]).abs();
        let half = own.max(other).max(away + other * 1.2816 / 1.6449);
        assert!(
            ((high - low) / 2.0 / half - 1.0).abs() < 2e-3,
            "{high} {low} {half}"
        );
    }
    // A row with one feature has that feature's interval.
    std::fs::write(
        folder.path().join("new.csv"),
        "obs_0,obs_1\n1,0\n0,1\n1,1\n",
    )
    .unwrap();
    let line = "predict model.json new.csv --confidence 0.9";
    let run = run_in(folder.path(), &words(line));
    let mut lines = run.stdout.lines();
    assert_eq!(lines.next(), Some("value,lower,upper"));
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    let ends = ["lower", "upper"].map(|end| numbers(&intervals[end]));
    for j in 0..2 {
        assert_eq!(
            rows[j],
            [numbers(&found["theta_bar"])[j], ends[0][j], ends[1][j]]
        );
    }
    assert!((rows[2][0] - rows[0][0] - rows[1][0]).abs() < 1e-12);
    let wider = run_in(
        folder.path(),
        &words("predict model.json new.csv --confidence 0.99"),
    );
    let width = |row: &str| {
        let row: Vec<f64> = row.split(',').map(|x| x.parse().unwrap()).collect();
        row[2] - row[1]
    };
    let last = wider.stdout.lines().last().unwrap();
    assert!(width(last) > 1.4 * (rows[2][2] - rows[2][1]));
}

#[test]
fn lstd_has_the_sandwich_alone() {
    let log = Log::continuing("ref-3", 5001, 5);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --discount 0.9 --algorithm lstd --json --out model.json";
    let found = json_in(folder.path(), &words(line));
    let intervals = &found["intervals"];
    assert!(intervals["bootstrap"].is_null() && intervals["lstd"]["lower"].is_array());
    std::fs::write(folder.path().join("new.csv"), "obs_0,obs_1\n1,0\n").unwrap();
    let run = run_in(folder.path(), &words("predict model.json new.csv"));
    assert!(
        run.stdout.starts_with("value,lower,upper\n"),
        "{}",
        run.stdout
    );
    // With traces the sandwich would be that of another fixed point.
    let line = "evaluate log.csv --discount 0.9 --algorithm lstd --param lambda=0.5 --json";
    assert!(json_in(folder.path(), &words(line))["intervals"].is_null());
}

#[test]
fn all_formats_agree() {
    let log = Log::episodic("boyan", 3000, 8);
    let folder = folder([]);
    log.write(folder.path(), "log.csv", Columns::All);
    std::fs::write(folder.path().join("log.ndjson"), log.ndjson(Columns::All)).unwrap();
    std::fs::write(folder.path().join("log.parquet"), log.parquet(Columns::All)).unwrap();
    let texts = ["log.csv", "log.ndjson", "log.parquet"].map(|file| {
        let line = format!("evaluate {file} --discount 0.9 --algorithm alg1 --out model.json");
        assert_eq!(run_in(folder.path(), &words(&line)).code, 0);
        let text = std::fs::read(folder.path().join("model.json")).unwrap();
        let mut model: Value = serde_json::from_slice(&text).unwrap();
        // The entries of a list have other names, so that the digests differ.
        model["digest"].take();
        for part in ["assessment", "features"] {
            let columns = &mut model["model"]["learned"][part]["columns"];
            assert_eq!(columns.take().as_array().unwrap().len(), 4);
        }
        model
    });
    assert!(texts[0] == texts[1] && texts[1] == texts[2]);
}

fn evaluate(folder: &Path, line: &str) {
    let run = run_in(folder, &words(line));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{line}");
}

#[test]
fn parts_write_the_same_model_as_the_whole() {
    const ROWS: usize = 4000;
    let log = Log::episodic("boyan", ROWS, 21);
    let folder = folder([]);
    let at = |name: &str| unassessed(&folder.path().join(name));
    for options in [
        "--horizon 3000 --phi-inf 2",
        "--horizon 3000 --phi-inf 2 --replicates 0",
        "--horizon 3000 --phi-inf 2 --features tiles(tilings=4,bins=5,low=0,high=1)",
    ] {
        let options = format!("--discount 0.9 --algorithm alg1 --json {options}");
        log.write(folder.path(), "log.csv", Columns::Episodes);
        evaluate(
            folder.path(),
            &format!("evaluate log.csv {options} --out whole.json"),
        );
        for cut in [1, 700, 2049] {
            for (name, range) in [("a.csv", 0..cut), ("b.csv", cut..ROWS)] {
                std::fs::write(folder.path().join(name), log.csv(Columns::Episodes, range))
                    .unwrap();
            }
            evaluate(
                folder.path(),
                &format!("evaluate a.csv {options} --out part.json"),
            );
            evaluate(
                folder.path(),
                "evaluate b.csv --resume part.json --out part.json --json",
            );
            let [part, whole] = ["part.json", "whole.json"].map(&at);
            assert!(part == whole, "cut before row {cut}: {options}");
        }
    }
}

#[test]
fn bad_values_are_refused_with_the_valid_range() {
    let folder = folder([]);
    Log::continuing("ref-3", 30, 2).write(folder.path(), "log.csv", Columns::Plain);
    for (line, parts) in [
        ("--c 0", &["c is 0", "above 0"][..]),
        ("--replicates -1", &["--replicates", "-1", "from 8 to 4096"]),
        ("--replicates 5", &["--replicates", "5", "from 8 to 4096"]),
        (
            "--replicates 1e9",
            &["--replicates", "1000000000", "from 8 to 4096"],
        ),
        (
            "--replicates many",
            &["--replicates", "many", "from 8 to 4096"],
        ),
        (
            "--confidence 1.2",
            &["--confidence", "1.2", "above 0 and below 1"],
        ),
        (
            "--confidence 0",
            &["--confidence", "0", "above 0 and below 1"],
        ),
        (
            "--confidence nan",
            &["--confidence", "NaN", "above 0 and below 1"],
        ),
        ("--c 0.1 --replicates 64", &["--replicates", "--c auto"]),
        (
            "--algorithm lstd --replicates 64",
            &["--replicates", "--c auto"],
        ),
        (
            "--c auto --passes 2 --replicates 64",
            &["--replicates", "--passes 1"],
        ),
        ("--c 0.1 --sandwich", &["--sandwich", "--c auto"]),
        (
            "--c auto --param replicates=16",
            &["alg1-auto", "replicates"],
        ),
        ("--c auto --param speed=1", &["alg1-auto", "speed"]),
        ("--algorithm td-lambda", &["td-lambda", "--c"]),
        (
            "--c auto --sandwich --features tiles(tilings=8,bins=10)",
            &["--sandwich", "500"],
        ),
    ] {
        let command = format!("evaluate log.csv --json --discount 0.9 {line}");
        let run = run_in(folder.path(), &words(&command));
        assert_refused(&run, 2, parts, line);
    }
}

#[test]
fn too_few_rows_are_counted() {
    let folder = folder([("log.csv", b"obs_0,reward\n1,1\n2,1\n".as_slice())]);
    let run = run_in(
        folder.path(),
        &words("evaluate log.csv --json --discount 0.9 --algorithm alg1"),
    );
    assert_refused(&run, 2, &["1 transition,", "at least 3"], "two rows");
    // Least squares has an answer, but no interval.
    let line = "evaluate log.csv --json --discount 0.9 --features bias";
    let found = json_in(folder.path(), &words(line));
    assert_eq!(found["theta_bar"].as_array().unwrap().len(), 1);
    assert!(found["intervals"].is_null() && found["start_value"]["lower"].is_null());
    let findings = found["findings"].as_array().unwrap();
    let unknown = |finding: &&Value| finding["kind"] == "intervals-unknown";
    assert_eq!(findings.iter().filter(unknown).count(), 1);
}

#[test]
fn a_resumed_model_with_intervals_takes_one_pass() {
    let folder = folder([]);
    Log::continuing("ref-3", 400, 2).write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --json --discount 0.9 --c auto --phi-inf 2 --horizon 900 --out model.json";
    json_in(folder.path(), &words(line));
    let line = "evaluate log.csv --json --resume model.json --passes 2";
    let run = run_in(folder.path(), &words(line));
    assert_refused(&run, 2, &["--passes", "not new samples"], line);
}

#[test]
fn two_passes_have_no_intervals() {
    let folder = folder([]);
    Log::continuing("ref-3", 400, 2).write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --discount 0.9 --c auto --passes 2 --json";
    let found = json_in(folder.path(), &words(line));
    assert!(found["intervals"].is_null() && found["c"].is_f64());
}

#[test]
fn the_page_has_the_table_and_the_intervals() {
    let folder = folder([]);
    Log::continuing("ref-3", 4000, 2).write(folder.path(), "log.csv", Columns::Plain);
    let line = "evaluate log.csv --discount 0.9 --algorithm alg1 --verbose";
    let run = run_in(folder.path(), &words(line));
    for part in [
        "stayed bounded",
        "retired by step",
        "95 % intervals",
        "not the approximation error",
        "block multiplier bootstrap, 64 replicates",
        "LSTD sandwich",
        "standard errors from least squares",
    ] {
        assert!(run.stdout.contains(part), "{part} is not in {}", run.stdout);
    }
}

/// A feature that was never seen has no interval.
#[test]
fn what_was_never_seen_is_unbounded() {
    let folder = folder([("new.csv", b"obs_0,obs_1,obs_2\n1,0,0\n0,0,1\n".as_slice())]);
    let rows: String = (0..2000)
        .map(|i| format!("{},{},0,{}\n", i % 2, 1 - i % 2, i % 3))
        .collect();
    std::fs::write(
        folder.path().join("log.csv"),
        format!("obs_0,obs_1,obs_2,reward\n{rows}"),
    )
    .unwrap();
    // With bound and horizon set, it is not known that Algorithm 1 has not converged on this log, so it has intervals.
    let alg1 = "--algorithm alg1 --phi-inf 2 --horizon 1999";
    for options in ["", "--features identity", "--algorithm lstd", alg1] {
        let line = format!("evaluate log.csv --discount 0.9 --out model.json --json {options}");
        json_in(folder.path(), &words(&line));
        let run = run_in(folder.path(), &words("predict model.json new.csv"));
        let lines: Vec<&str> = run.stdout.lines().collect();
        assert!(
            !lines[1].contains("inf") && lines[2].ends_with(",-inf,inf"),
            "{options}: {lines:?}"
        );
    }
}
