//! Sets up TD(0) with the exponential steps of Li et al., plain and regularised.
//!
//! # Reference
//! Li, Schmidt, Babanezhad & Vaswani, "Towards Parameter-Free Temporal Difference Learning", arXiv:2603.02577.
//!
//! # Update rule
//! ```text
//! theta_{t+1} = (1 - eta_t lambda) theta_t + eta_t delta_t phi(s_t),      theta_0 = 0
//! eta_t  = (eta_0 / phi_inf^2) T^{-t/T}
//! lambda = 0                           li-exp
//!        = phi_inf^2 / sqrt T          li-exp-reg
//! ```
//! The steps fall from eta_0 to almost eta_0 / T. The paper normalises phi_inf to 1.
//!
//! # Inputs
//! T and eta_0 (`step`), by default (1-gamma)/4.
//!
//! # Assumptions
//! For Markov chains the theorem of the plain form needs an eta_0 that depends on omega; the regularised form
//! needs neither omega nor the mixing time. The constants are not verified: no bound is printed.
//!
//! # Output
//! The last iterate.

use crate::error::Result;
use crate::learner::Td0;
use crate::learner::knowledge::horizon_from;
use crate::learner::recipe::{Output, Recipe};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Rate, Standing};
use crate::schedule::Steps;

const STEP: Parameter = Parameter {
    name: "step",
    meaning: "eta_0, the first step, for features of norm 1",
    range: Range::Positive,
    default: "(1-gamma) / 4",
};

/// TD(0) with exponential steps.
pub const PLAIN: Method<Td0> = Method {
    id: "li-exp",
    title: "TD(0), exponential steps, last iterate",
    reference: "Li, Schmidt, Babanezhad & Vaswani, arXiv:2603.02577",
    standing: Standing::Proved,
    needs: &["phi_inf", "T"],
    parameters: &[STEP],
    abilities: Abilities::PLAIN.with_rate(Rate::FAST),
    build: |inputs| build(inputs, |_, _| 0.0),
};

/// The same with regularisation.
pub const REGULARISED: Method<Td0> = Method {
    id: "li-exp-reg",
    title: "regularised TD(0), exponential steps, last iterate",
    reference: "Li, Schmidt, Babanezhad & Vaswani, arXiv:2603.02577",
    standing: Standing::Proved,
    needs: &["phi_inf", "T"],
    parameters: &[STEP],
    abilities: Abilities::PLAIN.with_rate(Rate::FAST),
    build: |inputs| build(inputs, |square, horizon| square / (horizon as f64).sqrt()),
};

/// Sets up either form, given the regulariser for phi_inf^2 and T.
fn build(inputs: &mut Inputs<'_>, regulariser: fn(f64, u64) -> f64) -> Result<Td0> {
    let square = inputs.phi_inf().powi(2);
    let horizon = horizon_from(inputs, 1)?;
    let discount = inputs.discount();
    let first = inputs.value("step", (1.0 - discount) / 4.0) / square;
    let steps = Steps::Exponential { first, horizon };
    let recipe = Recipe::plain(inputs.id(), discount, steps, Output::Last);
    let recipe = recipe.regularised(regulariser(square, horizon));
    Td0::new(recipe, inputs.dimension())
}
