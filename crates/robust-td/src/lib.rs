//! Evaluates policies by temporal-difference learning with linear function approximation, without projection or tuning.
#![forbid(unsafe_code)]

mod error;
mod problem;
pub mod spec_file;

pub use error::{Error, Result};
pub use problem::{load_problem, problem, problem_beside};
pub use robust_td_core::{Chain, Mdp, Problem, catalog};
