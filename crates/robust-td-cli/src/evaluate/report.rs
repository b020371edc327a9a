//! Says what was learned.

use std::io::Write;
use std::time::Duration;

use robust_td_core::learner::{DIVERGENCE_THRESHOLD, Learner};
use robust_td_core::registry::Approach;
use robust_td_data::Model;
use serde::Serialize;

use super::choice::Choice;
use super::returns::MonteCarloCheck;
use super::uncertainty::{self, TOO_FEW, Uncertainty};
use crate::text;

/// The result, with the keys that scripts rely on.
#[derive(Debug, Serialize)]
pub struct Report {
    algorithm: &'static str,
    #[serde(skip)]
    approach: Approach,
    steps: u64,
    dimension: usize,
    theta: Vec<f64>,
    theta_bar: Vec<f64>,
    phi_inf: f64,
    max_theta_norm_sq: f64,
    diverged: bool,
    seconds: f64,
    discount: f64,
    features: String,
    rows: u64,
    left_out: u64,
    bad_rows: u64,
    updates: u64,
    projections: Option<u64>,
    value_offset: f64,
    diverged_at: Option<u64>,
    suggestion: Option<String>,
    td_error: TdError,
    residual: Option<f64>,
    #[serde(flatten)]
    choice: Option<Choice>,
    intervals: Option<Uncertainty>,
    /// Whether there should be intervals, but the log is too short.
    #[serde(skip)]
    too_short: bool,
    /// How returns compare with predictions, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monte_carlo_check: Option<MonteCarloCheck>,
}

#[derive(Debug, Serialize)]
struct TdError {
    mean: f64,
    rms: f64,
    max: f64,
}

impl Report {
    /// The result of a model.
    pub fn new(model: &Model, bad_rows: u64, confidence: f64, elapsed: Duration) -> Self {
        let learner = model.learner();
        let theta_bar = learner.output();
        let health = learner.health();
        let td_errors = model.diagnostics().td_errors();
        Self {
            algorithm: learner.id(),
            approach: learner.abilities().approach,
            steps: learner.steps(),
            dimension: learner.dimension(),
            theta: learner.theta().to_vec(),
            intervals: Uncertainty::of(model, &theta_bar, confidence),
            choice: Choice::of(model),
            theta_bar,
            phi_inf: model.phi_inf(),
            max_theta_norm_sq: health.max_theta_norm_sq,
            diverged: health.diverged(),
            seconds: elapsed.as_secs_f64(),
            discount: learner.discount(),
            features: model.features().spec().into(),
            rows: model.pairing().rows(),
            left_out: model.pairing().left_out(),
            bad_rows,
            updates: learner.updates(),
            projections: learner.projections(),
            value_offset: learner.value_offset(),
            diverged_at: health.diverged_at,
            suggestion: health.diverged().then(|| learner.abilities().advice.into()),
            td_error: TdError {
                mean: td_errors.mean(),
                rms: td_errors.rms(),
                max: td_errors.largest(),
            },
            residual: model.diagnostics().residual(),
            too_short: uncertainty::lacks_rows(model),
            monte_carlo_check: None,
        }
    }

    /// The result for people.
    pub fn page(&self) -> String {
        let mut rows = vec![
            (
                "algorithm",
                format!("{}, discount {}", self.algorithm, self.discount),
            ),
            (
                "data",
                format!(
                    "{} from {}; {} without a successor, {} skipped",
                    text::count(self.steps as usize, "transition"),
                    text::count(self.rows as usize, "row"),
                    text::count(self.left_out as usize, "row"),
                    text::count(self.bad_rows as usize, "bad row")
                ),
            ),
            (
                "features",
                format!(
                    "{}: {} of them, norm at most {}",
                    self.features,
                    self.dimension,
                    text::number(self.phi_inf)
                ),
            ),
            ("theta_bar", text::list(&self.theta_bar)),
            ("iterates", self.iterates()),
            (
                "TD error",
                format!(
                    "mean {}, root mean square {}, largest {}",
                    text::number(self.td_error.mean),
                    text::number(self.td_error.rms),
                    text::number(self.td_error.max)
                ),
            ),
        ];
        if let Some(residual) = self.residual {
            let value = text::number(residual);
            let meaning =
                "|mean of delta phi| on blocks not learned from yet; 0 at the TD fixed point";
            rows.push(("residual", format!("{value} ({meaning})")));
        }
        if let Some(choice) = &self.choice {
            rows.insert(1, ("constant", choice.summary()));
        }
        if let Some(projections) = self.projections {
            rows.push(("projections", projections.to_string()));
        }
        if let Some(suggestion) = &self.suggestion {
            rows.push(("suggestion", suggestion.clone()));
        }
        if self.too_short {
            rows.push(("intervals", TOO_FEW.into()));
        }
        rows.push(("seconds", format!("{:.2}", self.seconds)));
        let mut page = text::definitions(&rows);
        if let Some(choice) = &self.choice {
            page += &choice.table();
        }
        if let Some(intervals) = &self.intervals {
            page += &intervals.table(&self.theta_bar);
        }
        if let Some(check) = &self.monte_carlo_check {
            page += &check.page();
        }
        page
    }
}

impl Report {
    /// How far the iterates went.
    fn iterates(&self) -> String {
        let largest = text::number(self.max_theta_norm_sq);
        match (self.approach, self.diverged_at) {
            // It has no steps that could be too large: only a matrix that is nearly singular throws it off, for a while.
            (Approach::Solution, None) => {
                format!("solved for, not stepped to: largest |theta|^2 on the way {largest}")
            }
            (Approach::Solution, Some(step)) => format!(
                "solved for, not stepped to: |theta|^2 up to {largest} on the way, above {DIVERGENCE_THRESHOLD:e} first at step \
                 {step}, where the matrix was nearly singular"
            ),
            (_, Some(step)) => format!("diverged at step {step}"),
            (_, None) => format!("bounded: largest |theta|^2 {largest}"),
        }
    }
}

/// Prints the answer so far as one line of JSON on standard error.
pub fn so_far(model: &Model) {
    let learner = model.learner();
    let line = serde_json::json!({
        "steps": learner.steps(),
        "theta_bar": learner.output(),
        "max_theta_norm_sq": learner.health().max_theta_norm_sq,
        "diverged": learner.health().diverged(),
        "residual": model.diagnostics().residual(),
    });
    // A reader that has seen enough is no failure.
    let _ = writeln!(std::io::stderr(), "{line}");
}
