//! Sets up unprojected TD(0) with the single step size that is both robust and fast, with and without the mixing time.
//!
//! # Reference
//! Lee & Orabona, "A Single Stepsize Suffices for Unprojected Linear TD(0)", COLT 2026, Theorems 6 and 7.
//!
//! # Update rule
//! ```text
//! theta_{t+1} = theta_t + eta_t delta_t phi(s_t),      theta_0 = 0
//! eta_t = 1 / ( c tau_mix phi_inf^2 ln(t+3) sqrt(t+1) )           lee26
//!       = 1 / ( c phi_inf^2 ln^2(t+3) sqrt(t+1) )                 lee26-mixfree
//! ```
//!
//! # Inputs
//! phi_inf. lee26 also needs tau_mix >= 1 with d(k-1) <= 4 * 2^{-k/tau_mix} for all k >= 1
//! ([`Mixing::pair_mixing_time`](crate::model::mixing::Mixing::pair_mixing_time)). Neither needs T. c is 1 by default, as for Algorithm 1; the
//! theorem requires c > 12485.68 at probability 0.95, which makes the steps extremely small.
//!
//! # Output
//! The mean of theta_0, ..., theta_{t-1} with weights eta_k. With c above that value, with probability 1 - delta its f is
//! at most min( C_fast^2/((1-gamma) omega S^2), C_rob/S ), S = eta_0 + ... + eta_{T-1}. The guarantee of the mixing-free variant has a
//! constant that is doubly exponential in tau_mix, so none is printed.

use crate::learner::Td0;
use crate::learner::knowledge::{features_within_bound, given_or_from_mixing};
use crate::learner::recipe::{Output, Recipe};
use crate::method::{self, Abilities, Inputs, Method, Parameter, Quantity, Range, Rate, Standing};
use crate::schedule::Steps;
use crate::theory::best_bound::WORK;

const C: Parameter = Parameter {
    name: method::C,
    meaning: "divides the steps; the theorem requires c > 12485.68",
    range: Range::Positive,
    default: "1",
};

/// The failure probability of the printed bound.
const DELTA: f64 = 0.05;

/// The single step size, with the mixing time known.
pub const METHOD: Method<Td0> = Method {
    id: "lee26",
    title: "TD(0), one step size for the robust and the fast rate, weighted average",
    reference: "Lee & Orabona 2026, Theorem 7",
    standing: Standing::Proved,
    needs: &["phi_inf", "tau_mix"],
    parameters: &[
        C,
        Parameter {
            name: "tau_mix",
            meaning: "mixing time of the pairs (s, s'): d(k-1) <= 4 * 2^(-k/tau_mix), at least 1",
            range: Range::Positive,
            default: "from the exact problem",
        },
    ],
    abilities: Abilities::DIVIDED_BY_C.with_rate(Rate {
        rate: "O~(min(1/T, 1/sqrt(T)))",
        ..Rate::ROBUST
    }),
    build: |inputs| {
        let phi_inf = inputs.phi_inf();
        let tau_mix =
            given_or_from_mixing(inputs, "tau_mix", |mixing| mixing.pair_mixing_time(WORK))?;
        if !(tau_mix >= 1.0) {
            return Err(inputs.refused("tau_mix", tau_mix, "finite and at least 1"));
        }
        let c = inputs.value(C.name, 1.0);
        guarantee(inputs, c, tau_mix);
        let scale = c * (phi_inf * phi_inf) * tau_mix;
        let steps = Steps::Robust { scale };
        let recipe = Recipe::plain(inputs.id(), inputs.discount(), steps, Output::StepWeighted);
        Td0::new(recipe, inputs.dimension())
    },
};

/// The variant without the mixing time.
pub const MIXING_FREE: Method<Td0> = Method {
    id: "lee26-mixfree",
    title: "TD(0), one step size without the mixing time, weighted average",
    reference: "Lee & Orabona 2026, mixing-free variant",
    standing: Standing::Proved,
    needs: &["phi_inf"],
    parameters: &[Parameter {
        meaning: "divides the steps",
        ..C
    }],
    abilities: Abilities::DIVIDED_BY_C.with_rate(Rate {
        rate: "O~(min(1/T, 1/sqrt(T)))",
        ..Rate::ROBUST
    }),
    build: |inputs| {
        let phi_inf = inputs.phi_inf();
        let scale = inputs.value(C.name, 1.0) * (phi_inf * phi_inf);
        let steps = Steps::MixingFree { scale };
        let recipe = Recipe::plain(inputs.id(), inputs.discount(), steps, Output::StepWeighted);
        Td0::new(recipe, inputs.dimension())
    },
};

/// The constants of Theorem 7 for a probability delta, with sum a_t^2 <= 3/ln 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    a1: f64,
    a2: f64,
    /// sqrt(2 ln(8/delta)).
    deviation: f64,
}

