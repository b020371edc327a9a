//! Computes the step size eta_t of every step t = 0, 1, 2, ...
//!
//! The paper's schedule ([Lee & Orabona, arXiv:2506.01052], Algorithm 1) for a horizon of T steps,
//! features of norm at most phi_inf and a constant c > 0 is
//!
//! ```text
//! eta_t = 1 / ( c phi_inf^2 ln(T) ln(t + 3) sqrt(t + 1) )
//! ```
//!
//! It needs neither the mixing time nor the smallest eigenvalue omega. Its theorem requires
//! c > 15 + 18 sqrt(2); the schedule itself is defined for every c > 0.
//!
//! # Bits
//! The order of the operations is part of the interface, so that faster kernels can agree to the bit:
//! `scale = ((c * (phi_inf * phi_inf)) * ln(T))`, then `1 / ((scale * ln(t + 3)) * sqrt(t + 1))`, each in f64.
//!
//! [Lee & Orabona, arXiv:2506.01052]: https://arxiv.org/abs/2506.01052

mod phase;
mod steps;
mod total;
pub(crate) mod upcoming;

pub use crate::check::SHORTEST_HORIZON;
pub use phase::Phase;
pub use steps::Steps;

use crate::check::{check_horizon, check_positive};
use crate::error::{Error, Result};
use total::{compensated_sum, decay_tail};

/// A deterministic sequence of step sizes.
pub trait Schedule {
    /// The step size eta_t of step t, counted from 0.
    fn step_size(&self, t: u64) -> f64;

    /// The sum eta_0 + ... + eta_{steps - 1}, the total weight of the averaged iterate.
    ///
    /// The default adds term by term with compensation (Neumaier); schedules with a closed form override it.
    fn total(&self, steps: u64) -> f64 {
        compensated_sum((0..steps).map(|t| self.step_size(t)))
    }
}

/// The paper's decaying schedule, eta_t = 1 / (c phi_inf^2 ln T ln(t+3) sqrt(t+1)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RobustDecay {
    /// c phi_inf^2.
    base: f64,
    /// c phi_inf^2 ln T.
    scale: f64,
}

impl RobustDecay {
    /// The schedule for a horizon of T steps.
    ///
    /// # Errors
    /// When T < 3 (ln T must exceed 1), when c or phi_inf is not a positive finite number, or when c
    /// phi_inf^2 is too close to the limits of f64.
    pub fn new(horizon: u64, c: f64, phi_inf: f64) -> Result<Self> {
        check_horizon("horizon", horizon)?;
        let base = robust_base(c, phi_inf)?;
        Ok(Self {
            base,
            scale: robust_scale(base, horizon),
        })
    }

    /// The divisor of 1/(ln(t+3) sqrt(t+1)), c phi_inf^2 ln T.
    #[must_use]
    pub fn scale(self) -> f64 {
        self.scale
    }

    /// The schedule with the same c and phi_inf for another horizon; one that is too short counts as the shortest.
    #[must_use]
    pub fn with_horizon(self, horizon: u64) -> Self {
        Self {
            scale: robust_scale(self.base, horizon.max(SHORTEST_HORIZON)),
            ..self
        }
    }
}

impl Schedule for RobustDecay {
    #[inline]
    fn step_size(&self, t: u64) -> f64 {
        robust_step_size(self.scale, t as f64)
    }

    /// Exact terms up to 2^16, then the Euler-Maclaurin formula: a relative error near 1e-15 at any
    /// number of steps, in constant time.
    fn total(&self, steps: u64) -> f64 {
        const HEAD: u64 = 1 << 16;
        let head = compensated_sum((0..steps.min(HEAD)).map(|t| self.step_size(t)));
        if steps <= HEAD {
            head
        } else {
            head + decay_tail(HEAD as f64, steps as f64) / self.scale
        }
    }
}

