//! Chooses the step size constant `c` that minimises certificate Y.
//!
//! At a fixed lag the problem is a geometric program: with `s = 1/c`, minimise `Y^2/s` subject to
//! `F(Y, s) <= Y^2`, where `F` is a sum of monomials with nonnegative coefficients. Its value is therefore
//! convex in the logarithms, the bound is unimodal in `log c`, and golden-section search finds the minimum.
//! The best lag is found as in [`super::best_lag`].

use super::best_lag::best_lag;
use super::blocks::geometric;
use super::certificate::{Inputs, centred};
use super::step_sums::{StepProfile, StepSums};

/// The search range for `c`; it is dimensionless, since the step sizes carry `phi_inf^2`.
pub const C_RANGE: (f64, f64) = (1e-8, 1e16);

/// Accuracy in `log c` while comparing lags: the bound is then within about `1e-8` of its minimum.
const COARSE: f64 = 1e-4;

/// Accuracy in `log c` of the answer.
const FINE: f64 = 1e-10;

/// The largest number of times that the lag is chosen again; twice is usual.
const MOST_ROUNDS: usize = 32;
/// The largest number of sections: each shortens the interval to 0.62 of its length, so that 150 are below rounding.
const MOST_SECTIONS: usize = 200;

/// The recommended constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recommendation {
    /// The constant.
    pub c: f64,
    /// The bound on `E f(avg_T)` that certificate Y gives with it.
    pub bound: f64,
    /// The lag of the certificate.
    pub lag: u64,
}

/// The `c` that minimises certificate Y for the step sizes `eta_t / c`, where `unit` holds the sums of `eta_t`.
///
/// `None` when no `c` in [`C_RANGE`] is certified.
pub fn recommend<F: Fn(u64) -> f64>(
    inputs: &Inputs,
    unit: &mut StepProfile<F>,
) -> Option<Recommendation> {
    let mut best = over_lags(inputs, unit)?;
    // The lags were compared at a coarse c; at the fine one a neighbour may be slightly better.
    for _ in 0..MOST_ROUNDS {
        let at_c = |sums: &StepSums| {
            let sums = sums.scaled(1.0 / best.c);
            centred::solve(inputs, &sums).score(sums.s)
        };
        let sums = best_lag(unit, at_c);
        let next = over_c(inputs, &sums, FINE)?;
        if !(next.bound < best.bound) || next.lag == best.lag {
            return Some(if next.bound <= best.bound { next } else { best });
        }
        best = next;
    }
    Some(best)
}

/// The best lag with its constant: first among lags spaced by a thousandth, then among all near the winner.
fn over_lags<F: Fn(u64) -> f64>(
    inputs: &Inputs,
    unit: &mut StepProfile<F>,
) -> Option<Recommendation> {
    let spaced: Vec<u64> = geometric(0, unit.max_lag() + 1)
        .map(|(lag, _)| lag)
        .collect();
    let winner = among(inputs, unit, &spaced)?.lag;
    let reach = winner / 256;
    let near: Vec<u64> = (winner - reach..=unit.max_lag().min(winner + reach)).collect();
    among(inputs, unit, &near)
}

/// The best of some lags (in increasing order), refined from below as in [`best_lag`].
fn among<F: Fn(u64) -> f64>(
    inputs: &Inputs,
    unit: &mut StepProfile<F>,
    lags: &[u64],
) -> Option<Recommendation> {
    // A lag made exact changes the sums between its neighbours only; the others keep their constants.
    let mut known: Vec<Option<(StepSums, Option<Recommendation>)>> = vec![None; lags.len()];
    loop {
        let mut wanted = lags.iter().copied().peekable();
        let best = unit
            .from_below()
            .filter(|sums| wanted.next_if_eq(&sums.lag).is_some())
            .zip(&mut known)
            .filter_map(|(sums, known)| match known {
                Some((of, best)) if *of == sums => *best,
                _ => known.insert((sums, over_c(inputs, &sums, COARSE))).1,
            })
            .min_by(|x, y| x.bound.total_cmp(&y.bound))?;
        if unit.is_known(best.lag) {
            return over_c(inputs, &unit.at(best.lag), FINE);
        }
        unit.at(best.lag);
    }
}

/// The best constant at one lag, by golden-section search in `log c`.
fn over_c(inputs: &Inputs, sums: &StepSums, tolerance: f64) -> Option<Recommendation> {
    let bound = |log_c: f64| {
        let sums = sums.scaled((-log_c).exp());
        centred::solve(inputs, &sums)
            .bound(sums.s)
            .unwrap_or(f64::INFINITY)
    };
    let from = centred::smallest_c(inputs, sums).max(C_RANGE.0).ln();
    let to = C_RANGE.1.ln();
    if !(from < to) {
        return None;
    }
    let log_c = golden_section(bound, from, to, tolerance);
    let value = bound(log_c);
    value.is_finite().then_some(Recommendation {
        c: log_c.exp(),
        bound: value,
        lag: sums.lag,
    })
}

/// The minimiser of a unimodal function on `[low, high]`.
fn golden_section(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64, tolerance: f64) -> f64 {
    const SECTION: f64 = 0.618_033_988_749_894_9;
    let mut left = high - SECTION * (high - low);
    let mut right = low + SECTION * (high - low);
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..MOST_SECTIONS {
        if !(high - low > tolerance) {
            break;
        }
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - SECTION * (high - low);
            at_left = f(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + SECTION * (high - low);
            at_right = f(right);
        }
    }
    if at_left < at_right { left } else { right }
}
