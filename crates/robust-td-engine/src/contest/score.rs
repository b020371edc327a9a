//! Defines the results reported for each entrant.

use serde::{Deserialize, Serialize};

use crate::diagnostics::Estimate;

/// The results of an entrant over all runs.
///
/// f, the D-norm and the distance are those of the method's own output after the last sample, such
/// as an average of its iterates. Values that are not finite are reported as infinite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// f(output) = (1-gamma) |V - V*|_D^2 + gamma |V - V*|_Dir^2 with V the output's values.
    pub f: Estimate,
    /// f(output) of each run.
    pub f_of_runs: Vec<f64>,
    /// |V - V*|_D^2.
    pub d_norm_sq: Estimate,
    /// |output - theta*|^2.
    pub theta_error_sq: Estimate,
    /// f of the mean output over runs: the part of f that averaging over runs does not remove.
    pub f_of_mean: f64,
    /// max over all t of the mean over runs of |theta_t|^2.
    pub max_mean_theta_norm_sq: f64,
    /// The first t that attains it (or is not finite).
    pub peak_step: u64,
    /// Share of runs with |theta_t|^2 > 1e12, or not finite, at some t.
    pub divergence_rate: f64,
    /// Mean number of projections per run, for methods that project.
    pub projections: Option<f64>,
    /// The number of updates of each run, below the number of samples for methods that drop data.
    pub updates: u64,
    /// f of the output over time.
    pub curve: Vec<CurvePoint>,
}

/// A point of a learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The number of samples.
    pub samples: u64,
    /// f of the output at that time.
    pub f: Estimate,
}
