//! Measures whether logarithms are slower after a call of the linear-algebra crate than before it.
//!
//! Assembly that leaves the upper halves of the vector registers dirty slows down the scalar code that follows; see
//! docs/upstream-vzeroupper.md. A ratio near 1 is good. Without the fix in `linalg.rs` it is about 5.

#![allow(clippy::unwrap_used, reason = "a bench may panic")]

mod common;

use std::hint::black_box;

use common::fastest;
use robust_td_core::theory::lemma_sums::shape;
use robust_td_core::{Mixing, catalog};

/// The time of a block of logarithms.
fn logarithms() -> f64 {
    fastest(40, || (0..100_000_u64).map(shape).sum::<f64>())
}

fn main() {
    let problem = catalog::problem("paper-ring", &[]).unwrap();
    let before = logarithms();
    // Eigenvalues and products of 50 x 50 matrices.
    black_box(Mixing::of(problem.chain()).unwrap().unwrap());
    let after = logarithms();
    println!(
        "logarithms after linear algebra / before: {:.2}",
        after / before
    );
}
