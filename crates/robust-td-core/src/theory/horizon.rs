//! Decides whether a horizon is long enough for the bounded-iterates theorem.
//!
//! The theorem assumes `d(t) <= C alpha^t` with `1 < C <= 2` and `alpha` in `[1/2, 1)`, and a horizon with
//!
//! ```text
//! paper:    log T >= 2 / log^3(1/alpha)                 (arXiv:2506.01052, Theorem 1)
//! relaxed:  T >= 3 and u_T + 1 <= log^2 T,  u_t = ceil( log(2 sqrt t) / log(1/alpha) )
//! ```
//!
//! The relaxed condition gives the same `c_0` and the same `rho_c`: the paper bounds the third line of its bias
//! lemma by `3 (u+1)^(3/2)` where the sum is in fact at most `1.614 (u+1)`
//! (see [`super::lemma_sums::double_sum`]).

use std::f64::consts::LN_2;

use crate::theory::lemma_sums::Sides;

/// The mixing time `tau(eps) = min{ t in N : C alpha^t <= eps }`.
///
/// `None` unless `alpha` is in `(0, 1)` and `C`, `eps` are positive. The closed form
/// `max(0, ceil(log(C/eps)/log(1/alpha)))` is corrected by the definition, since rounding may
/// push an exact integer over the edge.
pub fn tau(constant: f64, alpha: f64, eps: f64) -> Option<u64> {
    if !(alpha > 0.0 && alpha < 1.0 && constant > 0.0 && eps > 0.0) {
        return None;
    }
    let reached = |t: u64| constant * alpha.powf(t as f64) <= eps;
    let guess = ((constant / eps).ln() / -alpha.ln()).ceil().max(0.0) as u64;
    if guess > 0 && reached(guess - 1) {
        Some(guess - 1)
    } else if reached(guess) {
        Some(guess)
    } else {
        Some(guess.saturating_add(1))
    }
}

/// The condition under which bounds with `tau(1/sqrt T)` are free of `C` and `alpha`: if `log T >= 1/log(1/alpha)` and
/// `sqrt T >= C`, then `tau(1/sqrt T) <= log^2 T + 1` (arXiv:2506.01052, appendix on mixing).
///
/// Returns both sides, or `None` when the condition fails or a value is out of range.
pub fn free_of_mixing(horizon: u64, constant: f64, alpha: f64) -> Option<Sides> {
    let (log_t, root) = ((horizon as f64).ln(), (horizon as f64).sqrt());
    let tau = tau(constant, alpha, 1.0 / root)?;
    (log_t >= 1.0 / -alpha.ln() && root >= constant).then_some(Sides {
        left: tau as f64,
        right: log_t * log_t + 1.0,
    })
}

/// The lag `u_t = ceil( log(2 sqrt t) / log(1/alpha) )`, the first `u` with `2 alpha^u <= 1/sqrt t`.
///
/// `None` unless `t >= 1` and `alpha` is in `(0, 1)`.
pub fn lag_at(t: f64, alpha: f64) -> Option<u64> {
    if !(t >= 1.0) {
        return None;
    }
    // The slack keeps rounding from adding a step when `2 alpha^u` meets `1/sqrt t` exactly, as at t = 2^k.
    tau(2.0, alpha, (1.0 + 1e-12) / t.sqrt())
}

/// The lag `u_T` of a horizon given by its logarithm, for horizons beyond the range of f64.
pub fn lag_at_log(log_t: f64, alpha: f64) -> Option<u64> {
    if !(alpha > 0.0 && alpha < 1.0 && log_t >= 0.0) {
        return None;
    }
    Some(((LN_2 + 0.5 * log_t) / -alpha.ln()).ceil() as u64)
}

/// The smallest `log T` that the paper allows: `2 / log^3(1/alpha)`; infinite when `alpha >= 1`.
pub fn paper_required_log_t(alpha: f64) -> f64 {
    if !(alpha < 1.0) {
        return f64::INFINITY;
    }
    2.0 / (-alpha.ln()).powi(3)
}

/// A `log T` beyond which the relaxed condition always holds; infinite when `alpha >= 1`.
///
/// It is the positive root of `L^2 = (log 2 + L/2)/log(1/alpha) + 2`, where the ceiling in `u_T` is replaced
/// by its largest value. Because of the ceiling, some slightly shorter horizons satisfy the condition too.
pub fn relaxed_required_log_t(alpha: f64) -> f64 {
    if !(alpha < 1.0) {
        return f64::INFINITY;
    }
    let rate = -alpha.ln();
    let half = 0.25 / rate;
    (half + (half * half + LN_2 / rate + 2.0).sqrt()).max(3f64.ln())
}

