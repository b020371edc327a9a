#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod compare;
mod constants;
pub mod contest;
mod error;
mod estimator;
pub mod experiment;
pub mod number;
mod paper;
mod problem;
pub mod reproduce;
mod setting;
pub mod spec_file;
pub mod sweep;

// Streams.
pub use estimator::{Estimator, Interval};
pub use robust_td_core::{Features, Learner, Outcome, Transition, learner, registry};

// Log files.
pub use robust_td_data::{
    DataReport, Evaluation, Finding, Fit, Log, Predictions, Warning, evaluate, inspect,
};

// Models.
pub use problem::{load_problem, problem, problem_beside};
pub use robust_td_core::theory::{Certification, CertificationReport};
pub use robust_td_core::{
    Chain, Constants, Matrix, Mdp, Mixing, Problem, Reward, SparseMatrix, catalog, moments, random,
    schedule, simulate, theory,
};

// Sweeps, comparisons, experiments.
pub use compare::{Comparison, ComparisonResults, compare};
pub use experiment::{Experiment, ExperimentResults};
pub use reproduce::{Figures, reproduce};
pub use robust_td_engine::{Kernel, Progress};
pub use sweep::{Sweep, SweepResults, logspace};

pub use error::{Error, Result};
pub use setting::{SettingError, setting};
