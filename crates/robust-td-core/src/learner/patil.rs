//! Sets up TD(0) on thinned data with the tail average of Patil et al., plain and regularised.
//!
//! # Reference
//! Patil, Prashanth, Nagaraj & Precup, "Finite time analysis of temporal difference learning with linear function
//! approximation: Tail averaging and regularisation", AISTATS 2023; data dropping as in their Section 6.
//!
//! # Update rule
//! Only the samples 1, K+1, 2K+1, ... are used. Update j = 0, 1, 2, ... on them is
//!
//! ```text
//! theta_{j+1} = (1 - eta lambda) theta_j + eta delta_j phi_j,      theta_0 = 0
//! eta = (1-gamma) / ((1+gamma)^2 phi_inf^2),   lambda = 0                                               patil-tail
//! eta = lambda / (lambda^2 + 2 lambda (1+gamma) phi_inf^2 + (1+gamma)^2 phi_inf^4)                      patil-reg
//! ```
//!
//! # Inputs
//! K (`drop`), by default 1 + ceil( ln(C n/delta) / ln(1/alpha) ) with C = 2, n = T and delta = 1/T^2, that is ln(2 T^3): the
//! paper counts the tuples that are used, at most T. lambda, in the units of phi_inf^2, by
//! default phi_inf^2 / sqrt N for a tail of N updates (the paper's 1/sqrt N for features of norm 1). T.
//!
//! # Assumptions
//! The bound in expectation is for independent samples, and the bound for Markov chains holds with high
//! probability for a projected variant, so no bound is printed.
//!
//! # Output
//! The mean of theta_{floor(n/2)+1}, ..., theta_n, n the number of updates within the horizon.

use crate::error::Result;
use crate::learner::Td0;
use crate::learner::knowledge::{
    ceil_of_logarithms, given_or_from_mixing, horizon_from, later_half,
};
use crate::learner::recipe::{Output, Recipe, Samples};
use crate::method::{Abilities, Inputs, Method, Parameter, Range, Rate, Standing, Target};
use crate::schedule::Steps;

const DROP: Parameter = Parameter {
    name: "drop",
    meaning: "one sample of each group of this size is used",
    range: Range::Whole(1),
    default: "1 + ceil(ln(2 T^3) / ln(1/alpha))",
};

/// Tail-averaged TD(0) on thinned data.
pub const TAIL: Method<Td0> = Method {
    id: "patil-tail",
    title: "TD(0) on one in K samples, constant step, tail average",
    reference: "Patil, Prashanth, Nagaraj & Precup 2023",
    standing: Standing::Proved,
    needs: &["phi_inf", "alpha", "T"],
    parameters: &[DROP],
    abilities: Abilities::PLAIN.with_rate(Rate::FAST),
    build: |inputs| {
        let square = inputs.phi_inf().powi(2);
        let (samples, output) = thinned(inputs)?;
        let discount = inputs.discount();
        let eta = (1.0 - discount) / ((1.0 + discount).powi(2) * square);
        let steps = Steps::Constant { eta };
        let recipe = Recipe::plain(inputs.id(), discount, steps, output).on(samples);
        Td0::new(recipe, inputs.dimension())
    },
};

/// The same with regularisation.
pub const REGULARISED: Method<Td0> = Method {
    id: "patil-reg",
    title: "regularised TD(0) on one in K samples, constant step, tail average",
    reference: "Patil, Prashanth, Nagaraj & Precup 2023",
    standing: Standing::Proved,
    needs: &["phi_inf", "alpha", "T"],
    parameters: &[
        DROP,
        Parameter {
            name: "lambda",
            meaning: "regulariser",
            range: Range::Positive,
            default: "phi_inf^2 / sqrt(length of the tail)",
        },
    ],
    abilities: Abilities {
        target: Target::Td0Without("lambda"),
        rate: Some(Rate::FAST),
        ..Abilities::PLAIN
    },
    build: |inputs| {
        let square = inputs.phi_inf().powi(2);
        let (samples, output) = thinned(inputs)?;
        let updates = samples.updates(inputs.horizon());
        let tail = (updates - updates / 2).max(1) as f64;
        let lambda = inputs.value("lambda", square / tail.sqrt());
        // lambda / (lambda + (1+gamma) phi_inf^2)^2.
        let eta = lambda / (lambda + (1.0 + inputs.discount()) * square).powi(2);
        let steps = Steps::Constant { eta };
        let recipe = Recipe::plain(inputs.id(), inputs.discount(), steps, output)
            .on(samples)
            .regularised(lambda);
        Td0::new(recipe, inputs.dimension())
    },
};

/// The thinning, and the average over the later half of the updates.
fn thinned(inputs: &mut Inputs<'_>) -> Result<(Samples, Output)> {
    let horizon = horizon_from(inputs, 1)?;
    let log = 2f64.ln() + 3.0 * (horizon as f64).ln();
    let mut rate = None;
    let group = given_or_from_mixing(inputs, "drop", |mixing| {
        rate = Some(mixing.alpha());
        1.0 + ceil_of_logarithms(log / -mixing.alpha().ln())
    })?;
    if let Some(alpha) = rate {
        inputs.note_oracle("alpha", alpha);
    }
    let samples = Samples::FirstOf(group as u64);
    Ok((samples, later_half(inputs, samples, horizon)))
}
