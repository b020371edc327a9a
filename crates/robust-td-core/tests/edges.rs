//! Checks the theory at the edges of floating-point numbers.

#![allow(clippy::unwrap_used)]

use robust_td_core::{Chain, Matrix, Problem, Result, Reward, catalog};

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
