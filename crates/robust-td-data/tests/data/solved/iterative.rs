//! Tests the iterative solution, for more features than the direct one takes.

use robust_td_data::{FindingKind, Progress, Solver};
use std::sync::{Arc, Mutex};

use super::log::{Folder, assert_near, walk};

#[test]
fn it_agrees_with_the_direct_solution() {
    let folder = Folder::new();
    let text = walk(30, 500, 7);
    let direct = folder.evaluation(&text).features("one-hot").run().unwrap();
    let passes = Arc::new(Mutex::new(Vec::new()));
    let seen = passes.clone();
    let iterative = (folder.evaluation(&text))
        .features("one-hot(count=5000)")
        .on_progress(move |progress| {
            if let Progress::Product { passes, residual } = progress {
                seen.lock().unwrap().push((passes, residual));
            }
        })
        .run()
        .unwrap();
    let report = iterative.report();
    assert_eq!(report.solver, Some(Solver::Iterative));
    assert_eq!(direct.report().solver, Some(Solver::LeastSquares));
    assert_eq!((report.dimension, report.rank), (5000, None));
    assert_eq!(iterative.converged(), Some(true));
    assert!(report.relative_residual.unwrap() <= 1e-4);
    assert!(passes.lock().unwrap().len() > 2);
    for state in 0..30 {
        let obs = [f64::from(state)];
        let value = direct.value(&obs).unwrap();
        assert_near(iterative.value(&obs).unwrap(), value, 1e-4, "value");
        // Its interval would need another solution.
        assert_eq!(iterative.interval(&obs).unwrap(), None);
    }
    for state in [30, 4999] {
        assert_eq!(iterative.value(&[f64::from(state)]).unwrap(), 0.0);
    }
    let [a, b] = [&direct, &iterative].map(|fit| fit.start_value().unwrap());
    assert_eq!(a.starts, b.starts);
    assert_near(b.value, a.value, 1e-4, "start value");
    let ratio = (b.upper - b.lower) / (a.upper - a.lower);
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
    let kinds: Vec<_> = iterative
        .findings()
        .iter()
        .map(|found| found.kind)
        .collect();
    assert!(kinds.contains(&FindingKind::IntervalsUnknown), "{kinds:?}");
    assert!(!kinds.contains(&FindingKind::NotLearned), "{kinds:?}");
    assert!(iterative.check().is_some() && iterative.monte_carlo().is_some());
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
    let (direct, iterative) = (of(10, 20), of(2000, 4000));
    assert_eq!(direct.report().solver, Some(Solver::LeastSquares));
    assert_eq!(iterative.report().solver, Some(Solver::Iterative));
    assert_eq!(iterative.converged(), Some(true));
    for state in 0..20 {
        let obs = [f64::from(state)];
        let value = direct.value(&obs).unwrap();
        assert_near(iterative.value(&obs).unwrap(), value, 1e-3, "value");
    }
    let [a, b] = [&direct, &iterative].map(|fit| fit.start_value().unwrap());
    assert_near(b.value, a.value, 1e-3, "start value");
    let ratio = (b.upper - b.lower) / (a.upper - a.lower);
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
}
