//! Describes an experiment as the user writes it.

use std::collections::BTreeMap;

use robust_td_core::catalog::Setting;
use robust_td_engine::contest::{Estimate, Score};
use serde::Deserialize;

/// An experiment as it is written in a TOML file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSpec {
    /// Title of the report.
    #[serde(default)]
    pub title: Option<String>,
    /// The question that the experiment answers.
    #[serde(default)]
    pub question: Option<String>,
    /// A catalog name, or a problem file relative to the spec.
    pub problem: String,
    /// Fixed parameters of a catalog problem.
    #[serde(default)]
    pub set: BTreeMap<String, Setting>,
    /// What varies, and its values.
    #[serde(default)]
    pub vary: BTreeMap<String, Vec<f64>>,
    /// Methods with settings.
    pub algorithms: Vec<String>,
    /// Parameters for all methods, or for one.
    #[serde(default)]
    pub param: BTreeMap<String, f64>,
    /// T; may be absent when it varies.
    #[serde(default)]
    pub horizon: Option<u64>,
    /// Independent runs.
    #[serde(default = "usual_runs")]
    pub runs: u64,
    /// Seed of the trajectories.
    #[serde(default = "usual_seed")]
    pub seed: u64,
    /// What the figure shows.
    #[serde(default)]
    pub show: Show,
    /// Numbers of agents for one-shot averaging.
    #[serde(default)]
    pub agents: Vec<u64>,
}

fn usual_runs() -> u64 {
    48
}

fn usual_seed() -> u64 {
    1
}

/// What the figure of an experiment shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Show {
    /// f of the output.
    #[default]
    F,
    /// |V - V*|_D^2.
    DNormSq,
    /// |output - theta*|^2.
    ThetaErrorSq,
    /// The largest mean |theta_t|^2.
    MaxMeanThetaNormSq,
    /// Projections per run.
    Projections,
}

impl Show {
    /// The quantity of a score.
    #[must_use]
    pub fn of(self, score: &Score) -> Estimate {
        let exact = |mean| Estimate {
            mean,
            standard_error: 0.0,
        };
        match self {
            Self::F => score.f,
            Self::DNormSq => score.d_norm_sq,
            Self::ThetaErrorSq => score.theta_error_sq,
            Self::MaxMeanThetaNormSq => exact(score.max_mean_theta_norm_sq),
            Self::Projections => exact(score.projections.unwrap_or(0.0)),
        }
    }

    /// The label of the axis.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::F => "f of the output, mean over runs",
            Self::DNormSq => "|V − V*|² in the D-norm, mean over runs",
            Self::ThetaErrorSq => "|θ − θ*|² of the output, mean over runs",
            Self::MaxMeanThetaNormSq => "largest mean |θ|²",
            Self::Projections => "projections per run",
        }
    }
}
