//! Looks for a horizon at which the certificates say more than doing nothing achieves.

use robust_td_core::Problem;
use robust_td_core::theory::{self, Certification, Recommendation};

/// Chains up to this size are certified again in a moment; larger ones would keep the user waiting.
const MAX_STATES: usize = 200;

/// The longest horizon tried, as a power of ten that fits in 64 bits.
const MAX_EXPONENT: u32 = 19;

/// A power of ten at which the recommended c is certified to beat `f(0)`, when this horizon has none.
///
/// Bisects over the exponents: the bound falls with the horizon, so this is the first power of ten or close to it.
pub fn horizon_that_beats_zero(
    problem: &Problem,
    certification: &Certification,
) -> Option<(u64, Recommendation)> {
    let bounds = certification.mixing.as_ref().ok()?;
    let beats = |recommended: &Recommendation| recommended.bound < certification.f_zero;
    if !(certification.f_zero > 0.0)
        || bounds.recommended.as_ref().is_some_and(beats)
        || problem.states() > MAX_STATES
    {
        return None;
    }
    let (mut short, mut long) = (certification.horizon.ilog10(), MAX_EXPONENT + 1);
    let mut found = None;
    while long - short > 1 {
        let middle = short.midpoint(long);
        let horizon = 10_u64.pow(middle);
        let recommended = theory::certify(problem, horizon, None)
            .ok()
            .and_then(|certification| certification.mixing.ok()?.recommended);
        match recommended.filter(beats) {
            Some(recommended) => {
                found = Some((horizon, recommended));
                long = middle;
            }
            None => short = middle,
        }
    }
    found
}
