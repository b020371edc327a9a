//! Checks the authors' families, schedules and projections on the command line.

#![allow(clippy::unwrap_used)]

use crate::common::{json, run};

#[test]
fn families_are_shown_certified_and_compared() {
    let arguments = ["problems", "e3", "--set", "eps2=1e-4", "--set", "mode=weak"];
    let page = run(&arguments).stdout;
    assert!(page.contains("mode = weak"), "{page}");
    assert!(
        page.contains("(default signed)") && page.contains("metastable-trap"),
        "{page}"
    );
    let by_alias = json(&["problems", "metastable-trap", "--json"]);
    assert_eq!(
        by_alias["theta_star"],
        json(&["problems", "e3", "--json"])["theta_star"]
    );
    let certified = json(&[
        "certify",
        "e10",
        "--set",
        "eps2=0.1",
        "--horizon",
        "1e5",
        "--json",
    ]);
    let omega = certified["omega"].as_f64().unwrap();
    assert!((omega / 9.9009900990e-03 - 1.0).abs() <= 1e-9);
    assert_eq!(certified["t_mix"], 347);
    let compared = json(&[
        "compare",
        "e1",
        "--set",
        "mode=zero",
        "--algorithms",
        "alg1",
        "--horizon",
        "100",
        "--runs",
        "2",
        "--json",
    ]);
    assert_eq!(compared["set"]["mode"], "zero");
    assert_eq!(compared["algorithms"][0]["f"]["mean"], 0.0);
}

#[test]
fn wrong_values_of_a_family_are_refused_with_one_message() {
    for (setting, words) in [
        (
            "mode=fast",
            "e4: mode is fast, but must be single-site, alternating or zero",
        ),
        (
            "mode=3",
            "e4: mode is 3, but must be single-site, alternating or zero",
        ),
        (
            "m=1",
            "e4: m is 1, but must be a whole number from 2 to 500",
        ),
        (
            "m=2.5",
            "e4: m is 2.5, but must be a whole number from 2 to 500",
        ),
        ("eps1=0", "e4: eps1 is 0, but must be from 1e-15 to 0.999"),
        ("eps1=1", "e4: eps1 is 1, but must be from 1e-15 to 0.999"),
        ("beta=-1", "e4: beta is -1, but must be from 1e-8 to 1e8"),
        ("rho=-1", "e4: rho is -1, but must be from 0 to 1e100"),
        ("eps2=0.1", "e4 has no parameter \"eps2\""),
    ] {
        let found = run(&["problems", "e4", "--set", setting]);
        assert_eq!(found.code, 2, "{setting}");
        assert!(found.stderr.contains(words), "{setting}: {}", found.stderr);
        assert_eq!(found.stderr.lines().count(), 1, "{}", found.stderr);
    }
}

#[test]
fn the_study_of_the_families_runs_in_small_and_resumes() {
    let place = tempfile::tempdir().unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let study = std::fs::read_to_string(root.join("../../experiments/families.toml")).unwrap();
    assert_eq!(study.matches("{ name = ").count(), 44);
    // One case, two constants.
    let small = study.replace("c = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3,", "c = [1e-3, 1] #");
    let cases = small.find("cases = [").unwrap();
    let small = format!(
        "{}cases = [{{ problem = \"e10\", set = {{ eps2 = 0.1 }} }}]\n",
        &small[..cases]
    );
    let spec = place.path().join("small.toml");
    std::fs::write(&spec, small).unwrap();
    let out = place.path().join("out");
    let (spec, out) = (spec.to_str().unwrap(), out.to_str().unwrap());
    let arguments = [
        "sweep", spec, "--steps", "1000", "--runs", "3", "--out", out,
    ];
    let found = run(&arguments);
    assert_eq!(found.code, 0, "{}", found.stderr);
    let read = |name: &str| std::fs::read_to_string(format!("{out}/{name}")).unwrap();
    let summary = read("summary.csv");
    assert_eq!(summary.lines().count(), 1 + 8 * 3);
    assert!(
        summary.contains("\ninv_omega_t,none,1.0,0.0,0,1,0\n"),
        "{summary}"
    );
    assert!(read("report.html").contains("Error against"));
    assert_eq!(read("results.csv").lines().count(), 1 + 2 * 24);
    run(&[&arguments[..], &["--resume"]].concat());
    assert_eq!(read("summary.csv"), summary);
}
