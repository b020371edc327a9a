//! Compares every printed bound with the mean over sampled runs.

use robust_td_core::Problem;
use robust_td_core::learner::bhandari::{
    stationary_bound_a, stationary_bound_a_free_of_mixing, stationary_bound_b, stationary_bound_c,
};
use robust_td_core::learner::{Learner, Transition};
use robust_td_core::random::Stream;
use robust_td_core::registry;
use robust_td_core::registry::{Guarantee, Quantity, Setting};
use robust_td_core::simulate::Sampler;

use crate::common::{ref_2, ref_3};
use crate::walk::{family, mixing};

/// The quantity that a guarantee bounds.
fn measure(problem: &Problem, quantity: Quantity, output: &[f64]) -> f64 {
    let error = problem.error(output);
    match quantity {
        Quantity::F => problem.f(output),
        Quantity::DNormSq => problem.d_norm_sq(&problem.values(&error)),
        Quantity::ThetaErrorSq => error.iter().map(|x| x * x).sum(),
    }
}

/// The guarantee of a method, checked against the mean over runs.
fn checked(problem: &Problem, id: &str, horizon: u64, given: &[(&str, f64)]) -> Option<Guarantee> {
    let mixing = mixing(problem);
    let setting = Setting::of_problem(problem, Some(&mixing), horizon);
    let prepared = registry::find(id)
        .unwrap()
        .prepare(&setting, given)
        .unwrap();
    let guarantee = prepared.guarantee?;
    let sampler = Sampler::new(problem);
    let runs = 16;
    let mut sum = 0.0;
    for run in 0..runs {
        let mut stream = Stream::new(5, run);
        let mut learner = prepared.learner.clone();
        let mut state = problem.start();
        for _ in 0..horizon {
            let next = sampler.successor(state, stream.uniform());
            learner.step(&Transition::of_problem(problem, state, next));
            state = next;
        }
        let value = measure(problem, guarantee.quantity, &learner.output());
        assert!(!guarantee.statement.contains("probability") || value <= guarantee.bound);
        sum += value;
    }
    let mean = sum / runs as f64;
    assert!(
        mean <= guarantee.bound,
        "{id}: {mean} is above {guarantee:?}"
    );
    Some(guarantee)
}

#[test]
fn bounds_lie_above_what_is_measured() {
    for problem in [ref_2(), ref_3()] {
        for (id, given) in [
            ("alg1", &[("c", 60.0)][..]),
            ("alg1", &[("c", 5.0)]),
            ("alg1-const", &[]),
            ("alg1-const", &[("c", 60.0)]),
            ("alg1-doubling", &[("c", 5.0)]),
            ("srikant-ying", &[]),
            ("lee26", &[("c", 13_000.0)]),
            ("td-const-certified", &[]),
        ] {
            let found = checked(&problem, id, 20_000, given);
            assert!(found.is_some_and(|found| found.bound > 0.0), "{id}");
        }
    }
}

/// Unverified bounds are not printed.
#[test]
fn no_other_method_prints_a_bound() {
    for problem in [ref_2(), ref_3()] {
        for id in [
            // Its theorem requires a stationary start, but a problem starts at a fixed state.
            "bhandari-a",
            "bhandari-b",
            "bhandari-c",
            "liu-olshevsky",
            "patil-tail",
            "patil-reg",
            "samsonov",
            "mitra",
            "li-exp",
            "li-exp-reg",
            "lee26",
            "lee26-mixfree",
        ] {
            assert_eq!(checked(&problem, id, 20_000, &[]), None, "{id}");
        }
    }
}

/// The formula of Theorem 3(a) on REF-2, where alpha = 2^(-1/2) (t_mix = 2) and tau(1/sqrt T) = 2 (1 + log2 sqrt T).
#[test]
fn the_bound_of_bhandari_is_its_formula() {
    let problem = ref_2();
    let found = stationary_bound_a(&problem, &mixing(&problem), 10_000, 2.0).unwrap();
    // dbar(t) = 0.6^t is at most 1/2 from t = 2 on; 2 * 2^(-t/2) <= 1/100 from t = 16 on.
    let g = 1.0 + 2.0 * problem.phi_inf() * 2.0;
    let start = (problem.phi_inf() * problem.theta_star_norm()).powi(2);
    let expected = (start + g * g * (9.0 + 12.0 * 16.0)) / (2.0 * 100.0 * 0.1);
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    // |theta*| = 1.79, so the theorem does not cover a smaller ball.
    assert_eq!(
        stationary_bound_a(&problem, &mixing(&problem), 10_000, 1.7),
        None
    );
}

