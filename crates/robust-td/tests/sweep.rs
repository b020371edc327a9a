//! Checks sweeps through the library: the builder against spec files, interruptions, refusals.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicBool, Ordering};

use robust_td::sweep::{Family, Indexing, Mode, SweepError, paper_constants};
use robust_td::{Error, Figures, Sweep, logspace, problem, reproduce};

const SPEC: &str = r#"
problem = "two-state"
set = { epsilon = 0.1 }
schedule = ["decaying", "constant"]
scales = [0.25, 1]
c = { from = 1e-3, to = 10, per_decade = 3 }
steps = 100_000
simulate = 60_000
runs = 9
seed = 7
"#;

fn unseeded() -> Sweep<'static> {
    let problem = problem("two-state", &[("epsilon", 0.1)]).unwrap();
    Sweep::new(&problem)
        .schedules([Family::Decaying, Family::Constant])
        .scales([0.25, 1.0])
        .constants(logspace(1e-3, 10.0, 3))
        .horizon(100_000)
        .simulate(60_000)
        .runs(9)
}

fn built(seed: u64) -> Sweep<'static> {
    unseeded().seed(seed)
}

fn assert_equal(built: Sweep<'_>, spec: &str) {
    let (built, written) = (built.run().unwrap(), Sweep::from_toml(spec, "").unwrap());
    let written = written.run().unwrap();
    assert_eq!(built.rows().len(), 2 * 2 * 13);
    assert_eq!(built.to_csv(), written.to_csv());
    assert_eq!(built.curves_to_csv(), written.curves_to_csv());
}

#[test]
fn the_builder_is_the_spec_to_the_bit() {
    assert_equal(built(7), SPEC);
    let exact = SPEC.replace("seed = 7", "mode = \"exact\"");
    assert_equal(unseeded().mode(Mode::Exact), &exact);
    assert_ne!(
        built(7).run().unwrap().to_csv(),
        built(8).run().unwrap().to_csv()
    );
}

#[test]
fn a_cancelled_sweep_resumes_to_the_same_bits() {
    let whole = built(7).run().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let cancel = AtomicBool::new(false);
    let stopped = built(7)
        .threads(1)
        .checkpoint(directory.path())
        .progress(|progress| cancel.store(progress.done > 0, Ordering::Relaxed))
        .cancel(&cancel)
        .run();
    match stopped {
        Err(Error::Engine(robust_td_engine::Error::Cancelled { done, total })) => {
            assert!(0 < done && done < total);
        }
        other => panic!("not cancelled: {other:?}"),
    }
    let checkpoint = directory.path().join("checkpoint");
    assert!(checkpoint.exists());
    let resumed = built(7)
        .checkpoint(directory.path())
        .resume(true)
        .run()
        .unwrap();
    assert!(resumed.execution().computed < resumed.execution().lane_steps);
    assert_eq!(resumed.to_csv(), whole.to_csv());

    // A checkpoint of another sweep is refused.
    let other = built(7).runs(10).checkpoint(directory.path()).resume(true);
    assert!(other.run().unwrap_err().is_invalid_input());

    resumed.write(directory.path()).unwrap();
    assert!(!checkpoint.exists());
    let csv = std::fs::read_to_string(directory.path().join("results.csv")).unwrap();
    assert_eq!(csv, whole.to_csv());
    for name in ["curves.csv", "figure1.svg", "figure2.png", "report.html"] {
        assert!(directory.path().join(name).exists(), "{name}");
    }
    let manifest = std::fs::read_to_string(directory.path().join("manifest.json")).unwrap();
    assert!(manifest.contains("\"lane_steps\": 28080000"), "{manifest}");
}

#[test]
fn exact_expectations_near_the_threshold() {
    let c = &paper_constants()[28..=31];
    let sweep = reproduce(Figures::First).unwrap().scales([0.0625]);
    let results = sweep
        .constants(c.iter().copied())
        .simulate(3_000)
        .run()
        .unwrap();
    let exact = results.exact_near_threshold().unwrap();
    let sampled = results.rows()[2].ratio();
    let expected = exact.iter().find(|row| row.c() == 0.001).unwrap().ratio();
    assert!(sampled < 0.5 * expected, "{sampled} of {expected}");
    assert!((expected / 1.99e5 - 1.0).abs() < 5e-3, "{expected}");
    // The exact threshold lies to the right of the one that 48 runs show.
    let threshold = results.thresholds()[0][0].unwrap();
    assert!(c[3] < threshold && threshold < 0.1, "{threshold}");
    assert!(
        results.agreement().is_none(),
        "a shorter run is not the printed one"
    );
}

