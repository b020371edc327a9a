//! Compares methods and runs experiments through the library, without the command.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use robust_td::contest::ContestError;
use robust_td::{Comparison, Error, Experiment, Kernel, Problem, catalog, compare};

fn two_state() -> Problem {
    catalog::problem("two-state", &[]).unwrap()
}

fn small(problem: &Problem) -> Comparison<'_> {
    compare(problem)
        .algorithms(["alg1", "alg1:c=0.05", "bhandari-a", "lstd"])
        .parameter("c", 0.2)
        .horizon(500)
        .runs(8)
}

#[test]
fn results_do_not_depend_on_threads_or_kernel() {
    let problem = two_state();
    let one = small(&problem).threads(1).run().unwrap();
    let other = small(&problem)
        .threads(3)
        .kernel(Kernel::Scalar)
        .run()
        .unwrap();
    assert_eq!(one.to_csv(), other.to_csv());
    assert_eq!(one.curves_to_csv(), other.curves_to_csv());
    let (general, own) = (
        one.score("alg1").unwrap(),
        one.score("alg1:c=0.05").unwrap(),
    );
    assert_ne!(general.f.mean, own.f.mean, "its own setting wins");
    assert!(one.score("alg9").is_none());
    let ranked: Vec<f64> = one.ranked().iter().map(|(_, s)| s.f.mean).collect();
    assert!(ranked.is_sorted());
}

#[test]
fn a_comparison_writes_all_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let (problem, seen) = (two_state(), AtomicU64::new(0));
    let results = small(&problem)
        .name("two-state", &[("epsilon".into(), 0.3)])
        .progress(|progress| seen.store(progress.done, Ordering::Relaxed))
        .run()
        .unwrap();
    assert_eq!(seen.into_inner(), 4 * 8 * 500);
    results.write(folder.path().join("out")).unwrap();
    for file in [
        "compare.csv",
        "curves.csv",
        "compare.svg",
        "compare.png",
        "report.html",
        "manifest.json",
    ] {
        let written = std::fs::read(folder.path().join("out").join(file)).unwrap();
        assert!(!written.is_empty(), "{file}");
    }
    assert!(results.to_markdown().contains("two-state (epsilon = 0.3)"));
}

#[test]
fn refusals_are_typed_and_name_no_flags() {
    let problem = two_state();
    for (comparison, words) in [
        (
            small(&problem).algorithms(["alg2"]),
            "did you mean \"alg1\"?",
        ),
        (small(&problem).algorithms(["alg1", "alg1"]), "given twice"),
        (small(&problem).horizon(2), "horizon is 2"),
        (small(&problem).runs(0), "runs is 0"),
        (
            small(&problem).parameter("alg1-const.c", 1.0),
            "not among the chosen",
        ),
        (small(&problem).parameter("radus", 1.0), "\"radius\"?"),
    ] {
        let error = comparison.run().unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains(words) && !message.contains("--"),
            "{message}"
        );
        assert!(error.is_invalid_input());
        assert!(matches!(error, Error::Contest(_)), "{error:?}");
    }
    let unknown = small(&problem).algorithms(["alg2"]).run().unwrap_err();
    assert!(
        matches!(
            &unknown,
            Error::Contest(ContestError::UnknownMethod(robust_td_core::Error::UnknownMethod { name, .. }))
                if name == "alg2"
        ),
        "{unknown:?}"
    );
}

#[test]
fn an_experiment_names_the_value_that_fails() {
    let spec = |values: &str| {
        format!(
            "problem = \"two-state\"\nvary = {{ epsilon = {values} }}\n\
             algorithms = [\"alg1:c=0.1\"]\nhorizon = 100\nruns = 4\nagents = [1, 4]"
        )
    };
    let results = Experiment::from_toml(&spec("[0.3, 0.1]"), ".")
        .unwrap()
        .run()
        .unwrap();
    assert_eq!(results.to_csv().lines().count(), 3);
    assert!(results.splits.iter().any(|split| split.exact));
    let Err(error) = Experiment::from_toml(&spec("[0.3, -1.0]"), ".") else {
        panic!("a negative epsilon is accepted");
    };
    assert!(error.is_invalid_input());
    assert!(error.to_string().starts_with("at epsilon = -1: two-state"));
}

#[test]
fn comparisons_and_experiments_can_be_cancelled() {
    let stop = AtomicBool::new(false);
    let problem = two_state();
    let comparison = small(&problem).horizon(1_000_000).cancel(&stop);
    let after_a_block =
        comparison.progress(|progress| stop.store(progress.done > 0, Ordering::Relaxed));
    let is_cancelled = |error: Error| {
        let Error::Engine(robust_td_engine::Error::Cancelled { done, total }) = error else {
            panic!("{error:?}");
        };
        assert!(done < total);
        done
    };
    assert!(is_cancelled(after_a_block.run().unwrap_err()) > 0);
    let spec = "problem = \"two-state\"\nalgorithms = [\"alg1\"]\nhorizon = 1000";
    let experiment = Experiment::from_toml(spec, ".").unwrap().cancel(&stop);
    assert_eq!(is_cancelled(experiment.run().err().unwrap()), 0);
}
