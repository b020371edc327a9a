//! Times the exact solution of sparse problems with about 100,000 states: pi, omega, A and theta*.
//!
//! The grid world is solved by elimination, the Garnet chain by iteration; see `Chain`.

#![allow(clippy::unwrap_used, reason = "a bench may panic")]

mod common;

use robust_td_core::catalog;

fn main() {
    let cases: [(&str, &[(&str, f64)]); 2] = [
        ("grid-world", &[("width", 316.0), ("height", 316.0)]),
        ("garnet", &[("states", 100_000.0)]),
    ];
    for (name, settings) in cases {
        let seconds = common::fastest(5, || catalog::problem(name, settings).unwrap());
        println!("fixed point of {name:12} {:9.1} ms", 1e3 * seconds);
    }
}
