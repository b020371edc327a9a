//! Tests that the reported lane is Algorithm 1 with its constant.

use robust_td_core::catalog;
use robust_td_core::learner::{Alg1, Features, Learner, Transition, alg1};
use robust_td_core::portfolio::{CONSTANTS, RobustTd, RobustTdParams};

use crate::walk::walk;

fn close(x: &[f64], y: &[f64]) -> bool {
    let size = y.iter().fold(1e-300, |m: f64, y| m.max(y.abs()));
    x.iter().zip(y).all(|(x, y)| (x - y).abs() <= 1e-9 * size)
}

#[test]
fn the_reported_lane_is_algorithm_1_with_its_constant() {
    for name in ["paper-ring", "boyan", "ref-3", "grid-world"] {
        let problem = catalog::problem(name, &[]).unwrap();
        let (d, steps) = (problem.dimension(), 8000);
        let params = RobustTdParams {
            horizon: Some(steps),
            replicates: 8,
            ..RobustTdParams::new(problem.discount(), problem.phi_inf())
        };
        let mut auto = RobustTd::new(params, d).unwrap();
        let mut lanes: Vec<Alg1> = CONSTANTS
            .map(|c| {
                let params =
                    alg1::Alg1Params::decaying(problem.discount(), steps, c, problem.phi_inf());
                Alg1::new(params, d).unwrap()
            })
            .into();
        let mut sums = vec![vec![0.0; d]; lanes.len()];
        walk(&problem, steps as usize, 3, |transition| {
            auto.step(transition);
            for (lane, sum) in lanes.iter_mut().zip(&mut sums) {
                if lane.steps() >= steps / 8 {
                    sum.iter_mut()
                        .zip(lane.theta())
                        .for_each(|(sum, x)| *sum += x);
                }
                lane.step(transition);
            }
        });
        let answer = auto.answer();
        let leader = CONSTANTS.iter().position(|c| *c == answer.c).unwrap();
        assert!(close(auto.theta(), lanes[leader].theta()), "{name}");
        let counted = (steps - steps / 8) as f64;
        let mean: Vec<f64> = sums[leader].iter().map(|sum| sum / counted).collect();
        assert!(close(&answer.output, &mean), "{name}");
        assert_eq!(auto.output(), answer.output);
        for (report, lane) in answer.lanes.iter().zip(&lanes) {
            let own = lane.health().max_theta_norm_sq;
            if report.retired_at.is_none() {
                assert!((report.max_theta_norm_sq / own - 1.0).abs() < 1e-9);
            } else {
                assert_eq!(report.residual, None);
            }
        }
        // Retirement means that steps are too large: the smaller of two constants is retired first.
        let times: Vec<u64> = (answer.lanes.iter())
            .map(|lane| lane.retired_at.unwrap_or(u64::MAX))
            .collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "{name}: {times:?}");
        assert!(times[15] < steps && times[0] == u64::MAX, "{name}");
    }
}

#[test]
fn sparse_features_give_the_same_bits() {
    let problem = catalog::problem("random-walk", &[]).unwrap();
    let params = RobustTdParams {
        horizon: Some(4000),
        replicates: 16,
        ..RobustTdParams::new(problem.discount(), 1.0)
    };
    let new = || RobustTd::new(params, problem.dimension()).unwrap();
    let (mut dense, mut sparse, mut mixed) = (new(), new(), new());
    walk(&problem, 4000, 4, |transition| {
        let at = transition.td_error(dense.theta(), problem.discount());
        let told = dense.learn(transition);
        assert!((told - at).abs() <= 1e-13 * (1.0 + at.abs()));
        let entries = |features: Features<'_>| {
            let (mut indices, mut values) = (Vec::new(), Vec::new());
            features.for_each(|i, x| {
                indices.push(i as u32);
                values.push(x);
            });
            (indices, values)
        };
        let here = entries(transition.features);
        let next = entries(*transition.outcome.next_features().unwrap());
        let view = Transition::new(
            Features::Sparse {
                indices: &here.0,
                values: &here.1,
            },
            transition.reward,
            Features::Sparse {
                indices: &next.0,
                values: &next.1,
            },
        );
        assert_eq!(sparse.learn(&view), told);
        let one = if mixed.steps() / 3 % 2 == 0 {
            &view
        } else {
            transition
        };
        assert_eq!(mixed.learn(one), told);
    });
    let dense = dense.answer();
    for other in [sparse.answer(), mixed.answer()] {
        assert_eq!(dense.output, other.output);
        assert!(dense.bootstrap == other.bootstrap && dense.c == other.c);
        // Norms are summed in a different order.
        for (x, y) in dense.lanes.iter().zip(&other.lanes) {
            assert_eq!((x.residual, x.retired_at), (y.residual, y.retired_at));
            if x.retired_at.is_none() {
                assert!((x.max_theta_norm_sq / y.max_theta_norm_sq - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn a_lane_that_overflowed_does_not_forget_it() {
    let params = RobustTdParams {
        horizon: Some(1000),
        ..RobustTdParams::new(0.5, 1.0)
    };
    let mut learner = RobustTd::new(params, 2).unwrap();
    let phi = Features::Dense(&[1.0, 0.0]);
    for t in 0..200 {
        let reward = if t == 0 { 1e308 } else { 1.0 };
        learner.step(&Transition::new(phi, reward, phi));
    }
    let lanes = learner.answer().lanes;
    let infinite = lanes
        .iter()
        .filter(|lane| lane.max_theta_norm_sq.is_infinite());
    assert!(infinite.clone().count() > 5);
    assert!(infinite.clone().all(|lane| lane.retired_at.is_some()));
    assert!(lanes.iter().all(|lane| lane.max_theta_norm_sq > 0.0));
}

/// Features of the wrong dimension cause a panic, not a wrong result.
#[test]
fn features_of_another_dimension_are_a_panic() {
    let [one, two, three] = [&[1.0][..], &[1.0; 2], &[1.0; 3]].map(Features::Dense);
    for (here, next) in [(one, two), (two, one), (two, three), (three, two)] {
        let mut learner = RobustTd::new(RobustTdParams::new(0.5, 1.0), 2).unwrap();
        learner.step(&Transition::new(two, 1.0, two));
        let step = || learner.step(&Transition::new(here, 1.0, next));
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(step));
        assert!(panic.is_err(), "{here:?} to {next:?}");
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    let good = RobustTdParams::new(0.9, 1.0);
    assert!(good.check().is_ok());
    for bad in [
        RobustTdParams {
            discount: 1.0,
            ..good
        },
        RobustTdParams {
            phi_inf: 0.0,
            ..good
        },
        RobustTdParams {
            phi_inf: f64::NAN,
            ..good
        },
        RobustTdParams {
            horizon: Some(2),
            ..good
        },
        RobustTdParams {
            replicates: 7,
            ..good
        },
        RobustTdParams {
            replicates: 5000,
            ..good
        },
    ] {
        assert!(bad.check().is_err(), "{bad:?}");
    }
    assert!(RobustTd::new(good, 0).is_err());
}