/// A bound on sum_t a_t^2, a_t = 1/(ln(t+3) sqrt(t+1)).
const SQUARES: f64 = 3.0 / std::f64::consts::LN_2;

impl Constants {
    /// The constants for a probability delta in (0, 1).
    #[must_use]
    pub fn new(delta: f64) -> Self {
        let deviation = (2.0 * (8.0 / delta).ln()).sqrt();
        Self {
            a1: 1536.0 * SQUARES.sqrt() * deviation + 2304.0,
            a2: 2706.0 * SQUARES,
            deviation,
        }
    }

    /// The lower limit of c.
    #[must_use]
    pub fn c_min(&self) -> f64 {
        0.5 * (self.a1 + (self.a1 * self.a1 + 4.0 * self.a2).sqrt())
    }

    /// The bound on f(avg_T) that holds with probability 1 - delta, for c > c_min.
    ///
    /// `scale` is max(|theta*|, r_inf/phi_inf) and `curvature` is (1-gamma) omega.
    #[must_use]
    pub fn bound(
        &self,
        c: f64,
        tau_mix: f64,
        phi_inf: f64,
        scale: f64,
        curvature: f64,
        horizon: u64,
    ) -> f64 {
        let rho = 2.0 * c / (c * c - self.a1 * c - self.a2).sqrt();
        let square = phi_inf * phi_inf;
        let unit = 1.0 / (c * tau_mix * square);
        let first = unit / 3f64.ln();
        let h = SQUARES * unit * unit;
        let noise = h.sqrt() * self.deviation;
        let fast = 2.0
            + 2.0 * tau_mix * square * (264.0 * first + 176.0 * noise)
            + 192.0 * tau_mix * square * square * h;
        let robust = 0.5
            + 2.0 * tau_mix * square * (288.0 * first + 192.0 * noise)
            + (672.0 * tau_mix + 4.5) * square * square * h;
        let t = horizon as f64;
        let total = 2.0 * ((t + 1.0).sqrt() - 1.0) * unit / (t + 2.0).ln();
        let radius = rho * scale;
        let fast = (radius * fast / total).powi(2) / curvature;
        fast.min(radius * radius * robust / total)
    }
}

/// States the theorem's bound, or warns which of its conditions fails.
fn guarantee(inputs: &mut Inputs<'_>, c: f64, tau_mix: f64) {
    let constants = Constants::new(DELTA);
    let c_min = constants.c_min();
    if !(c > c_min) {
        inputs.warn(format!("c = {c} is not above {c_min:.2}: no theorem"));
        return;
    }
    let (Some(problem), Some(mixing)) = (inputs.known_problem(), inputs.known_mixing()) else {
        return;
    };
    let proved = mixing.pair_mixing_time(WORK);
    if !(tau_mix >= proved) {
        inputs.warn(format!("tau_mix = {tau_mix} is below {proved}: no theorem"));
        return;
    }
    if !features_within_bound(inputs) {
        return;
    }
    let (phi_inf, horizon) = (inputs.phi_inf(), inputs.samples());
    let scale = problem.theta_star_norm().max(problem.r_inf() / phi_inf);
    let curvature = (1.0 - problem.discount()) * problem.omega();
    let bound = constants.bound(c, tau_mix, phi_inf, scale, curvature, horizon);
    inputs.guarantee(
        Quantity::F,
        bound,
        "Lee & Orabona 2026, Theorem 7: with probability at least 0.95, not in expectation",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published c_min at delta = 0.05: 12485.68, and 10984.70 with ln(2/delta) for bounded iterates alone.
    #[test]
    fn the_smallest_constant_is_the_published_one() {
        assert!((Constants::new(0.05).c_min() - 12485.68).abs() < 0.005);
        // ln(8/delta) = ln(2/0.05) at delta = 0.2.
        assert!((Constants::new(0.2).c_min() - 10984.70).abs() < 0.005);
    }

    #[test]
    fn the_bound_falls_at_both_rates() {
        let constants = Constants::new(0.05);
        let at = |horizon| constants.bound(20_000.0, 3.0, 1.0, 1.0, 0.01, horizon);
        // Robust: ln T / sqrt T; fast: ln^2 T / T.
        let robust = at(4_000_000_000) / at(1_000_000_000);
        let logs = (4e9_f64.ln() / 1e9_f64.ln(), (4e18_f64).ln() / 1e18_f64.ln());
        assert!((robust / (0.5 * logs.0) - 1.0).abs() < 1e-3, "{robust}");
        let fast = at(4_000_000_000_000_000_000) / at(1_000_000_000_000_000_000);
        assert!(
            (fast / (0.25 * logs.1 * logs.1) - 1.0).abs() < 1e-3,
            "{fast}"
        );
    }
}