/// The paper's constant step for a horizon T: the decaying schedule's formula at t = T, for all t.
///
/// It is at most eta_t for every t < T, so every bound that grows with the step sizes carries over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RobustConstant {
    /// The step size.
    eta: f64,
}

impl RobustConstant {
    /// The constant step for a horizon of T steps.
    ///
    /// # Errors
    /// As [`RobustDecay::new`].
    pub fn new(horizon: u64, c: f64, phi_inf: f64) -> Result<Self> {
        let RobustDecay { scale, .. } = RobustDecay::new(horizon, c, phi_inf)?;
        Ok(Self {
            eta: robust_step_size(scale, horizon as f64),
        })
    }
}

impl Schedule for RobustConstant {
    #[inline]
    fn step_size(&self, _t: u64) -> f64 {
        self.eta
    }

    fn total(&self, steps: u64) -> f64 {
        steps as f64 * self.eta
    }
}

/// A constant step set by the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// The step size.
    eta: f64,
}

impl Constant {
    /// The schedule eta_t = eta.
    ///
    /// # Errors
    /// When eta is not a positive finite number.
    pub fn new(eta: f64) -> Result<Self> {
        check_positive("step", eta)?;
        Ok(Self { eta })
    }
}

impl Schedule for Constant {
    #[inline]
    fn step_size(&self, _t: u64) -> f64 {
        self.eta
    }

    fn total(&self, steps: u64) -> f64 {
        steps as f64 * self.eta
    }
}

/// c phi_inf^2, checked so that the step sizes of every horizon are positive and finite.
fn robust_base(c: f64, phi_inf: f64) -> Result<f64> {
    check_positive("c", c)?;
    check_positive("phi_inf", phi_inf)?;
    let base = c * (phi_inf * phi_inf);
    if !(1e-300..=1e280).contains(&base) {
        let expected = "between 1e-300 and 1e280";
        return Err(Error::Parameter {
            name: "c * phi_inf^2",
            value: base,
            expected,
        });
    }
    Ok(base)
}

/// c phi_inf^2 ln T.
fn robust_scale(base: f64, horizon: u64) -> f64 {
    base * (horizon as f64).ln()
}

/// b_t = 1 / (ln(t+3) sqrt(t+1)), the shape of the decaying steps.
#[inline]
#[must_use]
pub fn decay(t: u64) -> f64 {
    robust_step_size(1.0, t as f64)
}

/// 1 / (scale ln(t+3) sqrt(t+1)), in the documented order.
#[inline]
pub(crate) fn robust_step_size(scale: f64, t: f64) -> f64 {
    decay_with_log(scale * (t + 3.0).ln(), t)
}

