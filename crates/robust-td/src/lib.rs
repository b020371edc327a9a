//! Evaluates policies by temporal-difference learning with linear function approximation, without projection or tuning.
#![forbid(unsafe_code)]

pub use robust_td_core::{Chain, Mdp, Problem, catalog};
