//! Checks the printed points of the paper's figures that are reached within 30,000 steps.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{c_of, paper_plan};
use robust_td_engine::{Family, Mode, Options, Results, run};

fn finished(plan: robust_td_engine::Plan) -> Results {
    run(plan, &Options::default()).unwrap().finished().unwrap()
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
        assert_close(lane(0, variant).divergence_rate().unwrap(), rate);
    }
    for (variant, rate) in [0.020833, 0.354167, 0.083333].into_iter().enumerate() {
        assert!((lane(1, variant).divergence_rate().unwrap() - rate).abs() < 1e-6);
        assert_eq!(lane(2, variant).divergence_rate(), Some(0.0));
    }
}

#[test]
fn gaps_at_the_full_horizon() {
    let c = c_of(&[30, 31]);
    let results = finished(paper_plan(Mode::Published, &c, 48, 10_000_000, 10_000_000));
    assert_eq!(results.gap_step, 9_793_263);
    // Figure, index in c, variant, ratio, gap.
    let printed = [
        (Family::Decaying, 0, 0, 51399.672, 0.027952079),
        (Family::Decaying, 0, 1, 1.0308154e8, 0.0019520084),
        (Family::Decaying, 1, 0, 3.9505569, 0.010424124),
        (Family::Decaying, 1, 1, 3922.0259, 7.2762218e-06),
        (Family::Constant, 0, 0, 0.58506209, 0.048363401),
        (Family::Constant, 0, 1, 1.0065509, 6.6966111e-05),
    ];
    for (family, index, variant, ratio, gap) in printed {
        let wanted = |r: &&robust_td_engine::LaneResult| {
            r.lane.family == family && r.lane.variant == variant && r.lane.c == c[index]
        };
        let lane = results.lanes.iter().find(wanted).unwrap();
        assert_close(lane.ratio, ratio);
        assert_close(lane.gap, gap);
        assert_eq!(lane.divergence_rate(), Some(0.0));
    }
}
