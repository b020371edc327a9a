//! Checks the exact expectations against published numbers, sampling and identities.

use crate::common::*;
use robust_td_core::moments::{Moments, expectation};
use robust_td_core::random::Stream;
use robust_td_core::stability::{mean_square_radius, mean_square_threshold};

/// T26: the reference numbers of the specification, section 9.3.
#[test]
fn reference_numbers() {
    let cases = [
        (
            ref_2(),
            50,
            1.0,
            1.2761350048622555,
            0.11471039162194141,
            0.35506342638625005,
        ),
        (
            ref_2(),
            200,
            0.2,
            7.322394051757337,
            1.5236742086182025,
            0.15695139065052535,
        ),
        (
            ref_3(),
            50,
            1.0,
            1.3091643814586902,
            0.05402703155280769,
            0.12261799212380434,
        ),
        (
            ref_3(),
            200,
            0.2,
            7.511914838979289,
            0.472445053952073,
            0.08264592395204398,
        ),
    ];
    for (problem, horizon, c, total_step, max_norm_sq, f) in cases {
        let exact = expectation(&problem, horizon, robust_steps(&problem, horizon, c));
        assert!((exact.total_step / total_step - 1.0).abs() < 1e-9);
        assert!((exact.max_norm_sq / max_norm_sq - 1.0).abs() < 1e-9);
        assert!((exact.f_of_average / f - 1.0).abs() < 1e-9);
        assert_eq!(exact.norm_sq[exact.argmax as usize], exact.max_norm_sq);
    }
}

/// T25: 20,000 sampled runs agree within four standard errors.
#[test]
fn sampling_agrees() {
    const RUNS: usize = 20_000;
    for (problem, horizon, c) in [(ref_2(), 200, 0.2), (ref_3(), 200, 0.2), (ref_3(), 50, 1.0)] {
        let eta = robust_steps(&problem, horizon, c);
        let exact = expectation(&problem, horizon, &eta);
        let mut sums = [[0.0; 2]; 3];
        for run in 0..RUNS {
            let mut stream = Stream::new(2506, run as u64);
            let states = trajectory(&problem, &mut stream, horizon as usize + 1);
            let thetas = iterates(&problem, &states, &eta);
            let last = &thetas[horizon as usize];
            let average = weighted_average(&thetas, &eta);
            let found = [dot(last, last), problem.f(last), problem.f(&average)];
            for (sum, x) in sums.iter_mut().zip(found) {
                sum[0] += x;
                sum[1] += x * x;
            }
        }
        let last = horizon as usize;
        let expected = [exact.norm_sq[last], exact.f[last], exact.f_of_average];
        for (sum, expected) in sums.iter().zip(expected) {
            let mean = sum[0] / RUNS as f64;
            let error = ((sum[1] / RUNS as f64 - mean * mean) / RUNS as f64).sqrt();
            assert!(
                (mean - expected).abs() <= 4.0 * error,
                "sampled {mean}, exact {expected}, standard error {error}"
            );
        }
    }
}

/// T27: E d_t^2 = d_0^2 - 2 sum eta E f + 2 sum eta E<b, theta - theta*> + sum eta^2 E|g|^2, every term by exact moments.
#[test]
fn telescoping_identity() {
    for seed in 0..40 {
        let problem = random_problem(seed);
        let goal = problem.theta_star();
        let eta = robust_steps(&problem, 60, 0.5);
        let mut moments = Moments::new(&problem);
        let mut expected = dot(goal, goal);
        for t in 0..60 {
            let step = eta(t);
            // E<g, theta - theta*> and E|g|^2 from the moments at each state; E<xi, theta - theta*> = 0.
            let (mut inner, mut squared) = (0.0, 0.0);
            for edge in problem.edges() {
                let (phi, onward) = (problem.phi(edge.from), problem.phi(edge.to));
                let psi: Vec<f64> = phi
                    .iter()
                    .zip(onward)
                    .map(|(x, y)| problem.discount() * y - x)
                    .collect();
                let d = problem.dimension();
                let p = moments.state_distribution()[edge.from];
                let m = moments.mean_theta_at(edge.from);
                let second = moments.second_moment_at(edge.from);
                let times = |x: &[f64]| -> Vec<f64> {
                    (0..d)
                        .map(|i| dot(&second[i * d..(i + 1) * d], x))
                        .collect()
                };
                let along = dot(phi, goal);
                // E[delta phi.(theta - theta*)] with delta = r + psi.theta
                let product = edge.reward * dot(m, phi) + dot(&psi, &times(phi))
                    - along * (edge.reward * p + dot(&psi, m));
                let square = edge.reward.powi(2) * p
                    + 2.0 * edge.reward * dot(&psi, m)
                    + dot(&psi, &times(&psi));
                inner += edge.probability * product;
                squared += edge.probability * square * dot(phi, phi);
            }
            let f = moments.mean_f();
            let bias = inner + f;
            expected += -2.0 * step * f + 2.0 * step * bias + step * step * squared;
            moments.step(step);
            let found = moments.mean_distance_sq();
            assert!(
                close(found, expected, 1e-9),
                "seed {seed}, t = {t}: {found} and {expected}"
            );
        }
    }
}

