//! Implements the mathematics of unprojected temporal-difference learning with linear function approximation.
//!
//! The reference is Lee and Orabona, "A Robust O~(1/sqrt T) Rate for Unprojected TD Learning with Linear Function
//! Approximation" (arXiv:2506.01052); each of its definitions, lemmas and theorems is implemented once. No I/O,
//! no threads.
//!
//! ```
//! use robust_td_core::{catalog, moments, schedule::{RobustDecay, Schedule}};
//!
//! let problem = catalog::problem("two-state", &[("epsilon", 0.3)])?;
//! let steps = RobustDecay::new(200, 0.2, problem.phi_inf())?;
//! let exact = moments::expectation(&problem, 200, |t| steps.step_size(t));
//! assert!((exact.f_of_average - 0.15695139065052535).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Formulas use the paper's symbols (`phi`, `theta`, `eta_t`), interfaces use words (features, step size); the glossary of
//! the repository, `docs/glossary.md`, lists both.
//!
//! # Modules and import order
//! A module imports only from those above it in this list:
//!
//! 1. [`error`], `check`, [`number`] (how a number is written), [`matrix`] and `linalg`, [`random`], [`schedule`] (step sizes), [`exact_float`], [`column_moments`];
//! 2. `model` (chains, problems, mixing) and [`catalog`] (named problems);
//! 3. `phi` ([`Features`], [`Transition`]) and [`features`] (feature maps), `iterate` (iterates and their averages), `lanes`;
//! 4. `exact` ([`moments`], [`paths`], [`stability`]), [`theory`], `solve` ([`online`], [`krylov`], [`sandwich`]), `choice` ([`control`], [`stopping`]);
//! 5. [`method`] (the declaration of a method);
//! 6. [`learner`] (one algorithm per file);
//! 7. [`registry`] (the list of all methods, a learner of any kind) and [`off_policy`].

#![forbid(unsafe_code)]

pub mod catalog;
mod check;
mod choice;
pub mod column_moments;
pub mod count;
pub mod error;
mod exact;
pub mod exact_float;
pub mod features;
pub mod iterate;
mod lanes;
pub mod learner;
mod linalg;
pub mod matrix;
mod memo;
pub mod method;
mod model;
pub mod number;
pub mod off_policy;
mod phi;
pub mod random;
pub mod registry;
pub mod schedule;
pub mod sealed;
mod solve;
pub mod suggestion;
pub mod theory;

pub use choice::control::ControlProblem;
pub use choice::stopping::StoppingProblem;
pub use choice::{control, stopping};
pub use error::{Error, Result};
pub use exact::{moments, paths, stability};
pub use learner::{Learner, portfolio};
pub use matrix::{Matrix, SparseMatrix};
pub use model::average_reward::AverageReward;
pub use model::chain::Chain;
pub use model::constants::Constants;
pub use model::mdp::Mdp;
pub use model::mixing::Mixing;
pub use model::problem::Problem;
pub use model::reward::Reward;
pub use model::{average_reward, chain, constants, mdp, mixing, problem, reward, simulate};
pub use phi::{Features, Outcome, Transition};
pub use solve::{
    equations, fixed_point, influence, krylov, online, sandwich, sparse, spread, support,
    trajectory,
};