#[test]
fn settings_that_make_no_sense_are_refused_with_their_value() {
    let problem = problem("two-state", &[] as &[(&str, f64)]).unwrap();
    let sweep = || Sweep::new(&problem).constants([0.1]).horizon(100).runs(2);
    let refused: Vec<(Sweep<'_>, SweepError)> = vec![
        (Sweep::new(&problem).constants([1.0]), SweepError::NoHorizon),
        (sweep().horizon(2), SweepError::Horizon { steps: 2 }),
        (
            sweep().simulate(101),
            SweepError::Simulate {
                simulate: 101,
                steps: 100,
            },
        ),
        (sweep().runs(0), SweepError::Runs { runs: 0 }),
        (sweep().constants([]), SweepError::NoConstants),
        (
            sweep().constants(logspace(1.0, 0.1, 6)),
            SweepError::NoConstants,
        ),
        (sweep().constants([0.0]), SweepError::Constant { c: 0.0 }),
        (
            sweep().constants([2.0, 2.0]),
            SweepError::ConstantTwice { c: 2.0 },
        ),
        (sweep().scales([]), SweepError::NoScales),
        (sweep().scales([-1.0]), SweepError::Scale { scale: -1.0 }),
        (sweep().schedules([]), SweepError::NoSchedules),
        (
            sweep().schedules([Family::Plain, Family::Plain]),
            SweepError::ScheduleTwice,
        ),
        (
            sweep().mode(Mode::Exact).seed(1),
            SweepError::Seed { mode: "exact" },
        ),
        (
            sweep().indexing(Indexing::Published),
            SweepError::Indexing { mode: "algorithm" },
        ),
    ];
    for (sweep, expected) in refused {
        match sweep.run() {
            Err(Error::Sweep(error)) => assert_eq!(error, expected),
            other => panic!("{expected} was expected, not {other:?}"),
        }
    }
}

#[test]
fn messages_about_a_spec_file_name_file_line_key_and_value() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("spec.toml");
    let message = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let message = match Sweep::load(&path) {
            Ok(sweep) => sweep.run().unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        let file = path.display().to_string();
        message.strip_prefix(&file).unwrap().to_string()
    };
    let base = "problem = \"ref-2\"\nsteps = 100\n";
    for (more, words) in [
        ("c = [1]\nrunz = 3", "line 4: `runz = 3`"),
        ("c = [1]\nruns = 0", "runs is 0"),
        ("c = \"papers\"", "papers"),
        ("c = [1]\nset = { x = 1 }", "x"),
    ] {
        let message = message(&format!("{base}{more}"));
        assert!(message.contains(words), "{message}");
    }
    assert!(message("problem = \"ref-3x\"\nsteps = 9\nc = [1]").contains("ref-3"));
}

/// In Figure 1 the first 30,000 of the 10^7 steps decide which runs diverge, and every ratio that is above 2.
#[test]
fn printed_values_that_the_first_steps_decide() {
    let results = reproduce(Figures::First)
        .unwrap()
        .simulate(30_000)
        .run()
        .unwrap();
    let (mut ratios, mut rates) = (0, 0);
    let points = robust_td::reproduce::printed_points().into_iter();
    for point in points.filter(|point| point.figure == 1) {
        let row = results
            .rows()
            .iter()
            .find(|row| row.scale == point.scale && row.c_index == Some(point.c_index))
            .unwrap();
        // Step sizes only shrink, and iterates that have peaked approach theta*, where the ratio is 1.
        if row.found.peak_step <= 15_000 && !(row.ratio() <= 2.0) {
            let drawn = row.ratio().min(1e12);
            let error = (drawn / point.ratio - 1.0).abs();
            assert!(error <= 1e-6, "{point:?}: {drawn}");
            ratios += 1;
        }
        let rate = row.divergence_rate().unwrap();
        let error = (rate - point.divergence_rate).abs();
        assert!(error <= 1e-6, "{point:?}: {rate}");
        rates += 1;
    }
    assert_eq!((ratios, rates), (98, 291));
}

#[test]
fn a_report_says_the_threads_that_ran() {
    let found = built(7).threads(usize::MAX).run().unwrap();
    assert!((1..=1024).contains(&found.execution().threads));
    assert_eq!(found.to_csv(), built(7).threads(1).run().unwrap().to_csv());
}
