//! Sets up unprojected TD(0) with the constant step of Mitra.
//!
//! # Reference
//! Mitra, "A Simple Finite-Time Analysis of TD Learning with Linear Function Approximation", IEEE TAC 2024.
//!
//! # Update rule
//! ```text
//! theta_{t+1} = theta_t + eta delta_t phi(s_t),      theta_0 = 0,      eta = step / phi_inf^2
//! step <= omega' (1-gamma) / (8 tau(step^2)),        omega' = omega/phi_inf^2,   tau(eps) = min{ t : 2 alpha^t <= eps }
//! ```
//!
//! # Inputs
//! omega and alpha from the exact problem; the default is the largest step that satisfies the condition. Or set
//! `step`.
//!
//! # Assumptions
//! The constant 8 is the smallest that the analysis allows. The constants of its bound are not verified: no bound is
//! printed.
//!
//! # Output
//! The last iterate.

use crate::learner::Td0;
use crate::learner::knowledge::given_or_from_mixing;
use crate::learner::recipe::{Output, Recipe};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Rate, Standing};
use crate::schedule::Steps;
use crate::theory::horizon::tau;

/// The constant in the condition on the step.
pub const C1: f64 = 8.0;

/// Unprojected TD(0) with a constant step.
pub const METHOD: Method<Td0> = Method {
    id: "mitra",
    title: "TD(0), constant step from omega and the mixing time, last iterate",
    reference: "Mitra 2024",
    standing: Standing::Proved,
    needs: &["phi_inf", "omega", "alpha"],
    parameters: &[Parameter {
        name: "step",
        meaning: "the step for features of norm 1",
        range: Range::Positive,
        default: "the largest with step <= omega (1-gamma) / (8 tau(step^2))",
    }],
    abilities: Abilities::PLAIN.with_rate(Rate::FAST),
    build: |inputs| {
        let square = inputs.phi_inf().powi(2);
        let rest = 1.0 - inputs.discount();
        let curvature = inputs
            .known_problem()
            .map_or(f64::NAN, |problem| problem.omega() / square * rest);
        let mut rate = None;
        let step = given_or_from_mixing(inputs, "step", |mixing| {
            rate = Some(mixing.alpha());
            largest_step(curvature, mixing.alpha())
        })?;
        match (inputs.known_problem(), rate) {
            (Some(problem), Some(alpha)) => {
                inputs.note_oracle("omega", problem.omega());
                inputs.note_oracle("alpha", alpha);
            }
            _ => check_step(inputs, step, curvature),
        }
        let steps = Steps::Constant { eta: step / square };
        let recipe = Recipe::plain(inputs.id(), inputs.discount(), steps, Output::Last);
        Td0::new(recipe, inputs.dimension())
    },
};

/// The largest step with step <= curvature / (8 tau(step^2)), for a curvature omega' (1-gamma) in (0, 1].
///
/// Where tau = t, the step is at most limit(t) = curvature/(8t), which falls with t; the first t with 2 alpha^t <= limit(t)^2
/// gives the largest step. t^2 alpha^t rises, starting above the target, and then falls: t is found by bisection.
#[must_use]
pub fn largest_step(curvature: f64, alpha: f64) -> f64 {
    let limit = |t: u64| curvature / (C1 * t as f64);
    let reached = |t: u64| 2.0 * alpha.powf(t as f64) <= limit(t).powi(2);
    let mut high = 1;
    while !reached(high) && high < 1 << 62 {
        high *= 2;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if reached(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    limit(high)
}

/// Warns when a step set by the user is known to violate the condition.
fn check_step(inputs: &mut Inputs<'_>, step: f64, curvature: f64) {
    let Some(mixing) = inputs.known_mixing() else {
        return;
    };
    // tau is at least 1, so a step above sqrt 2 is always too large.
    let tau = tau(2.0, mixing.alpha(), step * step).map_or(f64::INFINITY, |tau| tau.max(1) as f64);
    let limit = curvature / (C1 * tau);
    if !(step <= limit) {
        inputs.warn(format!(
            "step {step} is above omega (1-gamma) / (8 tau) = {limit}: no theorem"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_the_largest_that_satisfies_the_condition() {
        for curvature in [1.0, 0.3, 1e-3, 1e-7] {
            for alpha in [0.5, 0.9, 0.995, 0.99999] {
                let allowed = |step: f64| {
                    let tau = tau(2.0, alpha, step * step).unwrap();
                    step <= curvature / (C1 * tau as f64)
                };
                let step = largest_step(curvature, alpha);
                assert!(allowed(step * (1.0 - 1e-12)), "{curvature} {alpha}");
                // Search downwards from a step that is far too large.
                let mut larger = 1.0;
                while larger > step * (1.0 + 1e-9) {
                    assert!(!allowed(larger), "{larger} is allowed, above {step}");
                    larger *= 0.999;
                }
            }
        }
    }
}
