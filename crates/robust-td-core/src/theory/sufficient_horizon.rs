//! Searches for a horizon at which a certificate beats the trivial bound f(0).

use super::certify::{Certification, certification};
use super::recommend::Recommendation;
use crate::problem::Problem;

/// Chains up to this size are certified quickly; larger ones would take too long.
const MAX_STATES: usize = 200;

/// The longest horizon tried, as a power of ten that fits in 64 bits.
const MAX_EXPONENT: u32 = 19;

impl Certification {
    /// A power of ten at which the recommended `c` is certified to beat `f(0)`, if none is at this horizon.
    ///
    /// Bisects over the exponents: the bound falls with the horizon, so this is the first such power of ten or close to it.
    /// `problem` must be the certified problem. `None` if no search is needed (the bound is below `f(0)` already), the search is too
    /// expensive (more than 200 states), or no such horizon exists below `10^20`.
    pub fn sufficient_horizon(&self, problem: &Problem) -> Option<(u64, Recommendation)> {
        let bounds = self.mixing.as_ref().ok()?;
        let f_zero = self.constants.f_zero;
        let beats = |recommended: &Recommendation| recommended.bound < f_zero;
        if !(f_zero > 0.0)
            || bounds.recommended.as_ref().is_some_and(beats)
            || problem.states() > MAX_STATES
        {
            return None;
        }
        let (mut short, mut long) = (self.horizon.ilog10(), MAX_EXPONENT + 1);
        let mut found = None;
        while long - short > 1 {
            let middle = short.midpoint(long);
            let horizon = 10_u64.pow(middle);
            let recommended = certification(problem, horizon, None, false)
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
}
