//! Measures the exact recursion on the paper's ring: one step of all moments, 50 states, d = 5.

#![allow(clippy::unwrap_used, reason = "a bench may panic")]

mod common;

use common::fastest;
use robust_td_core::catalog;
use robust_td_core::moments::Moments;
use robust_td_core::stability::mean_square_threshold;

/// Steps per measured pass.
const STEPS: usize = 1000;

fn main() {
    let problem = catalog::problem("paper-ring", &[]).unwrap();
    let mut moments = Moments::new(&problem);
    let eta = 0.01 / problem.phi_inf().powi(2);
    let pass = fastest(20, || (0..STEPS).for_each(|_| moments.step(eta)));
    println!(
        "one step of all moments {:9.3} us",
        1e6 * pass / STEPS as f64
    );
    let threshold = fastest(5, || mean_square_threshold(&problem).unwrap());
    println!("mean-square threshold   {:9.1} ms", 1e3 * threshold);
}