/// With the start drawn from pi, as the theorem requires.
#[test]
fn the_bounds_of_bhandari_hold_from_a_stationary_start() {
    for problem in [ref_2(), ref_3()] {
        let (horizon, step) = (2_000, 0.05);
        let radius = problem.theta_star_norm();
        let mixing = mixing(&problem);
        let cases = [
            (
                "bhandari-a",
                None,
                Quantity::DNormSq,
                stationary_bound_a(&problem, &mixing, horizon, radius),
            ),
            (
                "bhandari-b",
                Some(("step", step)),
                Quantity::ThetaErrorSq,
                stationary_bound_b(&problem, &mixing, (horizon, step), radius),
            ),
            (
                "bhandari-c",
                None,
                Quantity::DNormSq,
                stationary_bound_c(&problem, &mixing, horizon, radius),
            ),
        ];
        for (id, extra, quantity, bound) in cases {
            let bound = bound.unwrap();
            let given: Vec<(&str, f64)> = [Some(("radius", radius)), extra]
                .into_iter()
                .flatten()
                .collect();
            let mean = stationary_mean(&problem, id, &given, horizon, quantity);
            assert!(mean <= bound, "{id}: {mean} above {bound}");
        }
    }
}

/// The mean of a quantity over runs whose first state is drawn from pi.
fn stationary_mean(
    problem: &Problem,
    id: &str,
    given: &[(&str, f64)],
    horizon: u64,
    quantity: Quantity,
) -> f64 {
    let mixing = mixing(problem);
    let setting = Setting::of_problem(problem, Some(&mixing), horizon);
    let method = registry::find(id).unwrap();
    let prepared = method.prepare(&setting, given).unwrap();
    let sampler = Sampler::new(problem);
    let runs = 64;
    let mut sum = 0.0;
    for run in 0..runs {
        let mut stream = Stream::new(6, run);
        let (mut start, mut left) = (0, stream.uniform());
        while left >= problem.stationary()[start] && start + 1 < problem.states() {
            left -= problem.stationary()[start];
            start += 1;
        }
        let mut learner = prepared.learner.clone();
        let states = sampler.trajectory(start, horizon as usize, &mut stream);
        for pair in states.windows(2) {
            learner.step(&Transition::of_problem(problem, pair[0], pair[1]));
        }
        sum += measure(problem, quantity, &learner.output());
    }
    sum / runs as f64
}

/// The constants of Theorem 3, written out for REF-2: dbar(t) = 0.6^t, so 2 * 2^(-t/2) bounds the distance.
#[test]
fn the_other_bounds_of_bhandari_have_their_constants() {
    let problem = ref_2();
    let mixing = mixing(&problem);
    let (ph, rest) = (problem.phi_inf(), 1.0 - problem.discount());
    let (g, omega) = (1.0 + 2.0 * ph * 2.0, problem.omega() / (ph * ph));
    // 2 * 2^(-t/2) <= 0.13 from t = 8 on.
    let found = stationary_bound_b(&problem, &mixing, (500, 0.13), 2.0).unwrap();
    let start = (-2.0 * 0.13 * rest * omega * 500.0).exp() * problem.theta_star_norm().powi(2);
    let noise = 0.13 * g * g * (9.0 + 12.0 * 8.0) / (2.0 * rest * omega) / (ph * ph);
    assert!((found / (start + noise) - 1.0).abs() < 1e-12);
    assert_eq!(
        stationary_bound_b(&problem, &mixing, (500, 1.0 / (omega * rest)), 2.0),
        None
    );
    let horizon = 10_000;
    let free = stationary_bound_a_free_of_mixing(&problem, &mixing, horizon, 2.0).unwrap();
    assert!(free >= stationary_bound_a(&problem, &mixing, horizon, 2.0).unwrap());
    assert_eq!(
        stationary_bound_a_free_of_mixing(&problem, &mixing, 2, 2.0),
        None
    );
}

/// The bounds do not depend on the units of the features.
#[test]
fn bounds_and_predictions_do_not_depend_on_units() {
    let problem = ref_3();
    let phi = problem.features();
    let scaled =
        robust_td_core::Matrix::from_fn(phi.rows(), phi.columns(), |s, i| 4.0 * phi.get(s, i));
    let scaled = problem.with_features(scaled).unwrap();
    let run = |problem: &Problem, id: &str| {
        let mixing = mixing(problem);
        let setting = Setting::of_problem(problem, Some(&mixing), 3000);
        let method = registry::find(id).unwrap();
        let mut prepared = method.prepare::<&str>(&setting, &[]).unwrap();
        let states = Sampler::new(problem).trajectory(0, 3000, &mut Stream::new(2, 2));
        for pair in states.windows(2) {
            prepared
                .learner
                .step(&Transition::of_problem(problem, pair[0], pair[1]));
        }
        let bound = prepared.guarantee.map(|found| match found.quantity {
            Quantity::ThetaErrorSq => found.bound * problem.phi_inf().powi(2),
            _ => found.bound,
        });
        (problem.values(&prepared.learner.output()), bound)
    };
    for id in family() {
        let ((values, bound), (scaled_values, scaled_bound)) =
            (run(&problem, id), run(&scaled, id));
        for (value, other) in values.iter().zip(&scaled_values) {
            assert!(
                (value - other).abs() <= 1e-9 * value.abs().max(1.0),
                "{}",
                id
            );
        }
        match (bound, scaled_bound) {
            (Some(x), Some(y)) => assert!((x / y - 1.0).abs() < 1e-9, "{}", id),
            (x, y) => assert_eq!(x, y),
        }
    }
}