/// Both horizon conditions at one horizon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Horizon {
    /// `log T`.
    pub log_t: f64,
    /// The lag `u_T`.
    pub lag: u64,
    /// The `log T` that the paper's condition requires.
    pub paper_required_log_t: f64,
    /// Whether the paper's condition holds.
    pub paper_holds: bool,
    /// A `log T` beyond which the relaxed condition holds, see [`relaxed_required_log_t`].
    pub relaxed_required_log_t: f64,
    /// Whether the relaxed condition holds.
    pub relaxed_holds: bool,
}

impl Horizon {
    /// Both conditions at horizon `T` for a chain with `d(t) <= 2 alpha^t`; `None` for a `T` or `alpha` out of range.
    pub fn new(horizon: u64, alpha: f64) -> Option<Self> {
        let t = horizon as f64;
        Some(Self::assemble(t.ln(), lag_at(t, alpha)?, alpha))
    }

    /// The same for a horizon given by its logarithm.
    pub fn from_log(log_t: f64, alpha: f64) -> Option<Self> {
        Some(Self::assemble(log_t, lag_at_log(log_t, alpha)?, alpha))
    }

    fn assemble(log_t: f64, lag: u64, alpha: f64) -> Self {
        let paper_required_log_t = paper_required_log_t(alpha);
        let relaxed_required_log_t = relaxed_required_log_t(alpha);
        Self {
            log_t,
            lag,
            paper_required_log_t,
            paper_holds: log_t >= paper_required_log_t,
            relaxed_required_log_t,
            relaxed_holds: log_t >= 3f64.ln() && lag as f64 + 1.0 <= log_t * log_t,
        }
    }

    /// The factor by which `log T` is too small for the paper's condition; at most 1 when it holds.
    pub fn paper_shortfall(&self) -> f64 {
        self.paper_required_log_t / self.log_t
    }

