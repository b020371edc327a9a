//! Collects the result of an evaluation, with the keys that scripts rely on.

use robust_td_core::learner::Learner;
use robust_td_core::registry::Approach;
use serde::Serialize;

use crate::fit::Fit;
use crate::monte_carlo::MonteCarloCheck;
use crate::portfolio_choice::ConstantChoice;
use crate::uncertainty::Uncertainty;

/// The result of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluationReport {
    /// The algorithm's id.
    pub algorithm: &'static str,
    /// Transitions learned from.
    pub steps: u64,
    /// The number of features.
    pub dimension: usize,
    /// The last iterate.
    pub theta: Vec<f64>,
    /// The algorithm's answer.
    pub theta_bar: Vec<f64>,
    /// The bound on the norm of the features.
    pub phi_inf: f64,
    /// The largest |theta_t|^2.
    pub max_theta_norm_sq: f64,
    /// Whether the iterates diverged.
    pub diverged: bool,
    /// How long it took.
    pub seconds: f64,
    /// The discount factor gamma.
    pub discount: f64,
    /// The feature map.
    pub features: String,
    /// Good rows.
    pub rows: u64,
    /// Good rows without a successor.
    pub left_out: u64,
    /// Bad rows that were skipped.
    pub bad_rows: u64,
    /// Steps that changed theta.
    pub updates: u64,
    /// Activations of a projection, for algorithms that have one.
    pub projections: Option<u64>,
    /// The constant added to phi.theta_bar to give a value.
    pub value_offset: f64,
    /// The step at which the iterates diverged.
    pub diverged_at: Option<u64>,
    /// What to try after a divergence.
    pub suggestion: Option<&'static str>,
    /// The temporal-difference errors.
    pub td_error: TdErrorReport,
    /// The TD residual: |mean of delta phi| on blocks not learned from yet.
    pub residual: Option<f64>,
    /// The choice of c, for the portfolio.
    #[serde(flatten)]
    pub choice: Option<ConstantChoice>,
    /// Intervals of theta_bar.
    pub intervals: Option<Uncertainty>,
    /// Whether there would be intervals if the log were longer.
    #[serde(skip)]
    pub too_short: bool,
    /// Whether the answer is solved for directly, without a step size.
    #[serde(skip)]
    pub solved: bool,
    /// The comparison of returns with predictions, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monte_carlo_check: Option<MonteCarloCheck>,
}

/// The temporal-difference errors, each at the iterate of its step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TdErrorReport {
    /// Their mean.
    pub mean: f64,
    /// The root of their mean square.
    pub rms: f64,
    /// The largest absolute value.
    pub max: f64,
}

impl EvaluationReport {
    pub(crate) fn of(fit: &Fit) -> Self {
        let model = fit.model();
        let (learner, diagnostics) = (model.learner(), model.diagnostics());
        let (health, td_errors) = (learner.health(), diagnostics.td_errors());
        Self {
            algorithm: learner.id(),
            steps: learner.steps(),
            dimension: learner.dimension(),
            theta: learner.theta().to_vec(),
            theta_bar: fit.theta_bar().to_vec(),
            phi_inf: model.phi_inf(),
            max_theta_norm_sq: health.max_theta_norm_sq,
            diverged: health.diverged(),
            seconds: fit.elapsed().as_secs_f64(),
            discount: learner.discount(),
            features: model.features().spec().into(),
            rows: model.pairing().rows(),
            left_out: model.pairing().left_out(),
            bad_rows: fit.bad_rows(),
            updates: learner.updates(),
            projections: learner.projections(),
            value_offset: learner.value_offset(),
            diverged_at: health.diverged_at,
            suggestion: (health.diverged()).then(|| learner.abilities().advice),
            td_error: TdErrorReport {
                mean: td_errors.mean(),
                rms: td_errors.rms(),
                max: td_errors.largest(),
            },
            residual: diagnostics.residual(),
            choice: ConstantChoice::of(model),
            intervals: fit.uncertainty(),
            too_short: fit.lacks_rows(),
            solved: learner.abilities().approach == Approach::Solution,
            monte_carlo_check: fit.monte_carlo_check().cloned(),
        }
    }
}
