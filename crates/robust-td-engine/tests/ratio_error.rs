//! Checks the standard error of the boundedness ratio against runs that end at the peak.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{paper_plan, random_tables};
use robust_td_engine::{Family, Lane, LaneResult, Mode, Options, Plan, run};

fn lanes(plan: &Plan) -> Vec<LaneResult> {
    let outcome = run(plan.clone(), &Options::default()).unwrap();
    outcome.finished().unwrap().lanes
}

fn error(lane: &LaneResult) -> f64 {
    lane.sampled.unwrap().ratio_standard_error
}

/// A sweep that ends at the peak reads |theta|^2 of every run there, so its learning curve must agree.
fn assert_agrees_with_shorter_sweeps(plan: &Plan) {
    let mut inside = 0;
    for lane in lanes(plan) {
        if lane.ratio.is_infinite() {
            assert_eq!(error(&lane), f64::INFINITY);
            continue;
        }
        let mut shorter = plan.clone();
        shorter.lanes = vec![lane.lane];
        shorter.simulate = lane.peak_step;
        let shorter = &lanes(&shorter)[0];
        let last = shorter.curve.last().unwrap();
        assert_eq!(last.step, lane.peak_step);
        let theta_star = plan.variants[lane.lane.variant].theta_star_squared();
        let [norm_error, _] = last.standard_errors.unwrap();
        assert_eq!(error(&lane), norm_error / theta_star);
        assert_eq!(error(&lane), error(shorter));
        assert!(error(&lane) > 0.0);
        inside += usize::from(lane.curve.iter().all(|p| p.step != lane.peak_step));
    }
    assert!(inside > 0, "all peaks are points of the curves");
}

#[test]
fn published_runs() {
    let c = [1e-9, 1e-5, 1e-4, 1e-3, 0.1, 10.0];
    assert_agrees_with_shorter_sweeps(&paper_plan(Mode::Published, &c, 11, 40_000, 30_000));
}

#[test]
fn algorithm_runs() {
    let c = [1e-9, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.1, 10.0];
    let mode = Mode::Algorithm { seed: 5 };
    assert_agrees_with_shorter_sweeps(&paper_plan(mode, &c, 11, 40_000, 30_000));
}

#[test]
fn other_problems() {
    for (seed, states, d) in [(1, 3, 1), (2, 20, 4), (3, 8, 7)] {
        let lane = |c: f64| Lane::new(0, Family::Plain, c);
        let plan = Plan {
            variants: vec![random_tables(seed, states, d)],
            lanes: [1e-3, 0.01, 0.03, 0.1].map(lane).to_vec(),
            runs: 5,
            horizon: 5_000,
            simulate: 5_000,
            mode: Mode::Algorithm { seed },
            curve_points_per_decade: 2,
        };
        assert_agrees_with_shorter_sweeps(&plan);
    }
}

#[test]
fn one_run_tells_no_error() {
    let plan = paper_plan(Mode::Algorithm { seed: 1 }, &[0.1, 1.0], 1, 3_000, 3_000);
    for lane in lanes(&plan) {
        assert!(error(&lane).is_nan());
    }
}
