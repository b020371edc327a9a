//! Tells what came of all constants.

use serde::{Deserialize, Serialize};

use super::bootstrap::Bootstrap;
use crate::iterate::Health;

/// What is known about one constant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneReport {
    /// The constant.
    pub c: f64,
    /// The residual on samples not learned from yet; none before any is measured, or once retired.
    #[serde(with = "crate::exact_float")]
    pub residual: Option<f64>,
    /// The sample at which it was given up.
    pub retired_at: Option<u64>,
    /// The largest |theta_t|^2.
    #[serde(with = "crate::exact_float")]
    pub max_theta_norm_sq: f64,
}

/// What the portfolio answers with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The samples that it rests on.
    pub samples: u64,
    /// The constant of the reported lane.
    pub c: f64,
    /// Its average.
    #[serde(with = "crate::exact_float")]
    pub output: Vec<f64>,
    /// How far its iterates went.
    pub health: Health,
    /// All constants.
    pub lanes: Vec<LaneReport>,
    /// The replicates, if there are some.
    pub bootstrap: Option<Bootstrap>,
}
