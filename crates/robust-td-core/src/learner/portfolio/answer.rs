//! Reports the result for each candidate constant c.

use serde::{Deserialize, Serialize};

use super::bootstrap::Bootstrap;
use crate::iterate::Health;

/// The result for one constant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneReport {
    /// The constant.
    pub c: f64,
    /// The residual on held-out samples; `None` before the first measurement or once retired.
    #[serde(with = "crate::exact_float")]
    pub residual: Option<f64>,
    /// The sample at which the lane was retired.
    #[serde(deserialize_with = "crate::count::read")]
    pub retired_at: Option<u64>,
    /// The largest |theta_t|^2.
    #[serde(with = "crate::exact_float")]
    pub max_theta_norm_sq: f64,
}

/// The portfolio's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The number of samples used.
    #[serde(deserialize_with = "crate::count::read")]
    pub samples: u64,
    /// The constant of the reported lane.
    pub c: f64,
    /// The average of that lane.
    #[serde(with = "crate::exact_float")]
    pub output: Vec<f64>,
    /// The norms of its iterates, and whether they diverged.
    pub health: Health,
    /// The results of all constants.
    pub lanes: Vec<LaneReport>,
    /// The bootstrap replicates, if any.
    pub bootstrap: Option<Bootstrap>,
}
