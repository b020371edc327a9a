//! Reports which constant c the data chose.

use robust_td_core::learner::Learner;
use robust_td_core::portfolio::{Answer, LaneReport};
use serde::Serialize;

use crate::learned::Learned;

/// The choice of the portfolio.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConstantChoice {
    /// The constant.
    pub c: f64,
    /// The number of transitions that the answer is based on.
    pub samples: u64,
    /// All constants.
    pub portfolio: Vec<Candidate>,
}

/// One constant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Candidate {
    /// The constant.
    pub c: f64,
    /// The score by which it is chosen: |mean of delta phi| with every feature scaled to mean square 1, on transitions not
    /// learned from yet. The smallest wins.
    #[serde(rename = "residual")]
    pub score: Option<f64>,
    /// Whether it was not retired.
    pub bounded: bool,
    /// The step by which it was retired.
    pub retired_at: Option<u64>,
    /// The largest |theta_t|^2.
    pub max_theta_norm_sq: f64,
}

impl ConstantChoice {
    /// The choice of a model, if it makes one.
    #[must_use]
    pub fn of(model: &Learned) -> Option<Self> {
        let Answer {
            c, samples, lanes, ..
        } = model.learner().choice()?;
        let candidate = |lane: &LaneReport| Candidate {
            c: lane.c,
            score: lane.residual,
            bounded: lane.retired_at.is_none(),
            retired_at: lane.retired_at,
            max_theta_norm_sq: lane.max_theta_norm_sq,
        };
        Some(Self {
            c,
            samples,
            portfolio: lanes.iter().map(candidate).collect(),
        })
    }
}
