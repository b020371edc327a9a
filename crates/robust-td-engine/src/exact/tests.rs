//! Compares jumps with the single steps they replace.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use robust_td_core::{Chain, Matrix, Problem, Reward};

use super::jumps::Pace;
use super::{ExactState, ExactSweep, Scratch};
use crate::kernel::Kernel;
use crate::plan::{Family, Lane, Mode, Plan};
use crate::run::Sweep;
use crate::tables::Tables;

const STEPS: u64 = 40_000;

/// A lazy walk on a ring of seven states with two features; `stay` in [0, 1).
fn problem(stay: f64) -> Tables {
    let n = 7;
    let transition = Matrix::from_fn(n, n, |i, j| match (j + n - i) % n {
        0 => stay,
        1 => 0.7 * (1.0 - stay),
        6 => 0.3 * (1.0 - stay),
        _ => 0.0,
    });
    let feature = |i: usize, j: usize| ((3 * i + 5 * j + 1) as f64).sin();
    let problem = Problem::new(
        Chain::from_dense(&transition).unwrap(),
        Matrix::from_fn(n, 2, feature),
        Reward::PerTransition(Matrix::from_fn(n, n, |i, j| ((i + 2 * j) as f64).cos())),
        0.9,
        0,
    );
    Tables::from(&problem.unwrap())
}

fn sweep(mode: Mode, stay: f64, steps: &[f64]) -> ExactSweep {
    let lane = |&c: &f64| Lane::new(0, Family::Plain, c);
    ExactSweep::new(Plan {
        variants: vec![problem(stay)],
        lanes: steps.iter().map(lane).collect(),
        runs: 1,
        horizon: STEPS,
        simulate: STEPS,
        mode,
        curve_points_per_decade: 10,
    })
}

fn finish(sweep: &ExactSweep, mut state: ExactState) -> ExactState {
    let mut scratch = Scratch::default();
    while sweep.done(&state) < STEPS {
        sweep.advance(0, &mut state, Kernel::best(), &mut scratch, 500);
    }
    state
}

/// A unit that may jump, and one that may not.
fn both(sweep: &ExactSweep) -> [ExactState; 2] {
    let mut steps = sweep.start(0);
    steps.pace = Pace::Steps;
    [finish(sweep, sweep.start(0)), finish(sweep, steps)]
}

fn assert_close(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 2e-12, "{a} and {b}");
}

#[test]
fn jumps_are_the_steps_that_they_stand_for() {
    let f_zero = problem(0.5).f(&[0.0; 2]);
    for mode in [Mode::Algorithm { seed: 0 }, Mode::Published] {
        for stay in [0.1, 0.5] {
            // The last lane overflows immediately and is ignored.
            let etas = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 10.0];
            let sweep = sweep(mode, stay, &etas);
            let [jumped, stepped] = both(&sweep);
            assert_eq!(jumped.pace, Pace::Jumps);
            assert_eq!(jumped.weight[..6], stepped.weight[..6]);
            for l in 0..6 {
                assert_close(jumped.peaks[l].sum, stepped.peaks[l].sum);
                assert_eq!(jumped.curves[l].len(), stepped.curves[l].len());
                for (a, b) in jumped.curves[l].iter().zip(&stepped.curves[l]) {
                    assert_eq!(a.step, b.step);
                    assert_close(a.norm, b.norm);
                    // A gap is a difference of expectations of the order of f(0).
                    assert_close(a.gap + f_zero, b.gap + f_zero);
                }
            }
            assert_eq!(jumped.peaks[6], stepped.peaks[6]);
            assert!(jumped.peaks[6].sum.is_infinite());
        }
    }
}

#[test]
fn a_slowly_growing_expectation_overflows_at_the_same_step() {
    // Between the lanes that stay bounded and those that overflow immediately.
    let mut found = 0;
    for eta in [2.0, 2.2, 2.4, 2.6, 2.8, 3.0] {
        let [jumped, stepped] = both(&sweep(Mode::Published, 0.5, &[eta]));
        assert_eq!(jumped.peaks[0].step, stepped.peaks[0].step);
        found += usize::from(stepped.peaks[0].step > 1024);
    }
    assert!(found > 0);
}

#[test]
fn steps_where_there_is_no_slow_space() {
    // A walk around the ring that never mixes, and a step size of the order of the mixing rate.
    for (stay, eta) in [(0.0, 0.9), (0.5, 0.9), (1e-4, 0.3)] {
        let [jumped, stepped] = both(&sweep(Mode::Published, stay, &[eta]));
        if jumped.pace == Pace::Steps {
            assert_eq!(jumped.peaks, stepped.peaks);
            assert_eq!(jumped.gaps, stepped.gaps);
        } else {
            assert_close(jumped.peaks[0].sum, stepped.peaks[0].sum);
            assert_close(jumped.gaps[0], stepped.gaps[0]);
        }
    }
}

#[test]
fn an_interruption_between_jumps_leaves_no_trace() {
    let sweep = sweep(Mode::Published, 0.1, &[1e-5, 1e-3, 0.02]);
    let expected = finish(&sweep, sweep.start(0));
    for stop in [1_000, 1_100, 3_000, 20_000] {
        let (mut state, mut scratch) = (sweep.start(0), Scratch::default());
        while state.done < stop {
            sweep.advance(0, &mut state, Kernel::best(), &mut scratch, 100);
        }
        let bytes = postcard::to_stdvec(&state).unwrap();
        let resumed = finish(&sweep, postcard::from_bytes(&bytes).unwrap());
        assert_eq!(format!("{resumed:?}"), format!("{expected:?}"));
    }
}

#[test]
fn all_kernels_jump_to_the_same_bits() {
    let sweep = sweep(Mode::Algorithm { seed: 0 }, 0.1, &[1e-5, 1e-3, 0.02]);
    let expected = finish(&sweep, sweep.start(0));
    for kernel in Kernel::ALL.into_iter().filter(|k| k.is_available()) {
        let (mut state, mut scratch) = (sweep.start(0), Scratch::default());
        while state.done < STEPS {
            sweep.advance(0, &mut state, kernel, &mut scratch, STEPS);
        }
        assert_eq!(format!("{state:?}"), format!("{expected:?}"));
    }
}
