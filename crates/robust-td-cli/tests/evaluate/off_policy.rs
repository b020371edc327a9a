//! Tests what the command says about a policy that was not followed.

use std::fmt::Write as _;

use robust_td_core::random::Stream;

use crate::common::{folder, json_in, run_in};
use crate::log::words;

/// Episodes of a machine that wears out: `repair` costs 2, `run` earns 3 less the wear; the new rule repairs sooner.
fn machine(episodes: usize, interleaved: bool) -> String {
    let mut stream = Stream::new(3, 0);
    let mut text = Vec::new();
    for machine in 0..episodes {
        let (mut wear, mut ends, mut week) = (0_usize, false, 0);
        while !ends {
            let repairs = stream.uniform() < 0.4;
            let reward = if repairs { -2.0 } else { 3.0 - wear as f64 };
            let name = if repairs { "repair" } else { "run" };
            let chance = if repairs { 0.4 } else { 0.6 };
            let target = if wear >= 2 { 0.8 } else { 0.1 };
            ends = stream.uniform() < 0.15;
            let flag = u8::from(ends);
            text.push((
                week,
                format!(
                    "{machine},{wear},{name},{reward},{flag},{chance},{},{target}",
                    1.0 - target
                ),
            ));
            let worse = usize::from(stream.uniform() < 0.7);
            wear = if repairs { 0 } else { (wear + worse).min(3) };
            week += 1;
        }
    }
    if interleaved {
        text.sort_by_key(|(week, _)| *week);
    }
    let mut all =
        String::from("episode,obs_0,action,reward,terminated,behaviour_prob,p_run,p_repair\n");
    text.iter()
        .for_each(|(_, line)| writeln!(all, "{line}").unwrap());
    all
}

const EVALUATE: &str =
    "evaluate log.csv --discount 0.9 --features one-hot(column=0) --column target=p_*";

#[test]
fn the_page_compares_the_new_policy_with_the_logged_one() {
    let folder = folder([("log.csv", machine(600, false).as_bytes())]);
    let page = run_in(folder.path(), &words(EVALUATE));
    assert_eq!((page.code, page.stderr.as_str()), (0, ""));
    // Lines are wrapped.
    let text = words(&page.stdout).join(" ");
    for part in [
        "value of the policy",
        "logged policy",
        "mean return of the policy that was followed",
        "not compared: the returns are those of the policy that was followed",
        "The value of a policy that was not followed, by several estimators",
        "weighted importance sampling",
        "doubly robust",
        "run: one-hot(obs_0=0)",
    ] {
        assert!(text.contains(part), "{part}\n{}", page.stdout);
    }
    let found = json_in(
        folder.path(),
        &words(&format!("{EVALUATE} --json --report page.html")),
    );
    let off = &found["off_policy"];
    assert_eq!(off["target"], "probabilities");
    assert_eq!(off["actions"], serde_json::json!(["run", "repair"]));
    let estimates = off["estimates"].as_array().unwrap();
    let methods: Vec<_> = estimates
        .iter()
        .map(|found| found["method"].as_str().unwrap())
        .collect();
    assert_eq!(
        methods,
        ["least-squares", "per-decision", "weighted", "doubly-robust"]
    );
    assert_eq!(estimates[0]["value"], found["start_value"]["value"]);
    // Mending in time pays: the new rule is worth more than the old one earned.
    assert!(found["start_value"]["lower"].as_f64() > found["monte_carlo"]["upper"].as_f64());
    assert!(found["check"].is_null());
    let html = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(html.contains("a policy that was not followed") && html.contains("doubly robust"));
}

#[test]
fn interleaved_rows_and_streams_give_the_same_estimates() {
    let [sorted, mixed] = [false, true].map(|interleaved| machine(100, interleaved));
    let folder = folder([
        ("log.csv", sorted.as_bytes()),
        ("mixed.csv", mixed.as_bytes()),
    ]);
    let estimates = |line: &str| -> Vec<f64> {
        let found = json_in(folder.path(), &words(&format!("{line} --json")));
        let estimates = found["off_policy"]["estimates"].as_array().unwrap();
        estimates
            .iter()
            .map(|found| found["value"].as_f64().unwrap())
            .collect()
    };
    let expected = estimates(EVALUATE);
    let mixed = estimates(&EVALUATE.replace("log.csv", "mixed.csv"));
    // The parts of the doubly robust estimate are by the number of the episode, which is by first rows.
    for (a, b) in expected.iter().zip(&mixed).take(3) {
        assert!((a - b).abs() < 1e-9 * a.abs(), "{expected:?} {mixed:?}");
    }
}

#[test]
fn predictions_are_of_actions_or_of_policies() {
    let folder = folder([
        ("log.csv", machine(200, false).as_bytes()),
        ("actions.csv", b"obs_0,action\n3,repair\n3,run\n".as_slice()),
        (
            "policy.csv",
            b"obs_0,p_repair,p_run\n3,0.5,0.5\n".as_slice(),
        ),
        ("plain.csv", b"obs_0\n3\n".as_slice()),
    ]);
    let run = run_in(
        folder.path(),
        &words(&format!("{EVALUATE} --out model.json")),
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    let values = |file: &str| -> Vec<f64> {
        let run = run_in(folder.path(), &["predict", "model.json", file]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let lines = run.stdout.lines().skip(1);
        lines
            .map(|line| line.split(',').next().unwrap().parse().unwrap())
            .collect()
    };
    let (q, v) = (values("actions.csv"), values("policy.csv"));
    assert!((v[0] - 0.5 * (q[0] + q[1])).abs() < 1e-12);
    // A worn machine earns nothing, and stays worn.
    assert!(q[0] > q[1] - 2.0);
    let refused = run_in(folder.path(), &["predict", "model.json", "plain.csv"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("action"), "{}", refused.stderr);
}
