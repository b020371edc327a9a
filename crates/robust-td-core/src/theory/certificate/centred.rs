//! Certifies any step sizes by an induction on `|theta_t - theta*|` (certificate Y, the recommended one).
//!
//! Around the solution an update is at most `Gs + kap ph^2 |theta - theta*|`, with `Gs = max |g(theta*; s,s')|` and `kap = 1 + gamma`.
//! The induction carries `E|theta_t - theta*|^2 <= Y^2` and closes at the root `Y*` of `Y^2 = F(Y)`. Then for all `t <= T`
//!
//! ```text
//! E|theta_t - theta*|^2 <= Y*^2,   E f(avg_T) <= Y*^2 / (2S)
//! ```
//!
//! With Algorithm 1's step sizes every coefficient of `F` carries a factor `1/log T`, so that *every* `c > 0` is certified for
//! large `T`: the threshold `c_0` belongs to finite horizons and to the paper's rounding.

use super::recursion::{Recursion, Solution, closing_radius};
use super::{Certificate, Inputs};
use crate::theory::best_lag::best_lag;
use crate::theory::step_sums::{StepProfile, StepSums};

fn recursion(inputs: &Inputs) -> Recursion {
    let square = inputs.phi_inf * inputs.phi_inf;
    Recursion {
        square,
        growth: inputs.growth(),
        start: inputs.distance,
        update_at_start: inputs.update_at_start,
        update: inputs.update_at_solution / square,
        offset: 0.0,
    }
}

/// Closes the recursion at one lag.
pub fn solve(inputs: &Inputs, sums: &StepSums) -> Solution {
    let [a0, a1, a2] = recursion(inputs).coefficients(sums);
    Solution {
        a2,
        distance: closing_radius(a2, a1, inputs.distance.powi(2) + a0),
    }
}

/// The infimum of the `c` for which the step sizes `eta_t / c` close the recursion, where `sums` are those of `eta_t`.
///
/// `A2` is `e/c + w/c^2`; it falls to 1 at `c = (e + sqrt(e^2 + 4w))/2`.
pub fn smallest_c(inputs: &Inputs, sums: &StepSums) -> f64 {
    let recursion = recursion(inputs);
    let bias = StepSums {
        w1: 0.0,
        w2: 0.0,
        h: 0.0,
        ..*sums
    };
    let drift = StepSums {
        e1: 0.0,
        e2: 0.0,
        ..*sums
    };
    let e = recursion.coefficients(&bias)[2];
    let w = recursion.coefficients(&drift)[2];
    0.5 * (e + (e * e + 4.0 * w).sqrt())
}

/// The certificate for the step sizes `eta_t / c` at its best lag, where `unit` holds the sums of `eta_t`.
pub fn certify<F: Fn(u64) -> f64>(
    inputs: &Inputs,
    unit: &mut StepProfile<F>,
    c: f64,
) -> Certificate {
    let at = |sums: &StepSums| {
        let sums = sums.scaled(1.0 / c);
        (solve(inputs, &sums), sums.s)
    };
    let best = best_lag(unit, |sums| {
        let (solution, total) = at(sums);
        solution.score(total)
    });
    let (solution, total) = at(&best);
    Certificate::from_solution(inputs, best.lag, total, &solution)
}
