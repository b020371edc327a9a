//! Runs methods side by side on the same trajectories and ranks them.

use robust_td::{Result, catalog, compare};

fn main() -> Result<()> {
    let problem = catalog::problem("two-state", &[("alpha", 0.9), ("epsilon", 0.1)])?;
    let results = compare(&problem)
        .algorithms(["alg1:c=0.05", "alg1-auto", "lstd", "bhandari-a"])
        .horizon(50_000)
        .runs(16)
        .run()?;
    for (method, score) in results.ranked() {
        println!(
            "{:12} f = {:.2e} +- {:.0e}",
            method.label, score.f.mean, score.f.standard_error
        );
    }
    assert_eq!(results.ranked()[0].0.label, "lstd");
    Ok(())
}
