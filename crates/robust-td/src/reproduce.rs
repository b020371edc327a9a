//! Recomputes the figures of Lee and Orabona (arXiv:2506.01052).

pub use crate::paper::{PrintedPoint, printed_points};

use crate::error::Result;
use crate::paper::{FIGURE_1, FIGURE_2};
use crate::sweep::Sweep;

/// Which figures of the paper.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Figures {
    /// Figure 1: decaying step sizes.
    First,
    /// Figure 2: constant step sizes.
    Second,
    /// Both, on the same trajectories.
    #[default]
    All,
}

/// The sweep behind the paper's figures, at full size and in mode `published`.
///
/// At full size [`SweepResults::agreement`](crate::sweep::SweepResults::agreement) compares the results with the printed points.
///
/// ```
/// use robust_td::reproduce::{Figures, reproduce};
/// use robust_td::sweep::paper_constants;
///
/// let c = paper_constants()[31];
/// let results = reproduce(Figures::First)?.constants([c]).simulate(30_000).run()?;
/// // The ratio peaks within the first steps: it is the printed one already.
/// assert!((results.rows()[0].ratio() / 3.9505569 - 1.0).abs() < 1e-6);
/// # Ok::<(), robust_td::Error>(())
/// ```
///
/// # Errors
/// None in practice: the specs are part of the library.
pub fn reproduce(figures: Figures) -> Result<Sweep<'static>> {
    let first = || Sweep::from_toml(FIGURE_1, "");
    let second = || Sweep::from_toml(FIGURE_2, "").map(|sweep| sweep.numbered_from(2));
    match figures {
        Figures::First => first(),
        Figures::Second => second(),
        Figures::All => Ok(first()?.with_figures_of(second()?)),
    }
}
