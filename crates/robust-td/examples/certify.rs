//! Computes what is proved about Algorithm 1 on a problem, and compares it with the exact expectation.

use robust_td::schedule::{RobustDecay, Schedule};
use robust_td::{Result, catalog, moments};

fn main() -> Result<()> {
    let problem = catalog::problem("two-state", &[("epsilon", 0.5)])?;
    let horizon = 100_000;

    // Without a c, the certificate chooses the one with the smallest bound.
    let certified = problem.certify(horizon, None)?;
    let (c, bounds) = (
        certified.c.expect("a c"),
        certified.mixing.expect("two states"),
    );
    let bound = bounds.y.and_then(|y| y.bound).expect("certificate Y");

    let steps = RobustDecay::new(horizon, c, problem.phi_inf())?;
    let exact = moments::expectation(&problem, horizon, |t| steps.step_size(t));
    println!("c = {c:.3}");
    println!("proved: E f <= {bound:.4}");
    println!("exact:  E f  = {:.6}", exact.f_of_average);
    println!("f(0)         = {:.4}", problem.f_zero());
    assert!(exact.f_of_average <= bound);
    Ok(())
}
