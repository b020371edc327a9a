//! Checks `robust-td certify` against published numbers and the keys that scripts rely on.

#![allow(clippy::unwrap_used)]

use crate::common::{folder, json, run, run_in};
use serde_json::Value;

fn close(found: &Value, expected: f64, tolerance: f64) {
    let found = found.as_f64().unwrap();
    assert!(
        (found - expected).abs() <= tolerance * expected.abs(),
        "{found} is not {expected}"
    );
}

/// The page of a run without `--json`, its line breaks undone.
fn words(arguments: &[&str]) -> String {
    let run = run(arguments);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for line in run.stdout.lines() {
        assert!(
            line.chars().count() <= 100 && line.trim_end() == line,
            "{line:?}"
        );
    }
    run.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_json_has_its_keys_in_their_order() {
    let run = run(&["certify", "ref-2", "--horizon", "1000", "--json"]);
    let keys = [
        "states",
        "dimension",
        "discount",
        "phi_inf",
        "r_inf",
        "omega",
        "kappa",
        "stationary",
        "theta_star",
        "theta_star_norm",
        "f_zero",
        "lambda2",
        "t_mix",
        "c0",
        "c",
        "rho_c",
        "horizon",
        "certificates",
        "recommended",
        "alpha",
        "certified_step",
        "coordinates",
        "best_coordinates",
    ];
    let value: Value = serde_json::from_str(&run.stdout).unwrap();
    let mut sorted = keys;
    sorted.sort_unstable();
    let found: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(found, sorted);
    let places: Vec<usize> = keys
        .iter()
        .map(|key| run.stdout.find(&format!("\"{key}\":")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{}", run.stdout);

    let of =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(
        of(&value["horizon"]),
        [
            "log_t",
            "paper_holds",
            "paper_required_log_t",
            "paper_required_log_t_at_lambda2",
            "relaxed_holds"
        ]
    );
    assert_eq!(of(&value["certificates"]), ["c", "p", "x", "y"]);
    for name in ["p", "x", "y", "c"] {
        assert_eq!(
            of(&value["certificates"][name]),
            ["a2", "applies", "bound", "iterate_bound", "u", "why_not"]
        );
    }
    assert_eq!(of(&value["recommended"]), ["bound", "c"]);
    let coordinates = value["coordinates"].as_array().unwrap();
    let names: Vec<&Value> = coordinates.iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names, ["identity", "diagonal", "whitened", "optimised"]);
    assert_eq!(value["best_coordinates"], "optimised");
    for entry in coordinates {
        assert_eq!(of(&entry["certificates"]), ["c", "p", "x", "y"]);
        assert_eq!(of(&entry["recommended"]), ["bound", "c"]);
    }
    assert_eq!(coordinates[0]["recommended"], value["recommended"]);
    assert_eq!(coordinates[0]["certificates"], value["certificates"]);
}

#[test]
fn the_two_state_reference_has_its_published_numbers() {
    let found = json(&[
        "certify",
        "ref-2",
        "--horizon",
        "1000",
        "--c",
        "5",
        "--json",
    ]);
    assert_eq!(
        (&found["states"], &found["dimension"]),
        (&2.into(), &2.into())
    );
    close(&found["discount"], 0.9, 0.0);
    close(&found["theta_star"][0], 1.6883116883116884, 1e-12);
    close(&found["theta_star"][1], 0.6, 1e-12);
    close(&found["theta_star_norm"], 1.7917578957241584, 1e-12);
    close(&found["omega"], 0.09, 1e-12);
    close(&found["kappa"], 1.0 / 0.09, 1e-12);
    close(&found["phi_inf"], 1.044030650891055, 1e-15);
    close(&found["r_inf"], 1.0, 0.0);
    close(&found["f_zero"], 0.4310649350649352, 1e-12);
    close(&found["lambda2"], 0.6, 1e-12);
    close(&found["c0"], 40.45584412271571, 1e-15);
    assert_eq!(found["t_mix"], 2);
    assert!(found["rho_c"].is_null());
    close(&found["horizon"]["log_t"], 1000_f64.ln(), 1e-15);
    // At the lag 10 the bounds are known; the command takes the best lag, which is no worse.
    let [x, y] = ["x", "y"].map(|name| &found["certificates"][name]);
    for (certificate, at_ten) in [(x, 10.440915141732967), (y, 5.709420422468433)] {
        assert!(certificate["applies"].as_bool().unwrap() && certificate["why_not"].is_null());
        let bound = certificate["bound"].as_f64().unwrap();
        assert!(bound <= at_ten && bound > 0.95 * at_ten, "{bound}");
    }
    let p = &found["certificates"]["p"];
    assert!(p["bound"].is_null() && p["a2"].is_null() && p["applies"] == false);
    assert!(
        p["why_not"]
            .as_str()
            .unwrap()
            .contains("c > 40.46 required, got 5")
    );
}

#[test]
fn the_recommended_c_is_the_published_one() {
    let found = json(&["certify", "ref-2", "--horizon", "1_000_000", "--json"]);
    close(&found["recommended"]["c"], 2.2667, 3e-5);
    close(&found["recommended"]["bound"], 0.49773, 1e-5);
    assert_eq!(found["c"], found["recommended"]["c"]);
    let y = &found["certificates"]["y"];
    assert_eq!(y["u"], 13);
    close(
        &y["bound"],
        found["recommended"]["bound"].as_f64().unwrap(),
        1e-9,
    );
    assert!(found["certificates"]["c"]["a2"].is_null());

    let best = json(&[
        "certify",
        "ref-2",
        "--horizon",
        "1e6",
        "--c",
        "198.48",
        "--json",
    ]);
    let p = &best["certificates"]["p"];
    assert!(p["applies"].as_bool().unwrap() && !best["horizon"]["paper_holds"].as_bool().unwrap());
    close(&p["bound"], 76.0, 0.01);
}

#[test]
fn the_ring_of_the_paper_is_not_certified_by_its_theorem() {
    let arguments = [
        "certify",
        "paper-ring",
        "--horizon",
        "10000000",
        "--c",
        "50",
    ];
    let found = json(&[&arguments[..], &["--json"]].concat());
    close(&found["lambda2"], 0.9936149074178151, 1e-12);
    assert_eq!(found["t_mix"], 147);
    close(&found["alpha"], 0.9952958125702418, 1e-14);
    close(&found["rho_c"], 12.743169406900165, 1e-10);
    close(&found["horizon"]["paper_required_log_t"], 1.9077e7, 1e-4);
    close(
        &found["horizon"]["paper_required_log_t_at_lambda2"],
        7.6e6,
        2e-3,
    );
    assert!(found["horizon"]["paper_holds"] == false && found["horizon"]["relaxed_holds"] == false);
    let p = &found["certificates"]["p"];
    assert!(p["bound"].is_number() && p["applies"] == false && p["why_not"].is_string());

    let page = words(&arguments);
    for phrase in [
        "The paper's Theorem 1 certifies nothing here",
        "needs log T >= 1.9e7 with the rigorous rate alpha = 2^(-1/147)",
        "(7.6e6 even with the best possible rate |lambda_2|), but log T = 16.1",
        "No better than theta = 0",
        "(certificate Y), but theta = 0 already has f(0) = 4.371",
        "minimises certificate Y",
        "at T = 1e10, c = ",
    ] {
        assert!(page.contains(phrase), "{phrase:?} is not in {page}");
    }
    assert!(page.ends_with("by Markov's inequality P(f >= x) <= bound/x."));
}

#[test]
fn a_page_for_people() {
    let page = run(&["certify", "ref-2", "--horizon", "1000", "--c", "50"]).stdout;
    insta::assert_snapshot!(page);
}

#[test]
fn a_fast_chain_and_a_long_horizon_are_guaranteed_something() {
    let page = words(&["certify", "ref-2", "--horizon", "1e12", "--c", "200"]);
    assert!(
        page.contains("Guaranteed for Algorithm 1 with T = 1e12 and c = 200"),
        "{page}"
    );
    assert!(
        page.contains("Its proof also works under the relaxed condition"),
        "{page}"
    );
    let page = words(&[
        "certify",
        "two-state",
        "--set",
        "alpha=0",
        "--horizon",
        "1e12",
        "--c",
        "200",
    ]);
    assert!(page.contains("The paper's Theorem 1 applies"), "{page}");
}

#[test]
fn a_problem_without_rewards_has_nothing_to_learn() {
    let toml = "discount = 0.9\ntransition = [[0.2, 0.8], [0.8, 0.2]]\nreward = [0, 0]\nfeatures = [[1], [2]]\n";
    let folder = folder([("p.toml", toml.as_bytes())]);
    let run = run_in(folder.path(), &["certify", "p.toml", "--horizon", "1e6"]);
    assert_eq!(run.code, 0);
    assert!(
        run.stdout.contains("There is nothing to learn"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_chain_too_large_for_its_mixing_says_so() {
    let arguments = [
        "certify",
        "grid-world",
        "--set",
        "width=40",
        "--set",
        "height=40",
        "--horizon",
        "1e6",
    ];
    let found = json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(found["states"], 1600);
    assert!(found["lambda2"].is_null() && found["t_mix"].is_null() && found["alpha"].is_null());
    assert!(found["horizon"]["paper_holds"].is_null());
    for name in ["p", "x", "y", "c"] {
        assert!(found["certificates"][name].is_null());
    }
    assert!(
        found["mixing_unavailable"]
            .as_str()
            .unwrap()
            .contains("1600 states")
    );
    assert!(words(&arguments).contains("Nothing is guaranteed here"));
}

#[test]
fn certificates_that_do_not_close_have_no_bound() {
    let found = json(&[
        "certify",
        "ref-2",
        "--horizon",
        "100",
        "--c",
        "0.01",
        "--json",
    ]);
    for name in ["x", "y"] {
        let certificate = &found["certificates"][name];
        assert!(certificate["bound"].is_null() && certificate["iterate_bound"].is_null());
        assert!(certificate["a2"].as_f64().unwrap() >= 1.0 && certificate["applies"] == false);
        assert!(
            certificate["why_not"]
                .as_str()
                .unwrap()
                .contains("A2 < 1 required")
        );
    }
    assert!(
        words(&["certify", "ref-2", "--horizon", "100", "--c", "0.01"])
            .contains("Nothing is guaranteed for")
    );
}

#[test]
fn wrong_command_lines_are_refused() {
    let folder = folder([("p.toml", &b"discount = 0.9"[..])]);
    for (arguments, phrase) in [
        (&["certify", "ref-2"][..], "--horizon <T>"),
        (&["certify", "--horizon", "100"], "<PROBLEM>"),
        (&["certify", "ref-2", "--horizon", "2"], "at least 3"),
        (
            &["certify", "ref-2", "--horizon", "abc"],
            "\"abc\" is not a whole number",
        ),
        (
            &["certify", "ref-2", "--horizon", "1.5"],
            "\"1.5\" is not a whole number",
        ),
        (&["certify", "ref-2", "--horizon", "-5"], "'-5'"),
        (&["certify", "ref-2", "--horizon", "1e30"], "64 bits"),
        (
            &["certify", "ref-2", "--horizon", "100", "--c", "0"],
            "positive and finite",
        ),
        (
            &["certify", "ref-2", "--horizon", "100", "--c", "-1"],
            "positive and finite",
        ),
        (
            &["certify", "ref-2", "--horizon", "100", "--c", "nan"],
            "positive and finite",
        ),
        (
            &["certify", "ref-2", "--horizon", "100", "--c", "inf"],
            "positive and finite",
        ),
        (
            &["certify", "ref-2", "--horizon", "100", "--c", "big"],
            "\"big\" is not a number",
        ),
        (
            &["certify", "ref-2", "--horizon", "100", "--set", "foo=1"],
            "ref-2 has no parameter \"foo\"",
        ),
        (
            &[
                "certify",
                "paper-ring",
                "--horizon",
                "100",
                "--set",
                "scale=x",
            ],
            "\"x\" is not a number",
        ),
        (
            &[
                "certify",
                "paper-ring",
                "--horizon",
                "100",
                "--set",
                "scale=nan",
            ],
            "not a finite number",
        ),
        (
            &[
                "certify",
                "paper-ring",
                "--horizon",
                "100",
                "--set",
                "scale",
            ],
            "KEY=VALUE",
        ),
        (
            &[
                "certify",
                "paper-ring",
                "--horizon",
                "100",
                "--set",
                "scale=0",
            ],
            "scale is 0",
        ),
        (
            &[
                "certify",
                "two-state",
                "--horizon",
                "100",
                "--set",
                "alpha=1",
            ],
            "alpha is 1",
        ),
        (
            &["certify", "paper-rign", "--horizon", "100"],
            "did you mean \"paper-ring\"?",
        ),
        (
            &["certify", "xyzzy", "--horizon", "100"],
            "choose one of paper-ring, two-state",
        ),
        (
            &["certify", "missing.toml", "--horizon", "100"],
            "missing.toml: cannot be read",
        ),
        (
            &["certify", "no/such/file", "--horizon", "100"],
            "no/such/file: cannot be read",
        ),
        (
            &["certify", "p.toml", "--horizon", "100", "--set", "a=1"],
            "edit p.toml instead",
        ),
        (
            &["certify", "log.csv", "--horizon", "100"],
            "log.csv looks like a log, not a problem file; `robust-td evaluate` reads logs",
        ),
        (
            &["sweep", "two-state"],
            "two-state is a problem, not a spec: write a TOML file",
        ),
        (&["experiment", "log.csv"], "looks like a log, not a spec"),
        (
            &["algorithms", "td0"],
            "unknown algorithm \"td0\"; choose one of alg1",
        ),
        (
            &["evaluate", "log.csv", "--discount", "abc"],
            "\"abc\" is not a number; a discount is from 0 to 1, such as 0.99",
        ),
        (&["problems", "paper-rign"], "did you mean \"paper-ring\"?"),
        (&["problems", "--set", "a=1"], "PROBLEM"),
        (&["certifi"], "certifi"),
    ] {
        let run = run_in(folder.path(), arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
        assert!(run.stderr.contains(phrase), "{arguments:?}: {}", run.stderr);
    }
}
