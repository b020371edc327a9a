//! Says which constant the data chose.

use robust_td_core::learner::Learner;
use robust_td_core::portfolio::Answer;
use robust_td_data::Model;
use serde::Serialize;

use crate::text;

/// The choice of the portfolio.
#[derive(Debug, Serialize)]
pub struct Choice {
    c: f64,
    samples: u64,
    portfolio: Vec<Lane>,
}

/// One constant.
#[derive(Debug, Serialize)]
struct Lane {
    c: f64,
    residual: Option<f64>,
    bounded: bool,
    retired_at: Option<u64>,
    max_theta_norm_sq: f64,
}

impl Choice {
    /// The choice of a model, if it has one.
    pub fn of(model: &Model) -> Option<Self> {
        let Answer {
            c, samples, lanes, ..
        } = model.learner().choice()?;
        let lane = |lane: &robust_td_core::portfolio::LaneReport| Lane {
            c: lane.c,
            residual: lane.residual,
            bounded: lane.retired_at.is_none(),
            retired_at: lane.retired_at,
            max_theta_norm_sq: lane.max_theta_norm_sq,
        };
        Some(Self {
            c,
            samples,
            portfolio: lanes.iter().map(lane).collect(),
        })
    }

    /// How many transitions a portfolio's answer rests on.
    pub fn samples_of(model: &Model) -> Option<u64> {
        model.learner().choice().map(|answer| answer.samples)
    }

    /// One line for people.
    pub fn summary(&self) -> String {
        let retired = self.portfolio.iter().filter(|lane| !lane.bounded).count();
        let bounded = self.portfolio.len() - retired;
        let c = text::number(self.c);
        if bounded == 0 {
            return format!(
                "all {retired} constants were retired: none gives an answer to rely on"
            );
        }
        format!(
            "c = {c}, the smallest residual of {bounded} that stayed bounded ({retired} retired), on {}",
            text::count(self.samples as usize, "transition")
        )
    }

    /// The table for people.
    pub fn table(&self) -> String {
        let mut page = String::from("\nc          residual   largest |theta|^2\n");
        for lane in &self.portfolio {
            let residual = match (lane.retired_at, lane.residual) {
                (Some(step), _) => format!("retired at {step}"),
                (None, Some(residual)) => {
                    let mark = if lane.c == self.c { " <" } else { "" };
                    let norm = text::number(lane.max_theta_norm_sq);
                    format!("{:<10} {norm}{mark}", text::number(residual))
                }
                (None, None) => "not measured yet".into(),
            };
            page += &format!("{:<10} {residual}\n", text::number(lane.c));
        }
        page
    }
}
