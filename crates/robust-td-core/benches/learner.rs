//! Measures streaming learner steps per second, dense and sparse.

mod common;

use std::hint::black_box;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use robust_td_core::learner::{Alg1, Features, Learner, Transition, alg1};

/// Steps per measured pass; they cycle through the feature table.
const STEPS: usize = 10_000;
/// Rows of the feature table.
const ROWS: usize = 64;

fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 * (-53f64).exp2()
}

fn learner(dimension: usize) -> Alg1 {
    let params = alg1::Alg1Params::decaying(0.99, 1_000_000, 1.0, (dimension as f64).sqrt());
    Alg1::new(params, dimension).expect("positive dimension")
}

fn pass(mut learner: Alg1, rows: &[Features<'_>]) -> f64 {
    for t in 0..STEPS {
        let transition = Transition::new(rows[t % ROWS], 1.0, rows[(t + 1) % ROWS]);
        learner.step(black_box(&transition));
    }
    learner.theta()[0]
}

fn report(name: &str, fresh: &Alg1, rows: &[Features<'_>]) {
    let seconds = common::fastest(50, || pass(fresh.clone(), rows));
    println!("{name:16} {:8.1} ns per step", 1e9 * seconds / STEPS as f64);
}

fn main() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for dimension in [5, 50, 500] {
        let table: Vec<f64> = (0..ROWS * dimension).map(|_| uniform(&mut rng)).collect();
        let rows: Vec<_> = table.chunks_exact(dimension).map(Features::Dense).collect();
        report(&format!("dense {dimension}"), &learner(dimension), &rows);
    }

    // Eight active features of 4096, one in each tiling of 512 tiles.
    let indices: Vec<u32> = (0..ROWS as u32 * 8)
        .map(|entry| entry % 8 * 512 + (uniform(&mut rng) * 512.0) as u32)
        .collect();
    let rows: Vec<_> = indices
        .chunks_exact(8)
        .map(|indices| Features::Sparse {
            indices,
            values: &[1.0; 8],
        })
        .collect();
    report("sparse 8 of 4096", &learner(4096), &rows);
}
