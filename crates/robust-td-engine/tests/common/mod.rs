//! Builds the published problem and plans for tests and benches.
#![allow(dead_code, reason = "each test uses a part")]

use robust_td::random::Dsfmt;
use robust_td::{Chain, Matrix, Problem, Reward};
use robust_td_engine::grid::published_c;
use robust_td_engine::plan::{Family, Lane, Mode, Plan};
use robust_td_engine::tables::Tables;

/// The published ring at a feature scale: below 1 it scales column 0, above 1 all columns.
pub fn ring(scale: f64) -> Tables {
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
    Tables::from(&problem.unwrap())
}

/// The sweep of the paper over some c, all three scales and both figures.
pub fn paper_plan(mode: Mode, c: &[f64], runs: usize, horizon: u64, simulate: u64) -> Plan {
    let variants = [0.0625, 1.0, 16.0].map(ring).to_vec();
    let mut lanes = Vec::new();
    for family in [Family::Decaying, Family::Constant] {
        for variant in 0..variants.len() {
            lanes.extend(c.iter().map(|&c| Lane { variant, family, c }));
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

/// The published c of some indices.
pub fn c_of(indices: &[usize]) -> Vec<f64> {
    let grid = published_c();
    indices.iter().map(|&i| grid[i]).collect()
}
