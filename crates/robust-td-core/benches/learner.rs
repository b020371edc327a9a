//! Measures streaming learner steps per second, dense and sparse.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use robust_td_core::learner::{Alg1, Features, Learner, Transition, alg1};

/// Steps per measured pass; the feature table is cycled through.
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

fn bench(criterion: &mut Criterion) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut group = criterion.benchmark_group("learner");
    group.throughput(Throughput::Elements(STEPS as u64));

    for dimension in [5, 50, 500] {
        let table: Vec<f64> = (0..ROWS * dimension).map(|_| uniform(&mut rng)).collect();
        let rows: Vec<_> = table.chunks_exact(dimension).map(Features::Dense).collect();
        let fresh = learner(dimension);
        group.bench_function(format!("dense {dimension}"), |bencher| {
            bencher.iter_batched(|| fresh.clone(), |l| pass(l, &rows), BatchSize::SmallInput);
        });
    }

    // Eight ones of 4096, one in each tiling of 512 tiles.
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
    let fresh = learner(4096);
    group.bench_function("sparse 8 of 4096", |bencher| {
        bencher.iter_batched(|| fresh.clone(), |l| pass(l, &rows), BatchSize::SmallInput);
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
