//! Certifies any step sizes by the paper's induction on `|theta_t|`, without its rounding (certificate X).
//!
//! The induction of Theorem 1 carries the bound `E|theta_t|^2 <= X^2`, hence `|theta_t - theta*| <= d0 + X` in mean square,
//! and closes at the root `X*` of `(X - d0)^2 = F(X)`. Then for all `t <= T`
//!
//! ```text
//! E|theta_t|^2 <= X*^2,   E|theta_t - theta*|^2 <= (X* - d0)^2,   E f(avg_T) <= (X* - d0)^2 / (2S)
//! ```
//!
//! It needs only a bound on `|theta*|`, and no horizon condition.

use super::recursion::{Recursion, Solution, closing_radius};
use super::{Certificate, Inputs};
use crate::theory::best_lag::best_lag;
use crate::theory::step_sums::{StepProfile, StepSums};

/// Closes the recursion at one lag. `growth` is [`Inputs::growth`], or 2 as in the paper.
pub fn solve(inputs: &Inputs, growth: f64, sums: &StepSums) -> Solution {
    let square = inputs.phi_inf * inputs.phi_inf;
    let update = inputs.r_inf / inputs.phi_inf;
    let start = inputs.distance;
    let recursion = Recursion {
        square,
        growth,
        start,
        update_at_start: square * update,
        update,
        offset: start,
    };
    let [a0, a1, a2] = recursion.coefficients(sums);
    let radius = closing_radius(a2, 2.0 * start + a1, a0);
    Solution {
        a2,
        distance: radius.map(|radius| radius - start),
    }
}

/// The certificate for the step sizes `eta_t / c` at its best lag, where `unit` holds the sums of `eta_t`.
pub fn certify<F: Fn(u64) -> f64>(
    inputs: &Inputs,
    growth: f64,
    unit: &mut StepProfile<F>,
    c: f64,
) -> Certificate {
    let at = |sums: &StepSums| {
        let sums = sums.scaled(1.0 / c);
        (solve(inputs, growth, &sums), sums.s)
    };
    let best = best_lag(unit, |sums| {
        let (solution, total) = at(sums);
        solution.score(total)
    });
    let (solution, total) = at(&best);
    Certificate::from_solution(inputs, best.lag, total, &solution)
}
