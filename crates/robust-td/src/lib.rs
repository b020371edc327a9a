//! Evaluates policies by temporal-difference learning with linear function approximation, without projection or tuning.
#![forbid(unsafe_code)]

pub mod compare;
mod constants;
pub mod contest;
mod error;
pub mod experiment;
pub mod number;
mod paper;
mod problem;
pub mod reproduce;
mod setting;
pub mod spec_file;
pub mod sweep;

pub use compare::{Comparison, ComparisonResults, compare};
pub use error::{Error, Result};
pub use experiment::{Experiment, ExperimentResults};
pub use problem::{load_problem, problem, problem_beside};
pub use reproduce::{Figures, reproduce};
pub use robust_td_core::theory::{Certification, CertificationReport};
pub use robust_td_core::{Chain, Constants, Mdp, Problem, catalog};
pub use robust_td_engine::{Kernel, Progress};
pub use setting::{SettingError, setting};
pub use sweep::{Sweep, SweepResults, logspace};