/// 1 / (log sqrt(t+1)), for callers that have `log`, a multiple of ln(t+3).
#[inline(always)]
#[must_use]
pub fn decay_with_log(log: f64, t: f64) -> f64 {
    1.0 / (log * (t + 1.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// phi_inf of the two-state reference problem REF-2, features (±0.3, 1).
    const PHI_INF: f64 = 1.044030650891055;

    #[track_caller]
    fn assert_close(found: f64, expected: f64, relative: f64) {
        assert!(
            (found - expected).abs() <= relative * expected.abs(),
            "{found} is not {expected}"
        );
    }

    #[test]
    fn agrees_with_the_reference_numbers() {
        let schedule = RobustDecay::new(50, 1.0, PHI_INF).unwrap();
        assert_close(schedule.step_size(0), 0.2134654776140004, 1e-14);
        assert_close(schedule.step_size(49), 0.008393696876394635, 1e-14);
        assert_close(schedule.total(50), 1.2761350048622555, 1e-14);
        let schedule = RobustDecay::new(200, 0.2, PHI_INF).unwrap();
        assert_close(schedule.total(200), 7.322394051757337, 1e-14);
    }

    #[test]
    fn keeps_the_documented_order_of_operations() {
        let schedule = RobustDecay::new(1000, 0.7, 1.3).unwrap();
        let scale = (0.7 * (1.3 * 1.3)) * 1000f64.ln();
        for t in [0u64, 1, 17, 999, 1 << 40] {
            let eta = 1.0 / ((scale * (t as f64 + 3.0).ln()) * (t as f64 + 1.0).sqrt());
            assert_eq!(schedule.step_size(t).to_bits(), eta.to_bits());
        }
    }

    #[test]
    fn extreme_scales_still_give_positive_finite_steps() {
        for c in [1e-300, 1e280] {
            for horizon in [3, u64::MAX] {
                let schedule = RobustDecay::new(horizon, c, 1.0).unwrap();
                for t in [0, horizon - 1, u64::MAX] {
                    assert!(schedule.step_size(t).is_normal());
                }
            }
        }
    }

    #[test]
    fn another_horizon_gives_the_schedule_made_for_it() {
        let schedule = RobustDecay::new(10, 0.3, 1.7).unwrap();
        assert_eq!(
            schedule.with_horizon(99),
            RobustDecay::new(99, 0.3, 1.7).unwrap()
        );
        assert_eq!(
            schedule.with_horizon(0),
            RobustDecay::new(3, 0.3, 1.7).unwrap()
        );
    }

    #[test]
    fn constant_variant_is_the_formula_at_the_horizon_and_below_the_decay() {
        let decay = RobustDecay::new(77, 2.0, 0.5).unwrap();
        let constant = RobustConstant::new(77, 2.0, 0.5).unwrap();
        assert_eq!(
            constant.step_size(3).to_bits(),
            decay.step_size(77).to_bits()
        );
        assert!((0..77).all(|t| constant.step_size(t) < decay.step_size(t)));
        assert_close(constant.total(77), 77.0 * decay.step_size(77), 1e-15);
    }

    #[test]
    fn total_by_quadrature_is_the_sum_of_the_terms() {
        let schedule = RobustDecay::new(1_000_000, 3.0, 2.0).unwrap();
        for steps in [1u64 << 16, (1 << 16) + 1, 70_001, 262_144, 3_000_000] {
            let sum = compensated_sum((0..steps).map(|t| schedule.step_size(t)));
            assert_close(schedule.total(steps), sum, 4e-15);
        }
    }

    #[test]
    fn total_exceeds_the_lower_bound_of_the_paper() {
        // sum eta_k >= (2 sqrt(T+1) - 2) / (c phi_inf^2 ln T ln(T+2)), for all T >= 2.
        for horizon in [3u64, 10, 1000, 1 << 20, 10_u64.pow(12), 10_u64.pow(18)] {
            let total = RobustDecay::new(horizon, 5.0, 1.5).unwrap().total(horizon);
            let t = horizon as f64;
            let bound = (2.0 * (t + 1.0).sqrt() - 2.0) / (5.0 * 2.25 * t.ln() * (t + 2.0).ln());
            assert!(total >= bound, "{total} at T = {horizon}");
            assert!(total <= 2.0 * bound, "{total} at T = {horizon}");
        }
    }

    #[test]
    fn bad_parameters_are_refused_by_name() {
        let name = |result: Result<RobustDecay>| match result {
            Err(Error::Parameter { name, .. }) => name,
            other => panic!("{other:?}"),
        };
        for horizon in 0..3 {
            assert_eq!(name(RobustDecay::new(horizon, 1.0, 1.0)), "horizon");
        }
        for bad in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(name(RobustDecay::new(3, bad, 1.0)), "c");
            assert_eq!(name(RobustDecay::new(3, 1.0, bad)), "phi_inf");
            assert!(RobustConstant::new(3, bad, 1.0).is_err());
            assert!(RobustConstant::new(3, 1.0, bad).is_err());
            assert!(Constant::new(bad).is_err());
        }
        for tiny_or_huge in [1e-200, 1e200] {
            let refused = RobustDecay::new(3, 1.0, tiny_or_huge);
            assert_eq!(name(refused), "c * phi_inf^2");
        }
    }
}
