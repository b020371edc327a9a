//! Tests the solution for many features: from a sparse matrix, and by iteration.

use robust_td_core::Features;
use robust_td_data::{FindingKind, Fit, Model, Progress, Solver};
use std::sync::{Arc, Mutex};

use super::log::{Folder, assert_near, interval, walk};

/// Requires the same values, intervals and value of the policy.
fn assert_alike(one: &Fit, other: &Fit, states: u32, tolerance: f64) {
    for state in 0..states {
        let obs = [f64::from(state)];
        let value = one.value(&obs).unwrap();
        assert_near(other.value(&obs).unwrap(), value, tolerance, "value");
        let [a, b] = [one, other].map(|fit| interval(fit, &obs));
        for (a, b) in a.into_iter().zip(b) {
            assert_near(b, a, 10.0 * tolerance, "end of an interval");
        }
    }
    let [a, b] = [one, other].map(|fit| fit.start_value().unwrap());
    assert_eq!(a.starts, b.starts);
    assert_near(b.value, a.value, tolerance, "start value");
    assert_near(b.lower, a.lower, 10.0 * tolerance, "lower end");
    assert_near(b.upper, a.upper, 10.0 * tolerance, "upper end");
}

#[test]
fn a_sparse_matrix_gives_the_dense_answer() {
    let folder = Folder::new();
    let text = walk(30, 500, 7);
    for more in ["", " + bias"] {
        let of = |features: &str| {
            let features = format!("{features}{more}");
            folder.evaluation(&text).features(features).run().unwrap()
        };
        let (dense, sparse) = (of("one-hot"), of("one-hot(count=5000)"));
        let report = sparse.report();
        assert_eq!(report.solver, Some(Solver::LeastSquares));
        assert_eq!(report.rank, Some(30));
        assert!(report.relative_residual.unwrap() <= 1e-9);
        assert_alike(&dense, &sparse, 30, 1e-6);
        for state in [30, 4999] {
            let [lower, upper] = interval(&sparse, &[f64::from(state)]);
            assert_eq!([lower, upper], [f64::NEG_INFINITY, f64::INFINITY]);
        }
        let kinds = |fit: &Fit| -> Vec<FindingKind> {
            fit.findings().iter().map(|found| found.kind).collect()
        };
        assert_eq!(kinds(&dense), kinds(&sparse));
        let [a, b] = [&dense, &sparse].map(|fit| fit.check().unwrap());
        assert_eq!(a.held_out, b.held_out);
        // A saved model predicts the same.
        let saved = sparse.model().to_json().unwrap();
        let restored = Model::from_json(&saved).unwrap();
        let theta = restored.value_function().theta;
        assert_eq!(theta, sparse.model().value_function().theta);
        assert_eq!(restored.to_json().unwrap(), saved);
        assert!(Features::Dense(&theta).norm_sq() > 0.0);
    }
}

#[test]
fn tiles_agree_with_fewer_tiles() {
    // The same tiles: those of the larger map that the log never visits stay at 0.
    let folder = Folder::new();
    let text = walk(20, 300, 8);
    let of = |bins: u32, high: u32| {
        let features = format!("tiles(tilings=4, bins={bins}, low=0, high={high}) + bias");
        folder.evaluation(&text).features(features).run().unwrap()
    };
    let (dense, sparse) = (of(10, 20), of(2000, 4000));
    assert_eq!(sparse.report().solver, Some(Solver::LeastSquares));
    assert_eq!(dense.report().rank, sparse.report().rank);
    assert_alike(&dense, &sparse, 20, 1e-6);
}

#[test]
fn iteration_agrees_with_the_direct_solution() {
    let folder = Folder::new();
    let text = walk(30, 500, 7);
    let direct = folder.evaluation(&text).features("one-hot").run().unwrap();
    let products = Arc::new(Mutex::new(0));
    let seen = products.clone();
    // Too many features for a dense matrix, and too many nonzero ones in a row for a sparse one.
    let iterative = (folder.evaluation(&text))
        .features("one-hot(count=4500) + fourier(order=25)")
        .on_progress(move |progress| {
            if let Progress::Product { .. } = progress {
                *seen.lock().unwrap() += 1;
            }
        })
        .run()
        .unwrap();
    let report = iterative.report();
    assert_eq!(report.solver, Some(Solver::Iterative));
    assert_eq!((report.dimension, report.rank), (4526, None));
    assert_eq!(iterative.converged(), Some(true));
    assert!(report.relative_residual.unwrap() <= 1e-2);
    assert!(*products.lock().unwrap() > 2);
    for state in 0..30 {
        let obs = [f64::from(state)];
        let value = direct.value(&obs).unwrap();
        let found = iterative.value(&obs).unwrap();
        assert_near(found, value, 1e-2, "value");
        // What is left unsolved is small beside the error of the log itself.
        let [lower, upper] = interval(&direct, &obs);
        let standard_error = (upper - lower) / (2.0 * 1.96);
        assert!(
            (found - value).abs() <= 0.1 * standard_error,
            "{found} {value}"
        );
        // Its interval would need another solution.
        assert_eq!(iterative.interval(&obs).unwrap(), None);
    }
    let [a, b] = [&direct, &iterative].map(|fit| fit.start_value().unwrap());
    assert_eq!(a.starts, b.starts);
    assert_near(b.value, a.value, 1e-2, "start value");
    let kinds: Vec<_> = (iterative.findings().iter())
        .map(|found| found.kind)
        .collect();
    assert!(kinds.contains(&FindingKind::IntervalsUnknown), "{kinds:?}");
    assert!(!kinds.contains(&FindingKind::NotLearned), "{kinds:?}");
    assert!(iterative.check().is_some() && iterative.monte_carlo().is_some());
}
