//! Runs the tuning-free learners on the reference problems with their defaults.

use robust_td_core::Problem;
use robust_td_core::learner::{Learner, Transition};
use robust_td_core::random::Stream;
use robust_td_core::registry;
use robust_td_core::registry::Setting;

use crate::common::{ref_2, ref_3, trajectory};

/// f(output) / f(0), averaged over runs.
fn remaining(problem: &Problem, id: &str, given: &[(&str, f64)], steps: usize) -> f64 {
    const RUNS: u64 = 8;
    let setting = Setting::of_problem(problem, None, steps as u64);
    let prepared = registry::find(id)
        .unwrap()
        .prepare(&setting, given)
        .unwrap();
    let mut sum = 0.0;
    for run in 0..RUNS {
        let mut learner = prepared.learner.clone();
        let states = trajectory(problem, &mut Stream::new(7, run), steps + 1);
        for pair in states.windows(2) {
            learner.step(&Transition::of_problem(problem, pair[0], pair[1]));
        }
        assert!(!learner.health().diverged());
        sum += problem.f(&learner.output());
    }
    sum / (RUNS as f64 * problem.f_zero())
}

/// All reach a few hundredths of f(0) or less, from any start and without tuning.
#[test]
fn defaults_learn_the_reference_problems() {
    for problem in [ref_2(), ref_3()] {
        for (id, given) in [
            ("swift-td", &[][..]),
            ("coin-betting", &[]),
            ("coin-betting", &[("coordinatewise", 1.0)]),
            ("dog", &[]),
        ] {
            let left = remaining(&problem, id, given, 20_000);
            assert!(left < 0.05, "{id} {given:?}: {left}");
        }
    }
}

/// Its steps are too small by a factor of thousands: it moves in the right direction, but barely beyond r_eps.
#[test]
fn tamed_dog_makes_some_progress() {
    for problem in [ref_2(), ref_3()] {
        let (early, late) = (
            remaining(&problem, "t-dog", &[("r_eps", 0.1)], 2_000),
            remaining(&problem, "t-dog", &[("r_eps", 0.1)], 20_000),
        );
        assert!(late < early && early < 1.0, "{late} after {early}");
    }
}
