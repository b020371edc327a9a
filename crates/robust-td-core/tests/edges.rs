//! Checks the theory at the edges of floating-point numbers.

#![allow(clippy::unwrap_used)]

use robust_td_core::moments::expectation;
use robust_td_core::random::Stream;
use robust_td_core::theory::StepProfile;
use robust_td_core::theory::certificate::{Inputs, centred, constant_step, paper, zero_centred};
use robust_td_core::theory::certify::{self, unit_steps};
use robust_td_core::{Chain, Matrix, Mixing, Problem, Result, Reward, catalog};

/// A chain of two states, with its rewards and one feature.
fn two(stay: f64, rewards: [f64; 2], features: [f64; 2], discount: f64) -> Result<Problem> {
    let p = Matrix::from_rows(&[[stay, 1.0 - stay], [1.0 - stay, stay]])?;
    let features = Matrix::from_rows(&[[features[0]], [features[1]]])?;
    let reward = Reward::PerState(rewards.to_vec());
    Problem::new(Chain::from_dense(&p)?, features, reward, discount, 0)
}

#[test]
fn the_best_bound_falls_with_the_horizon() {
    for problem in ["ref-2", "ref-3", "two-state", "boyan"] {
        let problem = catalog::problem(problem, &[]).unwrap();
        let bound = |exponent: u32| {
            let certified = problem.certify(10_u64.pow(exponent), None).unwrap();
            let recommended = certified.mixing.unwrap().recommended;
            recommended.map_or(f64::INFINITY, |found| found.bound)
        };
        let bounds: Vec<f64> = (2..=12).step_by(2).map(bound).collect();
        assert!(bounds.is_sorted_by(|a, b| a >= b), "{bounds:?}");
        assert!(bounds[5] < bounds[0], "{bounds:?}");
    }
}

/// f is quadratic in the rewards, and the step sizes adapt to the features.
#[test]
fn bounds_scale_as_the_problem_does() {
    let with = |reward: f64, feature: f64| {
        let problem = two(0.75, [reward, -reward], [feature, 0.5 * feature], 0.9).unwrap();
        let bounds = problem.certify(1_000_000, 4.0).unwrap().mixing.unwrap();
        bounds.y.unwrap().bound.unwrap()
    };
    let one = with(1.0, 1.0);
    for power in [-200, -40, 40, 200] {
        let k = 2_f64.powi(power);
        for (found, expected) in [(with(k, 1.0), one * k * k), (with(1.0, k), one)] {
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "2^{power}: {found} {expected}"
            );
        }
    }
}

/// Values of a chain that is too large to eliminate, for discounts up to the last below 1.
#[test]
fn values_near_discount_one_are_found_in_few_sweeps() {
    let settings = [("states", 4000.0), ("actions", 1.0), ("branching", 6.0)];
    let problem = catalog::problem("garnet", &settings).unwrap();
    let (chain, reward) = (problem.chain(), problem.mean_rewards());
    for discount in [0.0, 0.9, 1.0 - 1e-6, 1.0 - 1e-12, 1.0 - f64::EPSILON / 2.0] {
        let values = chain.discounted_values(discount, reward);
        let size = values.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
        for s in 0..chain.states() {
            let next: f64 = (chain.transition().entries(s))
                .map(|(to, p)| p * values[to])
                .sum();
            let residual = reward[s] + discount * next - values[s];
            assert!(
                residual.abs() <= 1e-12 * size,
                "{discount}: {residual} of {size}"
            );
        }
    }
}

