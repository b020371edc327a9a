//! Generates random problems for the property tests.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use robust_td_core::random::Stream;
use robust_td_core::simulate::Sampler;
use robust_td_core::{Chain, Matrix, Problem, Reward, catalog};

/// The discounts used in the tests.
pub const DISCOUNTS: [f64; 4] = [0.0, 0.3, 0.9, 0.99];

/// A random problem: 3 to 7 states, up to 4 features, some transitions missing, curvature at least 1e-8.
pub fn random_problem(seed: u64) -> Problem {
    (0..)
        .map(|attempt| Stream::new(seed, attempt))
        .find_map(|mut stream| attempt_problem(&mut stream))
        .expect("one of the attempts is a valid problem")
}

fn attempt_problem(stream: &mut Stream) -> Option<Problem> {
    let mut below = |n: usize| (stream.uniform() * n as f64) as usize;
    let n = 3 + below(5);
    let d = 1 + below(n.min(4));
    let discount = DISCOUNTS[below(4)];
    let start = below(n);
    let mut rows = vec![vec![0.0; n]; n];
    for row in &mut rows {
        for entry in row.iter_mut() {
            // A third of the transitions cannot happen. The others differ by orders of magnitude, but not so much that
            // the chain mixes extremely slowly.
            if stream.uniform() < 0.67 {
                *entry = 1e-3 + stream.uniform().powi(3);
            }
        }
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|entry| *entry /= sum);
    }
    let chain = Chain::from_dense(&Matrix::from_rows(&rows).ok()?).ok()?;
    let mut table = |columns: usize, size: f64| {
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|_| {
                (0..columns)
                    .map(|_| size * (2.0 * stream.uniform() - 1.0))
                    .collect()
            })
            .collect();
        Matrix::from_rows(&rows)
    };
    let rewards = table(n, 2.0).ok()?;
    let features = table(d, 1.5).ok()?;
    let reward = Reward::PerTransition(rewards);
    let problem = Problem::new(chain, features, reward, discount, start).ok()?;
    (problem.omega() >= 1e-8).then_some(problem)
}

/// Random problems for `proptest!`; a failure reports the seed.
pub fn problems() -> impl Strategy<Value = (u64, Problem)> {
    any::<u64>().prop_map(|seed| (seed, random_problem(seed)))
}

/// A uniform number in `[low, high)`.
pub fn between(stream: &mut Stream, low: f64, high: f64) -> f64 {
    low + (high - low) * stream.uniform()
}

/// A vector with entries in [-size, size].
pub fn random_vector(stream: &mut Stream, dimension: usize, size: f64) -> Vec<f64> {
    (0..dimension)
        .map(|_| size * (2.0 * stream.uniform() - 1.0))
        .collect()
}

/// `|x - y|`.
pub fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter()
        .zip(y)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// `|x|`.
pub fn norm(x: &[f64]) -> f64 {
    x.iter().map(|a| a * a).sum::<f64>().sqrt()
}

/// `x . y`.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// Whether two numbers agree relative to `max(1, |expected|)`.
pub fn close(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs().max(1.0)
}

/// The step sizes of Algorithm 1.
pub fn robust_steps(problem: &Problem, horizon: u64, c: f64) -> impl Fn(u64) -> f64 + Clone {
    let scale = c * problem.phi_inf().powi(2) * (horizon as f64).ln();
    move |t| 1.0 / (scale * (t as f64 + 3.0).ln() * (t as f64 + 1.0).sqrt())
}

/// REF-2 of the specification.
pub fn ref_2() -> Problem {
    catalog::problem("ref-2", &[]).unwrap()
}

/// REF-3 of the specification.
pub fn ref_3() -> Problem {
    catalog::problem("ref-3", &[]).unwrap()
}

/// The first `count` states of a trajectory from the start state.
pub fn trajectory(problem: &Problem, stream: &mut Stream, count: usize) -> Vec<usize> {
    Sampler::new(problem).trajectory(problem.start(), count - 1, stream)
}

/// The iterates of TD(0) with step sizes `eta` along `states`, from 0.
pub fn iterates(problem: &Problem, states: &[usize], eta: impl Fn(u64) -> f64) -> Vec<Vec<f64>> {
    let mut thetas = vec![vec![0.0; problem.dimension()]];
    for (t, pair) in states.windows(2).enumerate() {
        let theta = &thetas[t];
        let g = problem.update(theta, pair[0], pair[1]);
        let step = eta(t as u64);
        thetas.push(theta.iter().zip(&g).map(|(x, g)| x + step * g).collect());
    }
    thetas
}

/// The eta-weighted average of `theta_0, ..., theta_{T-1}`, by its definition.
pub fn weighted_average(thetas: &[Vec<f64>], eta: impl Fn(u64) -> f64) -> Vec<f64> {
    let mut sum = vec![0.0; thetas[0].len()];
    let mut total = 0.0;
    for (t, theta) in thetas[..thetas.len() - 1].iter().enumerate() {
        let weight = eta(t as u64);
        sum.iter_mut()
            .zip(theta)
            .for_each(|(sum, x)| *sum += weight * x);
        total += weight;
    }
    sum.iter().map(|x| x / total).collect()
}
