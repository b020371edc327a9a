//! Certifies Algorithm 1 by the paper's own steps, with explicit constants (certificate P).
//!
//! For `c > c_0`, `theta_0 = 0` and a long enough horizon, with `m = max(r_inf/phi_inf, |theta*|)`, for all `t <= T`
//!
//! ```text
//! E|theta_t|^2 <= rho_c^2 m^2,   E|theta_t - theta*|^2 <= (rho_c - 1)^2 m^2
//! E f(avg_T) <= (rho_c - 1)^2 m^2 / (2S)                                                        (P1)
//!            <= c (rho_c - 1)^2 phi_inf^2 m^2 log^2(T+3) / (4 (sqrt(T+1) - 1))                  (P2)
//! ```
//!
//! The right side of the telescoped recursion is `m^2 (1 + (28+36rho+30rho^2)/c + (114+434rho+423rho^2)/c^2)`, which is
//! `m^2 (rho_c-1)^2` by the equation that defines `rho_c`: what closes the induction is the numerator of the rate
//! (arXiv:2506.01052, Theorem 1 and Corollary 1, which hold in expectation).

use super::{Certificate, Hypothesis, Inputs, Relation};
use crate::number::short;
use crate::theory::constants::{C0, rho};
use crate::theory::horizon::Horizon;

/// The horizon condition of Theorem 1 as printed; the certificate itself needs only the relaxed one.
pub fn printed_condition(conditions: &Horizon) -> Hypothesis {
    Hypothesis::new(
        "log T (the paper's own condition, 2/log^3(1/alpha))",
        Relation::AtLeast,
        conditions.paper_required_log_t,
        conditions.log_t,
    )
}

/// The numerator `(rho_c - 1)^2 m^2`, which also bounds `E|theta_t - theta*|^2`; `None` unless `c > c_0`.
pub fn iterate_bound(inputs: &Inputs, c: f64) -> Option<f64> {
    rho(c).map(|rho| ((rho - 1.0) * inputs.scale()).powi(2))
}

/// The closed form P2; `None` unless `c > c_0`.
pub fn closed_form(inputs: &Inputs, horizon: u64, c: f64) -> Option<f64> {
    let t = horizon as f64;
    let rate = (t + 3.0).ln().powi(2) / (4.0 * ((t + 1.0).sqrt() - 1.0));
    iterate_bound(inputs, c).map(|numerator| c * inputs.phi_inf.powi(2) * numerator * rate)
}

/// The closed form for the constant step `1/(c phi_inf^2 log T log(T+3) sqrt(T+1))` with a uniform average.
///
/// This step is below Algorithm 1's at every `t < T` and every sum in the proof grows with the step sizes.
pub fn constant_step_closed_form(inputs: &Inputs, horizon: u64, c: f64) -> Option<f64> {
    let t = horizon as f64;
    let rate = t.ln() * (t + 3.0).ln() * (t + 1.0).sqrt() / (2.0 * t);
    iterate_bound(inputs, c).map(|numerator| c * inputs.phi_inf.powi(2) * numerator * rate)
}

/// The certificate P1 for Algorithm 1 with constant `c`, where `unit_total` is the sum of its step sizes for `c = 1`.
pub fn certify(
    inputs: &Inputs,
    horizon: u64,
    conditions: &Horizon,
    unit_total: f64,
    c: f64,
) -> Certificate {
    let iterate_bound = iterate_bound(inputs, c);
    Certificate {
        bound: iterate_bound.map(|numerator| numerator * c / (2.0 * unit_total)),
        iterate_bound,
        norm_bound: rho(c).map(|rho| (rho * inputs.scale()).powi(2)),
        lag: Some(conditions.lag),
        a2: None,
        hypotheses: vec![
            Hypothesis::new("c", Relation::Above, C0, c),
            Hypothesis::new("T", Relation::AtLeast, 3.0, horizon as f64),
            long_horizon(conditions),
        ],
    }
}

/// The horizon condition: the relaxed one suffices; the text also states the paper's.
fn long_horizon(conditions: &Horizon) -> Hypothesis {
    Hypothesis {
        name: format!(
            "log^2 T (relaxed condition, u_T + 1; the paper's own needs log T >= {})",
            short(conditions.paper_required_log_t)
        ),
        relation: Relation::AtLeast,
        needed: conditions.lag as f64 + 1.0,
        had: conditions.log_t.powi(2),
        holds: conditions.paper_holds || conditions.relaxed_holds,
    }
}
