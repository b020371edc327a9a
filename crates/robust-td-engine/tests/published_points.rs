//! Checks the printed points of the paper's figures that are reached within 30,000 steps.

mod common;

use common::{c_of, paper_plan};
use robust_td_engine::{Family, Mode, Options, Outcome, Results, run};

fn finished(plan: robust_td_engine::Plan) -> Results {
    match run(plan, &Options::default()).unwrap() {
        Outcome::Finished(results) => results,
        Outcome::Cancelled(_) => panic!("nobody cancelled"),
    }
}

fn assert_close(value: f64, printed: f64) {
    assert!(
        ((value - printed) / printed).abs() < 1e-6,
        "{value} instead of {printed}"
    );
}

#[test]
fn ratios_near_the_threshold() {
    let c = c_of(&[28, 29, 30, 31]);
    let results = finished(paper_plan(Mode::Published, &c, 48, 10_000_000, 30_000));
    let lane = |index: usize, variant: usize| {
        let wanted = |r: &&robust_td_engine::LaneResult| {
            r.lane.family == Family::Decaying && r.lane.variant == variant && r.lane.c == c[index]
        };
        results.lanes.iter().find(wanted).unwrap()
    };
    assert_close(lane(1, 0).ratio, 2.9099573e10);
    assert_close(lane(2, 0).ratio, 51399.672);
    assert_close(lane(2, 1).ratio, 1.0308154e8);
    assert_close(lane(3, 0).ratio, 3.9505569);
    assert_close(lane(3, 1).ratio, 3922.0259);
    let rates = [0.854167, 0.979167, 0.791667];
    for (variant, rate) in rates.into_iter().enumerate() {
        assert!(lane(0, variant).ratio > 1e12);
        assert_close(lane(0, variant).divergence_rate, rate);
    }
    for (variant, rate) in [0.020833, 0.354167, 0.083333].into_iter().enumerate() {
        assert!((lane(1, variant).divergence_rate - rate).abs() < 1e-6);
        assert_eq!(lane(2, variant).divergence_rate, 0.0);
    }
}