/// T38: the mean of N independent outputs has E f = bias + spread / N.
#[test]
fn one_shot_averaging() {
    let problem = ref_3();
    let eta = robust_steps(&problem, 100, 0.3);
    let mut moments = Moments::new(&problem);
    (0..100).for_each(|t| moments.step(eta(t)));
    let split = moments.bias_and_spread();
    assert!(split.bias > 0.0 && split.spread > 0.0);
    let (agents, trials) = (8, 4000);
    let (mut sum, mut squares) = (0.0, 0.0);
    for trial in 0..trials {
        let mut mean = vec![0.0; 2];
        for agent in 0..agents {
            let mut stream = Stream::new(99, trial * agents + agent);
            let thetas = iterates(&problem, &trajectory(&problem, &mut stream, 101), &eta);
            for (sum, x) in mean.iter_mut().zip(weighted_average(&thetas, &eta)) {
                *sum += x / agents as f64;
            }
        }
        let f = problem.f(&mean);
        sum += f;
        squares += f * f;
    }
    let mean = sum / trials as f64;
    let error = ((squares / trials as f64 - mean * mean) / trials as f64).sqrt();
    let expected = split.bias + split.spread / agents as f64;
    assert!(
        (mean - expected).abs() <= 4.0 * error,
        "{mean} against {expected} +- {error}"
    );
}

/// T41: the threshold of REF-3, and that the spectral radius determines boundedness.
#[test]
fn mean_square_stability() {
    let problem = ref_3();
    let radius = mean_square_radius(&problem, 0.1).unwrap();
    // From 20,000 plain power iterations in another language; the specification's 0.9826484336 stopped slightly early.
    assert!((radius - 0.9826484332400143).abs() < 1e-12, "{radius}");
    let threshold = mean_square_threshold(&problem).unwrap();
    assert!((threshold - 2.28523166).abs() < 1e-8, "{threshold}");
    for seed in 0..12 {
        let problem = random_problem(seed);
        let threshold = mean_square_threshold(&problem).unwrap();
        let radius = mean_square_radius(&problem, threshold).unwrap();
        assert!(
            (radius - 1.0).abs() < 1e-9,
            "seed {seed}: radius {radius} at the threshold"
        );
        // 10 % above the threshold, E|theta_t|^2 eventually grows by the radius each step; 10 % below, it settles.
        for (factor, grows) in [(1.1, true), (0.9, false)] {
            let eta = factor * threshold;
            let radius = mean_square_radius(&problem, eta).unwrap();
            assert_eq!(
                radius > 1.0,
                grows,
                "seed {seed}: radius {radius} at {factor}"
            );
            let mut moments = Moments::new(&problem);
            let enough = (200.0 / (radius - 1.0).abs()).min(60_000.0) as usize;
            let mut last = 0.0;
            for _ in 0..enough {
                last = moments.mean_norm_sq();
                moments.step_weighted(eta, 0.0);
                if !(last < 1e250) {
                    break;
                }
            }
            let growth = moments.mean_norm_sq() / last;
            let expected = radius.max(1.0);
            assert!(
                (growth - expected).abs() < 1e-6,
                "seed {seed}: grows by {growth}, not {expected}"
            );
        }
    }
}