/// Bounds of random inputs grow with each input in which the formulas are monotone.
#[test]
fn bounds_grow_with_their_inputs() {
    let mut stream = Stream::new(20, 6);
    let mut compared = [0; 4];
    for _ in 0..40 {
        let mut draw =
            |low: f64, high: f64| (low.ln() + (high / low).ln() * stream.uniform()).exp();
        let (rate, horizon) = (draw(0.05, 0.95), draw(100.0, 1e5) as u64);
        let inputs = Inputs {
            phi_inf: draw(1e-3, 1e3),
            r_inf: draw(1e-3, 1e3),
            discount: 1.0 - draw(1e-12, 1.0),
            distance: draw(1e-3, 1e3),
            update_at_solution: draw(1e-3, 1e3),
            update_at_start: draw(1e-3, 1e3),
            distances: (0..40).map(|j| 0.5 * rate.powi(j)).collect(),
        };
        let (c, more) = (draw(0.5, 1e4), 1.0 + draw(1e-3, 3.0));
        let larger = |change: &dyn Fn(&mut Inputs)| {
            let mut larger = inputs.clone();
            change(&mut larger);
            larger
        };
        let reward = larger(&|inputs| inputs.r_inf *= more);
        let distance = larger(&|inputs| inputs.distance *= more);
        let solution = larger(&|inputs| inputs.update_at_solution *= more);
        let start = larger(&|inputs| inputs.update_at_start *= more);
        let discount = larger(&|inputs| inputs.discount = 0.5 * (1.0 + inputs.discount));
        let mixing = larger(&|inputs| {
            let slower = inputs.distances.iter().map(|d| (d * more).min(1.0));
            inputs.distances = slower.collect();
        });
        let cases: [&[&Inputs]; 4] = [
            &[&reward, &distance],
            &[&reward, &distance, &mixing, &discount],
            &[&distance, &solution, &start, &mixing, &discount],
            &[&distance, &solution, &mixing],
        ];
        for (kind, larger) in cases.into_iter().enumerate() {
            let bound = |inputs: &Inputs| {
                let mut unit = StepProfile::new(
                    unit_steps(inputs.phi_inf, horizon),
                    horizon,
                    &inputs.distances,
                );
                let bound = match kind {
                    0 => paper::closed_form(inputs, horizon, c),
                    1 => zero_centred::certify(inputs, inputs.growth(), &mut unit, c).bound,
                    2 => centred::certify(inputs, &mut unit, c).bound,
                    _ => constant_step::certify(inputs, horizon).bound,
                };
                bound.unwrap_or(f64::INFINITY)
            };
            let before = bound(&inputs);
            for (change, inputs) in larger.iter().enumerate() {
                let after = bound(inputs);
                // Rounding of the sums.
                assert!(
                    after >= before * (1.0 - 1e-12),
                    "{kind} {change}: {before} {after}"
                );
                compared[kind] += usize::from(after.is_finite());
            }
        }
    }
    assert!(compared.iter().all(|&count| count > 10), "{compared:?}");
}

/// The step of certificate C is smaller for a larger discount; where `Gs` dominates, so is the bound.
#[test]
fn certificate_c_may_fall_when_the_discount_rises() {
    let inputs = |discount: f64, distance: f64| Inputs {
        phi_inf: 1.0,
        r_inf: 1.0,
        discount,
        distance,
        update_at_solution: 1.0,
        update_at_start: 1.0,
        distances: (0..60).map(|j| 0.5_f64.powi(j)).collect(),
    };
    let bound = |discount: f64, distance: f64| {
        let certificate = constant_step::certify(&inputs(discount, distance), 1_000_000);
        assert!(certificate.applies());
        certificate.bound.unwrap()
    };
    // kap |theta*|^2 against Gs^2 / kap.
    assert!((bound(0.9, 0.1) / bound(0.0, 0.1) - 1.0 / 1.9).abs() < 1e-12);
    assert!((bound(0.9, 10.0) / bound(0.0, 10.0) - 1.9).abs() < 1e-12);
    // With constant rewards and a constant feature the solution leaves no error, for every discount.
    for discount in [0.0, 0.5, 0.9, 1.0 - 1e-12] {
        let problem = two(0.75, [2.0, 2.0], [1.0, 1.0], discount).unwrap();
        let value = 2.0 / (1.0 - discount);
        let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
        let found = certify::inputs(&problem, &mixing, 10);
        assert!((found.distance / value - 1.0).abs() < 1e-3, "{found:?}");
        assert!(found.update_at_solution <= 1e-3 * value, "{found:?}");
    }
}

