//! Checks the theory at the edges of floating-point numbers: no panic, no NaN, and bounds that are monotone where the mathematics says so.

#![allow(clippy::unwrap_used)]

use robust_td_core::stability::{mean_square_radius, mean_square_threshold};
use robust_td_core::theory::StepProfile;
use robust_td_core::theory::certificate::{Certificate, Inputs, centred, zero_centred};
use robust_td_core::theory::certify::{inputs, unit_steps};
use robust_td_core::{Chain, Matrix, Mixing, Problem, Result, Reward, catalog};

use crate::common::random_problem;

const HORIZONS: [u64; 4] = [3, 4, 1000, 1_000_000_000_000];
const CONSTANTS: [f64; 9] = [
    5e-324,
    1e-300,
    1e-160,
    1e-12,
    1.0,
    1e12,
    1e160,
    1e300,
    f64::MAX,
];

/// A chain of two states, with its rewards and one feature.
fn two(stay: f64, rewards: [f64; 2], features: [f64; 2], discount: f64) -> Result<Problem> {
    let p = Matrix::from_rows(&[[stay, 1.0 - stay], [1.0 - stay, stay]])?;
    let features = Matrix::from_rows(&[[features[0]], [features[1]]])?;
    let reward = Reward::PerState(rewards.to_vec());
    Problem::new(Chain::from_dense(&p)?, features, reward, discount, 0)
}

/// Problems at the edges that are problems.
fn problems() -> Vec<(String, Problem)> {
    let mut found = Vec::new();
    let numbers = [0.0, -0.0, 5e-324, 1e-308, 1e-160, 1.0, 1e154, 1e308, -1e308];
    let one = 1.0 - 1e-12;
    for stay in [0.5, 1e-12, 1.0 - 1e-12, 1.0 - 2e-16] {
        for discount in [0.0, 0.9, one, 1.0 - f64::EPSILON / 2.0] {
            for reward in numbers {
                for feature in numbers {
                    let features = [feature, 0.5 * feature];
                    let name = format!("{stay} {discount} {reward} {feature}");
                    match two(stay, [reward, -1.0], features, discount) {
                        Ok(problem) => found.push((name, problem)),
                        Err(error) => assert!(!error.to_string().is_empty()),
                    }
                }
            }
        }
    }
    // All of them would take minutes.
    let mut found: Vec<_> = found.into_iter().step_by(17).collect();
    // One state: nothing to mix.
    let alone = Chain::from_dense(&Matrix::from_rows(&[[1.0]]).unwrap()).unwrap();
    let features = Matrix::from_rows(&[[2.0]]).unwrap();
    let problem = Problem::new(alone, features, Reward::PerState(vec![3.0]), one, 0).unwrap();
    found.push(("one state".into(), problem));
    // Two features that are nearly the same.
    let p = Matrix::from_rows(&[[0.5, 0.5], [0.25, 0.75]]).unwrap();
    for gap in [1e-3, 1e-7, 1e-9] {
        let features = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0 + gap]]).unwrap();
        let chain = Chain::from_dense(&p).unwrap();
        let reward = Reward::PerState(vec![1.0, 2.0]);
        if let Ok(problem) = Problem::new(chain, features, reward, 0.9, 0) {
            found.push((format!("gap {gap}"), problem));
        }
    }
    found
}

/// A bound is positive, or infinite, or absent; never NaN.
fn assert_honest(name: &str, certificate: &Certificate) {
    for bound in [
        certificate.bound,
        certificate.iterate_bound,
        certificate.norm_bound,
    ] {
        assert!(
            bound.is_none_or(|bound| bound >= 0.0),
            "{name}: {certificate:?}"
        );
    }
    let applies = certificate.applies();
    assert_eq!(certificate.why_not().is_none(), applies, "{name}");
}

#[test]
fn certificates_at_the_edges_are_bounds_or_reasons() {
    let problems = problems();
    assert!(problems.len() > 20, "{} problems", problems.len());
    let mut certified = 0;
    for (k, (name, problem)) in problems.iter().enumerate() {
        assert!(problem.theta_star().iter().all(|x| x.is_finite()), "{name}");
        // All horizons and constants would take minutes: each problem has its own selection.
        let horizon = HORIZONS[k % HORIZONS.len()];
        for c in [None, Some(CONSTANTS[k % CONSTANTS.len()]), Some(1.0)] {
            let Ok(certification) = problem.certify(horizon, c) else {
                continue;
            };
            let Ok(bounds) = &certification.mixing else {
                continue;
            };
            for (letter, certificate) in bounds.certificates() {
                let name = format!("{name}, T = {horizon}, c = {c:?}, {letter}");
                certificate
                    .iter()
                    .for_each(|found| assert_honest(&name, found));
            }
            if let Some(recommended) = bounds.recommended {
                assert!(recommended.c > 0.0 && recommended.bound >= 0.0, "{name}");
                certified += 1;
            }
        }
    }
    assert!(certified > 20, "{certified} recommendations");
}

#[test]
fn stability_at_the_edges_is_a_number() {
    for (name, problem) in problems() {
        for eta in [0.0, 5e-324, 1e-160, 1.0, 1e160, 1e308] {
            if let Ok(radius) = mean_square_radius(&problem, eta) {
                assert!(radius >= 0.0, "{name}, eta = {eta}: {radius}");
            }
        }
        if let Ok(threshold) = mean_square_threshold(&problem) {
            assert!(threshold > 0.0, "{name}: {threshold}");
        }
    }
}

/// The certificates X and Y at a constant. (That of the tuned constant step changes its step with the inputs.)
fn bounds(inputs: &Inputs, horizon: u64, c: f64) -> [f64; 2] {
    let steps = unit_steps(inputs.phi_inf, horizon);
    let mut unit = StepProfile::new(steps, horizon, &inputs.distances);
    let found = [
        zero_centred::certify(inputs, inputs.growth(), &mut unit, c),
        centred::certify(inputs, &mut unit, c),
    ];
    found.map(|certificate| match certificate.applies() {
        true => certificate.bound.unwrap(),
        false => f64::INFINITY,
    })
}

/// Every coefficient of the recursions is a sum of products of these numbers: more of any of them cannot improve a bound.
#[test]
fn bounds_do_not_improve_with_more_noise_or_slower_mixing() {
    for seed in 0..6 {
        let problem = random_problem(seed);
        let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
        let given = inputs(&problem, &mixing, 60);
        for (horizon, c) in [(1000, 5.0), (1_000_000, 20.0)] {
            let before = bounds(&given, horizon, c);
            let worse = |change: &dyn Fn(&mut Inputs)| {
                let mut inputs = given.clone();
                change(&mut inputs);
                bounds(&inputs, horizon, c)
            };
            let found = [
                worse(&|x| x.distance *= 1.5),
                worse(&|x| x.update_at_solution *= 1.5),
                worse(&|x| x.update_at_start *= 1.5),
                worse(&|x| x.r_inf *= 1.5),
                worse(&|x| x.discount = x.discount.midpoint(1.0)),
                worse(&|x| {
                    x.distances
                        .iter_mut()
                        .for_each(|d| *d = (*d * 1.5).min(2.0))
                }),
            ];
            for (k, after) in found.into_iter().enumerate() {
                for (letter, (after, before)) in
                    ["X", "Y"].iter().zip(after.into_iter().zip(before))
                {
                    // The lag is chosen by comparing rounded sums.
                    let least = before * (1.0 - 1e-9);
                    assert!(
                        after >= least,
                        "{letter}, seed {seed}, change {k}: {before} to {after}"
                    );
                }
            }
        }
    }
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
