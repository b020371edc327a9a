//! Recomputes three points of the paper's Figure 1 and checks them against the printed digits.

use robust_td::sweep::paper_constants;
use robust_td::{Figures, Result, reproduce};

fn main() -> Result<()> {
    // Near the divergence threshold the maximum lies within the first steps, so 30,000 of 10^7 are enough.
    let c = paper_constants();
    let results = reproduce(Figures::First)?
        .constants([c[29], c[30], c[31]])
        .scales([0.0625])
        .simulate(30_000)
        .run()?;
    let printed = [2.9099573e10, 51399.672, 3.9505569];
    for (row, printed) in results.rows().iter().zip(printed) {
        println!(
            "c = {:.6}: ratio {:.8e}, printed {printed:.8e}",
            row.c(),
            row.ratio()
        );
        assert!((row.ratio() / printed - 1.0).abs() < 1e-6);
    }
    Ok(())
}
