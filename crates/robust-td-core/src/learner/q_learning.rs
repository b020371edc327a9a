//! Runs linear Q-learning with the steps of Algorithm 1.
//!
//! # Reference
//! Melo, Meyn & Ribeiro, ICML 2008; Chen, Zhang, Doan, Clarke & Maguluri, arXiv:1905.11425; steps and average as in Lee &
//! Orabona, arXiv:2506.01052, Algorithm 1.
//!
//! # Update rule
//! ```text
//! delta_t     = r_t + gamma max_a phi(s_{t+1}, a).theta_t - phi(s_t, a_t).theta_t
//! theta_{t+1} = theta_t + eta_t delta_t phi(s_t, a_t),     eta_t = 1 / ( c phi_inf^2 ln(T) ln(t+3) sqrt(t+1) )
//! output      = sum_{k<t} eta_k theta_k / sum_{k<t} eta_k
//! ```
//! Its transitions have the outcome [`Outcome::Choices`](crate::learner::Outcome): the features of the current state-action pair,
//! and those of all actions at the next state.
//!
//! # Assumptions
//! A fixed behaviour policy with an irreducible aperiodic chain, |phi(s,a)| <= phi_inf, and
//! [`d_q > 0`](crate::choice::control::ControlProblem::curvature), without which it may diverge.

use crate::error::Result;
use crate::learner::Td0;
use crate::learner::knowledge::C;
use crate::learner::recipe::Recipe;
use crate::method::{Abilities, Method, Standing};

/// Linear Q-learning with the steps of Algorithm 1.
pub const METHOD: Method<Td0> = Method {
    id: "q-learning",
    title: "Linear Q-learning with the steps of Algorithm 1",
    reference: "Chen et al. 2022, arXiv:1905.11425; steps of Lee & Orabona 2025",
    standing: Standing::Baseline,
    needs: &["phi_inf", "T", "the features of all actions"],
    parameters: &[C],
    abilities: Abilities {
        logs: false,
        ..Abilities::PLAIN
    },
    build: |inputs| {
        Err(inputs.not_applicable(
            "it needs a choice of actions with their features, which a policy-evaluation problem does not have",
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
