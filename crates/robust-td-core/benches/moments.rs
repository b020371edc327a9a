//! Measures the exact recursion on the paper's ring: one step of all moments, 50 states, d = 5.

#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use robust_td_core::catalog;
use robust_td_core::moments::Moments;
use robust_td_core::stability::mean_square_threshold;

fn exact_recursion(criterion: &mut Criterion) {
    let problem = catalog::problem("paper-ring", &[]).unwrap();
    let mut group = criterion.benchmark_group("exact expectations on paper-ring");
    let mut moments = Moments::new(&problem);
    let eta = 0.01 / problem.phi_inf().powi(2);
    group.throughput(Throughput::Elements(1));
    group.bench_function("one step", |bencher| bencher.iter(|| moments.step(eta)));
    group.sample_size(10);
    group.bench_function("mean-square threshold", |bencher| {
        bencher.iter(|| mean_square_threshold(&problem).unwrap());
    });
    group.finish();
}

criterion_group!(benches, exact_recursion);
criterion_main!(benches);
