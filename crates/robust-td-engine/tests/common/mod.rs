//! Builds the published problem and plans for tests and benches.
#![allow(dead_code, reason = "each test uses a part")]
#![allow(clippy::unwrap_used, reason = "a test helper, also used by the bench")]

use robust_td_core::random::Dsfmt;
use robust_td_core::{Chain, Matrix, Problem, Reward};
use robust_td_engine::grid::published_c;
use robust_td_engine::plan::{Family, Lane, Mode, Plan};
use robust_td_engine::tables::Tables;

/// The published ring at a feature scale: at most 1 it scales column 0, above 1 all columns.
pub fn ring(scale: f64) -> Tables {
    Tables::from(&ring_problem(scale))
}

/// See [`ring`].
pub fn ring_problem(scale: f64) -> Problem {
    let (n, d) = (50, 5);
    let transition = Matrix::from_fn(n, n, |i, j| {
        if j == i {
            0.1
        } else if j == (i + 1) % n {
            0.6
        } else if j == (i + n - 1) % n {
            0.3
        } else {
            0.0
        }
    });
    let mut rewards = vec![0.0; n * n];
    Dsfmt::new(114514).fill(&mut rewards);
    let mut features = vec![0.0; n * d];
    Dsfmt::new(114514).fill(&mut features);
    let phi = |i: usize, j: usize| {
        let factor = if scale > 1.0 || j == 0 { scale } else { 1.0 };
        features[j * n + i] * 10.0 * factor
    };
    let problem = Problem::new(
        Chain::from_dense(&transition).unwrap(),
        Matrix::from_fn(n, d, phi),
        Reward::PerTransition(Matrix::from_fn(n, n, |i, j| rewards[j * n + i])),
        0.99,
        0,
    );
    problem.unwrap()
}

/// The sweep of the paper over some c, all three scales and both figures.
pub fn paper_plan(mode: Mode, c: &[f64], runs: usize, horizon: u64, simulate: u64) -> Plan {
    let variants = [0.0625, 1.0, 16.0].map(ring).to_vec();
    let mut lanes = Vec::new();
    for family in [Family::Decaying, Family::Constant] {
        for variant in 0..variants.len() {
            lanes.extend(c.iter().map(|&c| Lane::new(variant, family, c)));
        }
    }
    Plan {
        variants,
        lanes,
        runs,
        horizon,
        simulate,
        mode,
        curve_points_per_decade: 10,
    }
}

/// The published c at some indices.
pub fn c_of(indices: &[usize]) -> Vec<f64> {
    let grid = published_c();
    indices.iter().map(|&i| grid[i]).collect()
}

/// A random problem: a sparse irreducible chain with a self-loop, random rewards and features.
pub fn random_tables(seed: u64, states: usize, dimension: usize) -> Tables {
    Tables::from(&random_problem(seed, states, dimension))
}

/// See [`random_tables`].
pub fn random_problem(seed: u64, states: usize, dimension: usize) -> Problem {
    let mut stream = robust_td_core::random::Stream::new(seed, 0);
    let mut rows = Vec::with_capacity(states);
    for s in 0..states {
        let mut row = vec![0.0; states];
        row[s] += 0.1 + stream.uniform();
        row[(s + 1) % states] += 0.1 + stream.uniform();
        for _ in 0..(3.0 * stream.uniform()) as usize {
            row[(stream.uniform() * states as f64) as usize] += stream.uniform();
        }
        let sum: f64 = row.iter().sum();
        rows.push(row.into_iter().map(|p| p / sum).collect::<Vec<f64>>());
    }
    let transition = Matrix::from_rows(&rows).unwrap();
    let uniforms: Vec<f64> = (0..states * (states + dimension))
        .map(|_| 2.0 * stream.uniform() - 1.0)
        .collect();
    Problem::new(
        Chain::from_dense(&transition).unwrap(),
        Matrix::from_fn(states, dimension, |i, j| uniforms[i * dimension + j]),
        Reward::PerTransition(Matrix::from_fn(states, states, |i, j| {
            uniforms[states * dimension + i * states + j]
        })),
        0.9,
        states / 2,
    )
    .unwrap()
}
