//! Evaluates policies by temporal-difference learning with linear function approximation, without projection or tuning.
#![forbid(unsafe_code)]

pub mod constants;
mod error;
mod paper;
mod problem;
pub mod reproduce;
pub mod spec_file;
pub mod sweep;

pub use error::{Error, Result};
pub use problem::{load_problem, problem, problem_beside};
pub use reproduce::{Figures, reproduce};
pub use robust_td_core::{Chain, Constants, Mdp, Problem, catalog};
pub use sweep::{Sweep, SweepResults, logspace};
