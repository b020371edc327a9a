//! Makes random problems for the property tests.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use robust_td::random::Stream;
use robust_td::{Chain, Matrix, Problem, Reward};

/// The discounts that the statements are tested at.
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
            // A third of the transitions cannot happen; the others differ by orders of magnitude.
            if stream.uniform() < 0.67 {
                *entry = stream.uniform().powi(3);
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

/// Random problems for `proptest!`; the seed is what a failure reports.
pub fn problems() -> impl Strategy<Value = (u64, Problem)> {
    any::<u64>().prop_map(|seed| (seed, random_problem(seed)))
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

/// The stepsizes of Algorithm 1.
pub fn robust_steps(problem: &Problem, horizon: u64, c: f64) -> impl Fn(u64) -> f64 + Clone {
    let scale = c * problem.phi_inf().powi(2) * (horizon as f64).ln();
    move |t| 1.0 / (scale * (t as f64 + 3.0).ln() * (t as f64 + 1.0).sqrt())
}

/// REF-2 of the specification: the two-state chain with alpha = 0.6, epsilon = 0.3.
pub fn ref_2() -> Problem {
    let p = Matrix::from_rows(&[[0.2, 0.8], [0.8, 0.2]]).unwrap();
    let r = Matrix::from_rows(&[[0.2, 1.0], [-1.0, 0.4]]).unwrap();
    let phi = Matrix::from_rows(&[[0.3, 1.0], [-0.3, 1.0]]).unwrap();
    let chain = Chain::from_dense(&p).unwrap();
    Problem::new(chain, phi, Reward::PerTransition(r), 0.9, 0).unwrap()
}

/// REF-3 of the specification: three states, two features.
pub fn ref_3() -> Problem {
    let p = Matrix::from_rows(&[[0.5, 0.4, 0.1], [0.1, 0.6, 0.3], [0.6, 0.2, 0.2]]).unwrap();
    let r = Matrix::from_rows(&[[0.0, 1.0, -1.0], [0.5, 0.0, 0.25], [-0.5, 1.0, 0.75]]).unwrap();
    let phi = Matrix::from_rows(&[[1.0, 0.0], [0.5, 0.5], [-0.25, 1.0]]).unwrap();
    let chain = Chain::from_dense(&p).unwrap();
    Problem::new(chain, phi, Reward::PerTransition(r), 0.8, 0).unwrap()
}
