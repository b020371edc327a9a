//! Sets up unprojected TD(0) with the constant step that certificate C proves a bound for.
//!
//! # Reference
//! [`theory::certificate::constant_step`](crate::theory::certificate::constant_step): the proof of Lee & Orabona, arXiv:2506.01052,
//! specialised to one tuned step.
//!
//! # Update rule
//! ```text
//! theta_{t+1} = theta_t + eta delta_t phi(s_t),      theta_0 = 0
//! eta = 1 / ( (1+gamma) phi_inf^2 (8 + 4 sqrt(8u+1)) sqrt T ),      u = min{ j : d(j) <= 1/sqrt T }
//! ```
//!
//! # Inputs
//! phi_inf, T, and u from the mixing of the exact problem. Nothing depends on omega.
//!
//! # Assumptions
//! T >= 64 (u+1).
//!
//! # Output
//! The mean of theta_0, ..., theta_{T-1}, with E f <= (1+gamma) phi_inf^2 (14.8 + 7.4 sqrt(8u+1)) x^2 / sqrt T,
//! x = max( |theta*|, max |g(theta*)| / ((1+gamma) phi_inf^2) ).

use crate::learner::Td0;
use crate::learner::knowledge::{features_within_bound, horizon_from};
use crate::learner::recipe::{Output, Recipe};
use crate::method::{Abilities, Method, Quantity, Rate, Standing};
use crate::schedule::Steps;
use crate::theory::best_bound::WORK;
use crate::theory::certificate::{Inputs, constant_step};
use crate::theory::certify::inputs_with;

/// The maximum lag in the search for u.
const MAX_LAG: f64 = (1 << 20) as f64;

/// The certified constant step.
pub const METHOD: Method<Td0> = Method {
    id: "td-const-certified",
    title: "TD(0), certified constant step, uniform average",
    reference: "certificate C, after Lee & Orabona 2025, arXiv:2506.01052",
    standing: Standing::Proved,
    needs: &["phi_inf", "t_mix", "T"],
    parameters: &[],
    abilities: Abilities::PLAIN.with_rate(Rate::ROBUST),
    build: |inputs| {
        let (problem, mixing) = (inputs.problem()?, inputs.mixing()?);
        let phi_inf = inputs.phi_inf();
        let horizon = horizon_from(inputs, 1)?;
        let t_mix = mixing.t_mix() as f64;
        inputs.note_oracle("t_mix", t_mix);
        // d(t) <= 2 * 2^(-t/t_mix) is below 1/sqrt T by this lag.
        let reach = (t_mix * (2.0 + 0.5 * (horizon as f64).log2())).ceil();
        let known = inputs_with(problem, mixing.bounds(reach.min(MAX_LAG) as usize, WORK));
        let certificate = constant_step::certify(&known, horizon);
        let Some(lag) = certificate.lag else {
            return Err(inputs.not_applicable("the chain mixes too slowly"));
        };
        inputs.note_oracle("u", lag as f64);
        match (certificate.bound, certificate.why_not()) {
            (Some(bound), None) if features_within_bound(inputs) => {
                inputs.guarantee(Quantity::F, bound, "certificate C");
            }
            (_, Some(why)) => inputs.warn(why),
            _ => {}
        }
        let eta = constant_step::step_size(&Inputs { phi_inf, ..known }, horizon, lag);
        let steps = Steps::Constant { eta };
        let recipe = Recipe::plain(inputs.id(), inputs.discount(), steps, Output::Uniform);
        Td0::new(recipe, inputs.dimension())
    },
};