    /// The factor by which `log T` is too small for the relaxed condition; above 1 whenever it fails.
    pub fn relaxed_shortfall(&self) -> f64 {
        self.relaxed_required_log_t / self.log_t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tau_is_the_first_time_below_eps() {
        for constant in [1.0, 1.3, 2.0] {
            for alpha in [0.1, 0.5, 0.6, 0.75, 0.9, 0.99, 0.999_99] {
                for eps in [1.0, 0.5, 0.25, 0.1, 1e-3, 2f64.powi(-20), 1e-12] {
                    let t = tau(constant, alpha, eps).unwrap();
                    assert!(constant * alpha.powf(t as f64) <= eps);
                    assert!(t == 0 || constant * alpha.powf(t as f64 - 1.0) > eps);
                }
            }
        }
    }

    #[test]
    fn tau_has_exact_edges() {
        assert_eq!(tau(2.0, 0.5, 2.0), Some(0));
        assert_eq!(tau(2.0, 0.5, 3.0), Some(0));
        assert_eq!(tau(2.0, 0.5, f64::INFINITY), Some(0));
        for j in 0..300 {
            assert_eq!(tau(2.0, 0.5, 2f64.powi(1 - j)), Some(j as u64));
            assert_eq!(tau(2.0, 0.25, 2f64.powi(1 - 2 * j)), Some(j as u64));
        }
        for (constant, alpha, eps) in [
            (2.0, 1.0, 0.1),
            (2.0, 0.0, 0.1),
            (2.0, -0.5, 0.1),
            (2.0, 0.5, 0.0),
            (0.0, 0.5, 0.1),
            (2.0, f64::NAN, 0.1),
            (2.0, 0.5, f64::NAN),
        ] {
            assert_eq!(tau(constant, alpha, eps), None);
        }
    }

    #[test]
    fn the_lag_is_the_integer_formula() {
        // 2 * 0.5^u <= 2^-j at t = 4^j: u = j + 1 exactly.
        for j in 0..30 {
            assert_eq!(lag_at(4f64.powi(j), 0.5), Some(j as u64 + 1));
        }
        for alpha in [0.5f64, 0.62, 0.81, 0.97, 0.9953] {
            for t in 1..3000 {
                let formula = ((2.0 * f64::from(t).sqrt()).ln() / -alpha.ln()).ceil() as u64;
                let lag = lag_at(f64::from(t), alpha).unwrap();
                let slack = 2.0 * alpha.powf(lag as f64) * f64::from(t).sqrt();
                assert!(
                    lag == formula
                        || (slack - 1.0).abs() < 1e-12
                        || (slack / alpha - 1.0).abs() < 1e-12
                );
            }
        }
        assert_eq!(lag_at(0.0, 0.5), None);
        assert_eq!(lag_at(10.0, 1.0), None);
    }

    #[test]
    fn the_paper_condition_starts_where_it_was_computed() {
        assert!(!Horizon::new(405, 0.5).unwrap().paper_holds);
        assert!(Horizon::new(406, 0.5).unwrap().paper_holds);
        let log10 = |alpha: f64| paper_required_log_t(alpha) / std::f64::consts::LN_10;
        assert!((log10(0.8) - 78.0).abs() < 0.5);
        assert!((log10(0.9) - 743.0).abs() < 0.5);
        let ring = paper_required_log_t(0.993_614_907_417_815_1);
        assert!((ring / 7.6e6 - 1.0).abs() < 0.01);
        assert!(
            paper_required_log_t(1.0).is_infinite() && paper_required_log_t(f64::NAN).is_infinite()
        );
    }

    #[test]
    fn the_relaxed_condition_starts_where_it_was_computed() {
        let first = [
            (0.5, 8),
            (0.6, 10),
            (0.7, 15),
            (0.8, 32),
            (0.9, 439),
            (0.95, 65_548),
        ];
        for (alpha, expected) in first {
            let found = (1..).find(|&t| Horizon::new(t, alpha).unwrap().relaxed_holds);
            assert_eq!(found, Some(expected), "alpha = {alpha}");
        }
        for (alpha, t) in [(0.99, 1.6007e22f64), (0.993_614_907_417_815_1, 3.1510e34)] {
            assert!(
                !Horizon::from_log((t * 0.999).ln(), alpha)
                    .unwrap()
                    .relaxed_holds
            );
            assert!(
                Horizon::from_log((t * 1.001).ln(), alpha)
                    .unwrap()
                    .relaxed_holds
            );
        }
    }

    #[test]
    fn the_paper_condition_implies_the_horizon_lemma() {
        // (u_t + 1)^(3/2) <= log^2 T for all t <= T; u_t grows with t, so t = T decides.
        let mut smallest = f64::INFINITY;
        for i in 0..=4990 {
            let alpha = 0.5 + f64::from(i) * 1e-4;
            for factor in [1.0, 1.1, 2.0, 10.0, 1e3] {
                let horizon =
                    Horizon::from_log(factor * paper_required_log_t(alpha), alpha).unwrap();
                let ratio = horizon.log_t.powi(2) / (horizon.lag as f64 + 1.0).powf(1.5);
                smallest = smallest.min(ratio);
                assert!(horizon.relaxed_holds, "the relaxed condition is weaker");
            }
        }
        assert!(smallest > 1.9, "{smallest}");
        for t in (406..1_000_000u64).step_by(997) {
            let horizon = Horizon::new(t, 0.5).unwrap();
            assert!(horizon.paper_holds);
            assert!((horizon.lag as f64 + 1.0).powf(1.5) <= horizon.log_t.powi(2));
        }
    }

    #[test]
    fn the_shortfall_says_by_how_much() {
        let ring = Horizon::new(10_000_000, 2f64.powf(-1.0 / 147.0)).unwrap();
        assert!(!ring.paper_holds && !ring.relaxed_holds);
        assert!((ring.log_t - 16.118).abs() < 1e-3);
        assert!((ring.paper_required_log_t / 1.9e7 - 1.0).abs() < 0.01);
        assert!((ring.paper_shortfall() - ring.paper_required_log_t / ring.log_t).abs() < 1e-6);
        assert!(ring.relaxed_shortfall() > 1.0);
        let short = Horizon::new(2, 0.5).unwrap();
        assert!(!short.relaxed_holds && short.relaxed_shortfall() > 1.0);
    }

    #[test]
    fn the_relaxed_condition_holds_from_its_required_horizon_on() {
        for alpha in [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999] {
            let required = relaxed_required_log_t(alpha);
            for i in 0..20_000 {
                let log_t = f64::from(i) * 1e-4 * 2.0 * required;
                let horizon = Horizon::from_log(log_t, alpha).unwrap();
                assert!(horizon.relaxed_holds || log_t < required * (1.0 + 1e-12));
                assert!(
                    !horizon.relaxed_holds || log_t > 0.9 * required || log_t < 4.0,
                    "{alpha} {log_t}"
                );
            }
        }
    }
}
