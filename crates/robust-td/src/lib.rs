//! Evaluates policies by temporal-difference learning with linear function approximation, without projection or tuning.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod compare;
mod constants;
pub mod contest;
mod error;
mod estimator;
pub mod experiment;
mod paper;
mod problem;
mod problem_report;
pub mod reproduce;
mod setting;
#[doc(hidden)]
pub mod spec_file;
pub mod sweep;

// Streams.
pub use estimator::{Estimator, Interval};
pub use robust_td_core::{Features, Learner, Outcome, Transition, features, learner, registry};

// Log files.
pub mod logs;
pub mod report;
pub use robust_td_data::{Evaluation, Fit, Log, evaluate, inspect};

// Models.
pub use problem::{load_problem, problem, problem_beside};
pub use problem_report::ProblemReport;
pub use robust_td_core::theory::{Certification, CertificationReport};
pub use robust_td_core::{
    Chain, Constants, ControlProblem, Matrix, Mdp, Mixing, Problem, Reward, SparseMatrix,
    StoppingProblem, catalog, moments, off_policy, random, schedule, simulate, stability, theory,
};

// Sweeps, comparisons, experiments.
pub use compare::{Comparison, ComparisonResults, compare};
pub use experiment::{Experiment, ExperimentResults};
pub use reproduce::{Figures, reproduce};
pub use robust_td_engine::{Kernel, Progress};
pub use robust_td_simd::set_kernel;
pub use sweep::{Sweep, SweepResults, logspace};

pub use error::{Error, Result};
#[doc(hidden)]
pub use robust_td_core::number;
#[doc(hidden)]
pub use setting::{SettingError, problem_setting, setting};
