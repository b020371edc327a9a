//! Checks Algorithm 1 and its certificates in other linear coordinates of the features.

#![allow(clippy::unwrap_used)]

use crate::common::*;
use robust_td_core::moments::{self, Moments};
use robust_td_core::registry::{self, Setting};
use robust_td_core::schedule::{RobustDecay, Schedule};
use robust_td_core::theory::certificate::Certificate;
use robust_td_core::theory::coordinates::Coordinates;
use robust_td_core::{Learner, Matrix, Mixing, Problem, Transition, catalog};

/// The problem with features that are orthonormal under D, by Gram and Schmidt: a rotation of the whitened ones.
fn orthonormal(problem: &Problem) -> Problem {
    let (n, d) = (problem.states(), problem.dimension());
    let pi = problem.stationary();
    let mut columns: Vec<Vec<f64>> = (0..d)
        .map(|i| (0..n).map(|s| problem.phi(s)[i]).collect())
        .collect();
    for i in 0..d {
        // Twice, for the digits.
        for _ in 0..2 {
            for j in 0..i {
                let along: f64 = (0..n).map(|s| pi[s] * columns[i][s] * columns[j][s]).sum();
                for s in 0..n {
                    columns[i][s] -= along * columns[j][s];
                }
            }
        }
        let length = (0..n)
            .map(|s| pi[s] * columns[i][s].powi(2))
            .sum::<f64>()
            .sqrt();
        columns[i].iter_mut().for_each(|x| *x /= length);
    }
    problem
        .with_features(Matrix::from_fn(n, d, |s, i| columns[i][s]))
        .unwrap()
}

/// The problem with its features multiplied by factors.
fn scaled(problem: &Problem, factors: &[f64]) -> Problem {
    let (n, d) = (problem.states(), problem.dimension());
    let features = Matrix::from_fn(n, d, |s, i| problem.phi(s)[i] * factors[i]);
    problem.with_features(features).unwrap()
}

/// The largest `E|theta_t - theta*|^2`, and `E f(avg_T)`.
fn truth(problem: &Problem, horizon: u64, eta: impl Fn(u64) -> f64) -> (f64, f64) {
    let mut moments = Moments::new(problem);
    let mut distance_sq = moments.mean_distance_sq();
    for t in 0..horizon {
        moments.step(eta(t));
        distance_sq = distance_sq.max(moments.mean_distance_sq());
    }
    (distance_sq, moments.mean_f_of_average())
}

fn holds(name: &str, certificate: &Certificate, (distance_sq, f): (f64, f64)) -> bool {
    if !certificate.applies() {
        return false;
    }
    let (bound, iterates) = (
        certificate.bound.unwrap(),
        certificate.iterate_bound.unwrap(),
    );
    assert!(
        f <= bound * (1.0 + 1e-9),
        "{name}: E f is {f} above {bound}"
    );
    assert!(
        distance_sq <= iterates * (1.0 + 1e-9),
        "{name}: {distance_sq} above {iterates}"
    );
    true
}

/// On a hundred random problems the certificates in every coordinates are above the exact expectation of Algorithm 1 run there.
#[test]
fn certificates_in_other_coordinates_are_above_the_exact_expectation() {
    let horizon = 700;
    let mut applied = [0; 4];
    for seed in 0..100 {
        let problem = random_problem(seed);
        for c in [None, Some(60.0)] {
            let bounds = problem.certify(horizon, c).unwrap().mixing.unwrap();
            for found in &bounds.coordinates[1..] {
                let other = match &found.coordinates.scaling {
                    Some(factors) => scaled(&problem, factors),
                    None => orthonormal(&problem),
                };
                assert!(close(other.phi_inf(), found.coordinates.phi_inf, 1e-9));
                let norm = other.theta_star_norm();
                assert!(
                    (norm / found.coordinates.theta_star_norm - 1.0).abs() < 1e-7 || norm < 1e-9
                );
                if let Some(c) = found.c {
                    let truth = truth(&other, horizon, robust_steps(&other, horizon, c));
                    for (k, (name, certificate)) in found.certificates()[..3].iter().enumerate() {
                        applied[k] += usize::from(holds(name, certificate.unwrap(), truth));
                    }
                }
                // The constant step of certificate C is that of the transformed problem.
                let own = other.certify(horizon, c).unwrap().mixing.unwrap();
                let (left, right) = (&own.constant_step, &found.constant_step);
                assert_eq!(left.applies(), right.applies());
                if let (None, Some(step), true) = (c, own.certified_step, right.applies()) {
                    assert!(close(left.bound.unwrap(), right.bound.unwrap(), 1e-7));
                    let truth = truth(&other, horizon, |_| step);
                    applied[3] += usize::from(holds("C", right, truth));
                }
                // Two routes: the transformed features certified as they are.
                let (left, right) = (own.recommended, found.recommended);
                assert_eq!(left.is_some(), right.is_some());
                if let (Some(left), Some(right)) = (left, right) {
                    assert!(close(left.bound, right.bound, 1e-6), "{left:?} {right:?}");
                }
            }
        }
    }
    assert!(
        applied.iter().all(|&count| count >= 100),
        "applied {applied:?}"
    );
}

