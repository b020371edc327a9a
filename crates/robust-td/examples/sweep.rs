//! Sweeps the step size constant c and finds where Algorithm 1 starts to diverge.

use robust_td::{Result, Sweep, catalog, logspace};

fn main() -> Result<()> {
    let problem = catalog::problem("two-state", &[("epsilon", 0.3)])?;
    let sweep = Sweep::new(&problem)
        .constants(logspace(1e-4, 1e2, 3))
        .runs(16)
        .horizon(20_000)
        .run()?;
    println!("         c   diverged          gap");
    for row in sweep.rows() {
        let rate = row.divergence_rate().unwrap_or_default();
        println!("{:10.4e}  {rate:8.2}  {:11.3e}", row.c(), row.gap());
    }
    let (first, last) = (&sweep.rows()[0], &sweep.rows()[18]);
    assert_eq!(
        (first.divergence_rate(), last.divergence_rate()),
        (Some(1.0), Some(0.0))
    );
    Ok(())
}
