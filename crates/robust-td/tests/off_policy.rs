//! Tests policies that were not followed on decision processes whose exact values are known.
#![allow(clippy::unwrap_used)]

use robust_td::evaluate;
use robust_td::logs::{OffPolicyEstimate, OffPolicyMethod};
use robust_td_core::{Matrix, catalog};

#[path = "../benches/off_policy/processes.rs"]
mod processes;

use processes::Process;

/// Logs per process, and episodes per log.
const LOGS: u64 = 40;
const EPISODES: usize = 250;

fn estimates(process: &Process, log: u64) -> Vec<OffPolicyEstimate> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.csv");
    std::fs::write(&file, process.log(EPISODES, 7, log)).unwrap();
    let evaluation = evaluate([file.display().to_string()]).discount(process.discount);
    let fit = evaluation
        .features("one-hot(column=0)")
        .threads(1)
        .run()
        .unwrap();
    fit.off_policy().unwrap().estimates
}

#[test]
fn intervals_contain_the_exact_value_as_often_as_they_should() {
    for process in processes::all().unwrap() {
        let truth = process.value();
        let found: Vec<_> = (0..LOGS).map(|log| estimates(&process, log)).collect();
        for method in [
            OffPolicyMethod::LeastSquares,
            OffPolicyMethod::DoublyRobust,
            OffPolicyMethod::PerDecision,
        ] {
            let own = found
                .iter()
                .filter_map(|list| list.iter().find(|x| x.method == method));
            let known: Vec<_> = own.filter(|x| x.upper.is_finite()).collect();
            // The weights of a log may be out of reach.
            let fewest = 9 * LOGS as usize / 10;
            assert!(known.len() >= fewest, "{}: {method:?}", process.name);
            let inside = known
                .iter()
                .filter(|x| x.lower <= truth && truth <= x.upper)
                .count();
            // 5 % of 40 is 2, with a standard deviation of 1.4.
            let missed = known.len() - inside;
            assert!(missed <= 6, "{}: {method:?} {missed}", process.name);
        }
        agree(process.name, &found);
    }
}

/// Estimates with and without propensities agree: each pair within both errors, and in the mean over the logs.
fn agree(name: &str, found: &[Vec<OffPolicyEstimate>]) {
    let half = |x: &OffPolicyEstimate| (x.upper - x.lower) / 2.0;
    for k in 1..found[0].len() {
        let pairs = found.iter().map(|list| (&list[0], &list[k]));
        let apart = |pair: &(&OffPolicyEstimate, &OffPolicyEstimate)| {
            (pair.0.value - pair.1.value).abs() > half(pair.0).hypot(half(pair.1))
        };
        let apart = pairs.clone().filter(apart).count();
        // At most 5 % of 40, which is 2, with a standard deviation of 1.4.
        assert!(apart <= 6, "{name}: {apart} of {LOGS} apart");
        let differences: Vec<f64> = pairs.map(|pair| pair.1.value - pair.0.value).collect();
        let n = LOGS as f64;
        let mean = differences.iter().sum::<f64>() / n;
        let square = differences.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        let error = (square / (n - 1.0) / n).sqrt();
        assert!(mean.abs() < 4.0 * error, "{name}: {mean} +- {error}");
    }
}

#[test]
fn the_processes_are_those_of_the_catalog() {
    let all = processes::all().unwrap();
    let settings = [("width", 3.0), ("height", 3.0), ("order", 2.0)];
    let grid = catalog::problem("grid-world", &settings).unwrap();
    let (chain, _) = all[1]
        .mdp
        .under(&Matrix::from_fn(9, 4, |_, _| 0.25))
        .unwrap();
    assert_eq!(
        chain.transition().to_dense(),
        grid.chain().transition().to_dense()
    );
    // Gambler's ruin without discount and bias: the right end is reached from the middle with probability 1/2.
    let mut walk = processes::all().unwrap().swap_remove(0);
    walk.target = Matrix::from_fn(7, 2, |_, _| 0.5);
    walk.discount = 1.0;
    assert!((walk.value() - 0.5).abs() < 1e-12);
}