#[test]
fn the_best_diagonal_scaling_has_the_smallest_product() {
    let mut gains = 0;
    for seed in 0..60 {
        let problem = random_problem(seed);
        let identity = Coordinates::identity(&problem);
        let [diagonal, whitened, optimised] = Coordinates::others(&problem).unwrap();
        let largest =
            (problem.values(problem.theta_star()).iter()).fold(0.0, |m: f64, v| m.max(v.abs()));
        for other in [&identity, &diagonal, &whitened, &optimised] {
            assert!(other.product() >= largest * (1.0 - 1e-9), "{}", other.name);
        }
        for other in [&identity, &diagonal] {
            assert!(
                optimised.product() <= other.product() * 1.01,
                "{}",
                other.name
            );
        }
        gains += usize::from(optimised.product() < 0.8 * identity.product());
        // |theta*'|^2 = |V*|_D^2.
        let values = problem.values(problem.theta_star());
        let norm = problem.d_norm_sq(&values).sqrt();
        assert!(close(whitened.theta_star_norm, norm, 1e-9));
    }
    assert!(gains > 10, "{gains}");
}

/// The learner in the original coordinates is Algorithm 1 on the transformed features.
#[test]
fn the_learner_is_algorithm_1_in_the_other_coordinates() {
    for seed in 0..20 {
        let problem = random_problem(seed);
        let mut stream = robust_td_core::random::Stream::new(seed, 3);
        let states = trajectory(&problem, &mut stream, 301);
        let d = problem.dimension();
        let roots: Vec<f64> = (0..d)
            .map(|i| problem.sigma().get(i, i).sqrt().recip())
            .collect();
        for (id, other) in [
            ("alg1-whitened", orthonormal(&problem)),
            ("alg1-scaled", scaled(&problem, &roots)),
        ] {
            let learner = |id: &str, problem: &Problem| {
                let setting = Setting::of_problem(problem, None, 300);
                let method = registry::find(id).unwrap();
                method.prepare(&setting, &[("c", 0.2)]).unwrap().learner
            };
            let (mut one, mut two) = (learner(id, &problem), learner("alg1", &other));
            for pair in states.windows(2) {
                one.step(&Transition::of_problem(&problem, pair[0], pair[1]));
                two.step(&Transition::of_problem(&other, pair[0], pair[1]));
            }
            let (one, two) = (problem.values(&one.output()), other.values(&two.output()));
            assert!(
                distance(&one, &two) <= 1e-8 * norm(&two).max(1e-3),
                "{id}: {one:?} {two:?}"
            );
        }
    }
}

