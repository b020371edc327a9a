//! Runs Algorithm 1 on optimal stopping, where the next value is the larger of stopping and continuing.
//!
//! # Reference
//! Tsitsiklis & Van Roy 1999; Bhandari, Russo & Singal, arXiv:1806.02450, on optimal stopping; steps and average as in Lee &
//! Orabona, arXiv:2506.01052, Algorithm 1, without a projection.
//!
//! # Update rule
//! ```text
//! delta_t     = u_t + gamma max{ U(s_{t+1}), phi(s_{t+1}).theta_t } - phi(s_t).theta_t
//! theta_{t+1} = theta_t + eta_t delta_t phi(s_t),     eta_t = 1 / ( c phi_inf^2 ln(T) ln(t+3) sqrt(t+1) )
//! output      = sum_{k<t} eta_k theta_k / sum_{k<t} eta_k
//! ```
//! Its transitions have the outcome [`Outcome::Stoppable`](crate::learner::Outcome). The greedy rule stops where
//! U(s) >= phi(s).theta.
//!
//! # Assumptions
//! An irreducible aperiodic chain and |phi(s)| <= phi_inf;
//! [`StoppingProblem::certificate`](crate::choice::stopping::StoppingProblem::certificate) bounds the error of the output.

use crate::error::Result;
use crate::learner::Td0;
use crate::learner::knowledge::C;
use crate::learner::recipe::Recipe;
use crate::method::{Abilities, Method, Standing};

/// Algorithm 1 for optimal stopping.
pub const METHOD: Method<Td0> = Method {
    id: "optimal-stopping",
    title: "Algorithm 1 for optimal stopping",
    reference: "Tsitsiklis & Van Roy 1999; steps of Lee & Orabona 2025",
    standing: Standing::Baseline,
    needs: &["phi_inf", "T", "stop rewards"],
    parameters: &[C],
    abilities: Abilities {
        logs: false,
        ..Abilities::PLAIN
    },
    build: |inputs| {
        Err(inputs.not_applicable(
            "it needs a reward for stopping at each state, which a policy-evaluation problem does not have",
        ))
    },
};

/// The learner at theta_0 = 0, for feature vectors of the given dimension.
///
/// # Errors
/// Those of [`Recipe::algorithm_1`], and a dimension of 0.
pub fn learner(discount: f64, horizon: u64, c: f64, phi_inf: f64, dimension: usize) -> Result<Td0> {
    let recipe = Recipe::algorithm_1(METHOD.id, discount, horizon, c, phi_inf)?;
    Td0::new(recipe, dimension)
}
