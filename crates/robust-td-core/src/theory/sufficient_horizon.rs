//! Searches for a horizon at which a certificate beats doing nothing.

use super::certify::Certification;
use super::recommend::Recommendation;
use crate::problem::Problem;

/// Chains up to this size are certified again in a moment; larger ones would keep the user waiting.
const MAX_STATES: usize = 200;

/// The longest horizon tried, as a power of ten that fits in 64 bits.
const MAX_EXPONENT: u32 = 19;

impl Certification {
    /// A power of ten at which the recommended `c` is certified to beat `f(0)`, when none is at this horizon.
    ///
    /// Bisects over the exponents: the bound falls with the horizon, so this is the first power of ten or close to it.
    /// `problem` is the one that was certified. `None` where no search is needed or none is affordable: a bound below
    /// `f(0)` already, more than 200 states, or no such horizon below `10^20`.
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
            let recommended = problem
                .certify(horizon, None)
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