/// With an estimated Sigma, too, no linear change of the features changes a prediction; nor does a dependent feature.
#[test]
fn predictions_do_not_depend_on_the_coordinates() {
    for seed in 0..20 {
        let problem = random_problem(seed);
        let mut stream = robust_td_core::random::Stream::new(seed, 4);
        let states = trajectory(&problem, &mut stream, 401);
        let (n, d) = (problem.states(), problem.dimension());
        // A triangular map with a feature that depends on the others.
        let map = Matrix::from_fn(d + 1, d, |i, j| match i {
            i if i == d => 1.0 + j as f64,
            i if j <= i => 10f64.powi(i as i32 - 1) * (1.0 + 0.3 * (i + 2 * j) as f64),
            _ => 0.0,
        });
        let run = |table: &Matrix| {
            let setting = Setting {
                discount: problem.discount(),
                dimension: table.columns(),
                horizon: 400,
                phi_inf: 1.0,
                known: None,
            };
            let method = registry::find("alg1-whitened").unwrap();
            let given = [("c", 0.1), ("share", 0.25)];
            let prepared = method.prepare(&setting, &given).unwrap();
            assert!(!prepared.oracle() && prepared.guarantee.is_none());
            assert!(prepared.notes.iter().any(|note| note.contains("plug-in")));
            let mut learner = prepared.learner;
            for pair in states.windows(2) {
                let reward = problem.reward(pair[0], pair[1]);
                learner.step(&Transition::new(
                    table.row(pair[0]),
                    reward,
                    table.row(pair[1]),
                ));
            }
            assert_eq!((learner.steps(), learner.updates()), (400, 300));
            table.times(&learner.output())
        };
        let transformed = Matrix::from_fn(n, d + 1, |s, i| dot(map.row(i), problem.phi(s)));
        let (one, two) = (run(problem.features()), run(&transformed));
        assert!(
            distance(&one, &two) <= 1e-6 * norm(&one).max(1e-3),
            "{one:?} {two:?}"
        );
        assert!(norm(&one) > 0.0 || problem.r_inf() == 0.0);
    }
}

/// The exact E f after a million steps with the best c of a grid.
fn best(problem: &Problem, grid: &[f64]) -> f64 {
    let horizon = 1_000_000;
    let f = |c: &f64| {
        let steps = RobustDecay::new(horizon, *c, problem.phi_inf()).unwrap();
        moments::expectation(problem, horizon, |t| steps.step_size(t)).f_of_average
    };
    grid.iter().map(f).fold(f64::INFINITY, f64::min)
}

/// The paper's two-state example at T = 10^6: the error at the best c does not depend on epsilon. That of Algorithm 1 does.
#[test]
fn the_line_over_epsilon_is_flat() {
    let grid = [0.06, 0.12, 0.25];
    let problem = |epsilon: f64| {
        let set = [("alpha", 0.9), ("epsilon", epsilon)];
        catalog::problem("two-state", &set).unwrap()
    };
    let whitened: Vec<f64> = [0.95, 0.03, 0.001]
        .map(|epsilon| best(&orthonormal(&problem(epsilon)), &grid))
        .into();
    let (low, high) = (
        whitened.iter().copied().fold(f64::INFINITY, f64::min),
        whitened.iter().copied().fold(0.0, f64::max),
    );
    assert!(high <= 1.2 * low && high < 1e-3, "{whitened:?}");
    assert!(best(&problem(0.001), &grid[..1]) > 0.4);
    // The same holds for what is proved.
    let bound = |epsilon: f64, k: usize| {
        let bounds = problem(epsilon)
            .certify(1_000_000, None)
            .unwrap()
            .mixing
            .unwrap();
        bounds.coordinates[k].best().unwrap()
    };
    assert!(close(bound(0.95, 2), bound(0.001, 2), 1e-6));
    assert!(bound(0.001, 0) > 1e3 * bound(0.95, 0));
}

/// What is proved for `compare` is what `certify` proves, slightly rounded up.
#[test]
fn the_method_states_its_certificate() {
    let problem = catalog::problem("two-state", &[("epsilon", 0.01)]).unwrap();
    let mixing = Mixing::of(problem.chain()).unwrap().unwrap();
    let setting = Setting::of_problem(&problem, Some(&mixing), 100_000);
    let bounds = problem.certify(100_000, Some(3.0)).unwrap().mixing.unwrap();
    for (id, k) in [("alg1-scaled", 1), ("alg1-whitened", 2)] {
        assert_eq!(bounds.coordinates[k].coordinates.method, Some(id));
        let prepared = registry::find(id)
            .unwrap()
            .prepare(&setting, &[("c", 3.0)])
            .unwrap();
        assert!(prepared.oracle());
        let stated = prepared.guarantee.unwrap().bound;
        let y = bounds.coordinates[k].y.as_ref().unwrap().bound.unwrap();
        assert!(
            stated >= y * (1.0 - 1e-9) && stated <= y * 1.01,
            "{stated} {y}"
        );
    }
}
