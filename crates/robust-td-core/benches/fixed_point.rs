//! Times the exact solution of sparse problems with about 100,000 states: pi, omega, A and theta*.
//!
//! The grid world is eliminated directly, the Garnet chain iterated; see `Chain`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use robust_td_core::catalog;

fn solve(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fixed_point");
    group.sample_size(10);
    let cases: [(&str, &[(&str, f64)]); 2] = [
        ("grid-world", &[("width", 316.0), ("height", 316.0)]),
        ("garnet", &[("states", 100_000.0)]),
    ];
    for (name, settings) in cases {
        group.bench_function(name, |bencher| {
            bencher.iter(|| catalog::problem(black_box(name), settings));
        });
    }
    group.finish();
}

criterion_group!(benches, solve);
criterion_main!(benches);