/// Expectations for step sizes from 0 to infinity: numbers or infinity, never NaN.
#[test]
fn expectations_are_numbers_for_every_step_size() {
    let problems = [
        catalog::problem("two-state", &[]).unwrap(),
        two(0.5, [0.0, 0.0], [1.0, 0.5], 0.9).unwrap(),
        two(0.5, [1e150, -1e150], [1.0, 0.5], 1.0 - 1e-12).unwrap(),
        two(0.5, [5e-324, -0.0], [1.0, -0.0], 0.0).unwrap(),
    ];
    for problem in &problems {
        for c in [5e-324, 1e-300, 1e-200, 1e-20, 1.0, 1e20, 1e300, f64::MAX] {
            let step = |t: u64| 1.0 / (c * (3.0 + t as f64).ln() * (1.0 + t as f64).sqrt());
            let found = expectation(problem, 300, step);
            let norms = found.norm_sq.iter().chain(&found.f);
            for x in norms.chain([&found.max_norm_sq, &found.f_of_average]) {
                assert!(!x.is_nan(), "{c}: {found:?}");
            }
            // A step that is far too large diverges, unless there is nothing to learn; one that is far too small changes nothing.
            if c <= 1e-200 && problem.r_inf() > 1e-300 {
                assert_eq!(found.max_norm_sq, f64::INFINITY, "{c}");
            }
            if c >= 1e300 {
                let start = problem.f_zero();
                assert!((found.f_of_average - start).abs() <= 1e-9 * start, "{c}");
            }
        }
        let zero = expectation(problem, 10, |_| 0.0);
        assert_eq!(zero.f_of_average, zero.f[0]);
        assert_eq!(zero.max_norm_sq, 0.0);
    }
}

/// One state, horizon 3, features at the ends of the range: an answer without NaN, or a reason.
#[test]
fn small_and_extreme_problems_are_certified_or_refused() {
    let one = |reward: f64, feature: f64, discount: f64| {
        let chain = Chain::from_dense(&Matrix::from_rows(&[[1.0]])?)?;
        let features = Matrix::from_rows(&[[feature]])?;
        Problem::new(chain, features, Reward::PerState(vec![reward]), discount, 0)
    };
    let mut problems = Vec::new();
    for discount in [0.0, 0.9, 1.0 - 1e-12] {
        for size in [5e-324, 1e-160, 1.0, 1e154, 1e308] {
            problems.push(one(size, 1.0, discount));
            problems.push(one(1.0, size, discount));
            problems.push(two(0.75, [size, -size], [1.0, 0.5], discount));
            problems.push(two(0.75, [1.0, -1.0], [size, 0.5 * size], discount));
            problems.push(two(1.0 - 1e-3, [1.0, size], [1.0, -0.0], discount));
        }
        problems.push(one(0.0, 1.0, discount));
        problems.push(one(1.0, 0.0, discount));
        problems.push(one(-0.0, -0.0, discount));
    }
    let (mut answered, mut refused) = (0, 0);
    for problem in problems {
        let Ok(problem) = problem else {
            refused += 1;
            continue;
        };
        assert!(problem.theta_star().iter().all(|x| x.is_finite()));
        for horizon in [3, 1000] {
            for c in [None, Some(5e-324), Some(1e300)] {
                let Ok(found) = problem.certify(horizon, c) else {
                    refused += 1;
                    continue;
                };
                answered += 1;
                let bounds = found.mixing.iter().flat_map(|bounds| bounds.certificates());
                for (name, certificate) in bounds {
                    let bounds = certificate.map(|found| [found.bound, found.iterate_bound]);
                    for bound in bounds.into_iter().flatten().flatten() {
                        assert!(bound >= 0.0, "{name} {horizon} {c:?}: {bound}");
                    }
                }
            }
        }
    }
    assert!(answered > 100 && refused > 5, "{answered} {refused}");
}
