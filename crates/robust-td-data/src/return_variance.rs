//! Reports the standard deviation of the return from a start.

use serde::Serialize;

use robust_td_core::Features;
use robust_td_core::spread::Spread;

use crate::solved::Solved;

/// How much the discounted return from a random start varies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReturnVariance {
    /// The standard deviation of the return; NaN if the estimate of the variance is negative.
    pub standard_deviation: f64,
    /// The ends of its interval; infinite where it is not known.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The variance of the return: `within` + `between`.
    pub variance: f64,
    /// The mean over the starts of the variance of the return from the same start.
    pub within: f64,
    /// The variance of the value over the starts.
    pub between: f64,
    /// The number of starts.
    pub starts: u64,
    /// The standard deviation of the returns of episodes, if all of them are complete.
    pub observed: Option<f64>,
}

impl ReturnVariance {
    /// The variance at a confidence in (0, 1), if it was solved for.
    pub(crate) fn of(solved: &Solved, confidence: f64) -> Option<Self> {
        let (found, starts) = (solved.variance.as_ref()?, &solved.assessment.starts);
        let variance = found.within + found.between;
        let known = solved.assessment.converged() && starts.count > 1 && variance > 0.0;
        let spread = match known {
            true => found.spread(Features::Dense(&starts.features)),
            false => None,
        };
        let sides = spread.unwrap_or(Spread::UNKNOWN).trusted_sides(confidence);
        let (low, high) = (variance - sides.below, variance + sides.above);
        Some(Self {
            // A negative variance has no root.
            standard_deviation: variance.sqrt(),
            lower: if sides.below.is_finite() {
                low.max(0.0).sqrt()
            } else {
                f64::NEG_INFINITY
            },
            upper: if sides.above.is_finite() {
                high.sqrt()
            } else {
                f64::INFINITY
            },
            variance,
            within: found.within,
            between: found.between,
            starts: starts.count,
            observed: observed(solved),
        })
    }
}

/// The standard deviation of the returns of complete episodes, if no episode is cut.
fn observed(solved: &Solved) -> Option<f64> {
    let complete = solved.assessment.complete.as_ref()?;
    let whole = solved.assessment.starts.episodic
        && complete.cut == 0
        && complete.units == complete.episodes
        && complete.episodes > 1;
    whole.then(|| (complete.spread / (complete.episodes as f64 - 1.0)).sqrt())
}
