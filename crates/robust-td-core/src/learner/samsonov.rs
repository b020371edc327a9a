//! Sets up TD(0) on thinned data with the universal step of Samsonov et al.
//!
//! # Reference
//! Samsonov, Tiapkin, Naumov & Moulines, "Improved High-Probability Bounds for the Temporal Difference Learning
//! Algorithm via Exponential Stability", COLT 2024, Algorithm 2 and Theorem 6.
//!
//! # Update rule
//! Only the samples q, 2q, 3q, ... are used. Update j = 0, 1, 2, ... on them is
//!
//! ```text
//! theta_{j+1} = theta_j + eta delta_j phi_j,      theta_0 = 0,      eta = step / phi_inf^2
//! step = (1-gamma) / (128 ln(T/delta)),   delta = 1/T^2,   that is (1-gamma) / (384 ln T)
//! q    = ceil( t_mix ln(T/delta) / ln 4 ),                 t_mix = min{ t >= 1 : dbar(t) <= 1/4 }
//! ```
//!
//! # Inputs
//! phi_inf, t_mix (or q, as `drop`) and T.
//!
//! # Assumptions
//! Rewards in [0, 1] and T >= max( ln(1/delta)/(1-gamma)^2, 2 t_mix ln(4/delta)/ln 4 ). The theorem leaves an absolute constant
//! unspecified, so no bound is printed.
//!
//! # Output
//! The mean of theta_{floor(m/2)+1}, ..., theta_m, m the number of updates within the horizon.

use crate::learner::Td0;
use crate::learner::knowledge::{
    ceil_of_logarithms, given_or_from_mixing, horizon_from, later_half,
};
use crate::learner::recipe::{Recipe, Samples};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Rate, Standing};
use crate::schedule::Steps;

/// Tail-averaged TD(0) on thinned data.
pub const METHOD: Method<Td0> = Method {
    id: "samsonov",
    title: "TD(0) on one in q samples, universal constant step, tail average",
    reference: "Samsonov, Tiapkin, Naumov & Moulines 2024, Algorithm 2",
    standing: Standing::Proved,
    needs: &["phi_inf", "t_mix", "T"],
    parameters: &[
        Parameter {
            name: "step",
            meaning: "the step for features of norm 1",
            range: Range::Positive,
            default: "(1-gamma) / (384 ln T)",
        },
        Parameter {
            name: "drop",
            meaning: "one sample of each group of this size is used",
            range: Range::Whole(1),
            default: "ceil(3 t_mix ln T / ln 4)",
        },
    ],
    abilities: Abilities::PLAIN.with_rate(Rate::FAST),
    build: |inputs| {
        let square = inputs.phi_inf().powi(2);
        let horizon = horizon_from(inputs, 3)?;
        let log = 3.0 * (horizon as f64).ln();
        let proved = (1.0 - inputs.discount()) / (128.0 * log);
        let step = inputs.value("step", proved);
        if !(step <= proved) {
            inputs.warn(format!("step {step} is above {proved}: no theorem"));
        }
        let mut mixing_time = None;
        let group = given_or_from_mixing(inputs, "drop", |mixing| {
            let t_mix = mixing.time_to(0.25) as f64;
            mixing_time = Some(t_mix);
            ceil_of_logarithms(t_mix * log / 4f64.ln())
        })?;
        if let Some(t_mix) = mixing_time {
            inputs.note_oracle("t_mix", t_mix);
            check_horizon(inputs, horizon, t_mix);
        }
        let samples = Samples::LastOf(group as u64);
        let output = later_half(inputs, samples, horizon);
        let eta = step / square;
        let recipe = Recipe::plain(
            inputs.id(),
            inputs.discount(),
            Steps::Constant { eta },
            output,
        );
        Td0::new(recipe.on(samples), inputs.dimension())
    },
};

/// Warns when the theorem requires more samples.
fn check_horizon(inputs: &mut Inputs<'_>, horizon: u64, t_mix: f64) {
    let log = 2.0 * (horizon as f64).ln();
    let discounting = log / (1.0 - inputs.discount()).powi(2);
    let mixing = 2.0 * t_mix * (log + 4f64.ln()) / 4f64.ln();
    let needed = discounting.max(mixing);
    if !(horizon as f64 >= needed) {
        inputs.warn(format!(
            "the theorem needs T >= {:.0}, but T = {horizon}",
            needed.ceil()
        ));
    }
}
