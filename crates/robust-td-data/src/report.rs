//! Collects the result of an evaluation, with the keys that scripts rely on.

use robust_td_core::learner::Learner;
use robust_td_core::registry::{self, Approach};
use serde::Serialize;

use crate::averaged::{Averaged, LearnersReport};
use crate::choice::FeatureChoice;
use crate::diagnostics::TdErrors;
use crate::divergence::Divergence;
use crate::fit::Fit;
use crate::inspect::Finding;
use crate::learned::Learned;
use crate::model::Model;
use crate::off_policy::OffPolicyReport;
use crate::portfolio_choice::ConstantChoice;
use crate::return_variance::ReturnVariance;
use crate::returns::ReturnCheck;
use crate::solved::{Solved, Solver, Unit};
use crate::start_value::{MonteCarlo, StartValue};
use crate::uncertainty::Uncertainty;
use crate::unseen::Entry;

/// The result of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluationReport {
    /// The algorithm's id.
    pub algorithm: &'static str,
    /// How `auto` solved for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<Solver>,
    /// The learners that were averaged, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learners: Option<LearnersReport>,
    /// The value of the policy.
    pub start_value: Option<StartValue>,
    /// The mean return of complete episodes.
    pub monte_carlo: Option<MonteCarlo>,
    /// What is known about a policy that was not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_policy: Option<OffPolicyReport>,
    /// Whether the answer solves the equations of the log.
    pub converged: Option<bool>,
    /// |b - A theta| / |b| of the log's equations, with features scaled to mean square 1.
    pub relative_residual: Option<f64>,
    /// The number of independent features.
    pub rank: Option<usize>,
    /// What a reader must know, most serious first.
    pub findings: Vec<Finding>,
    /// Transitions learned from.
    pub steps: u64,
    /// The number of features.
    pub dimension: usize,
    /// The last iterate.
    pub theta: Vec<f64>,
    /// The algorithm's answer.
    pub theta_bar: Vec<f64>,
    /// The names of the features.
    pub feature_names: Vec<String>,
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
    /// The episodes of the log, also those whose first row yields no transition; `None` where they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episodes: Option<u64>,
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
    /// The unit of independence behind the intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Whether there would be intervals if the log were longer.
    #[serde(skip)]
    pub too_short: bool,
    /// Whether the answer is solved for directly, without a step size.
    #[serde(skip)]
    pub solved: bool,
    /// Whether the value of the policy is that of the first rows of episodes.
    #[serde(skip)]
    pub episodic: bool,
    /// The columns of the observation.
    #[serde(skip)]
    pub columns: Vec<String>,
    /// Rows from the smallest to the largest value.
    pub typical_rows: Vec<TypicalRow>,
    /// How much the return from a start varies, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_variance: Option<ReturnVariance>,
    /// How the feature map was chosen, if several were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_choice: Option<FeatureChoice>,
    /// The comparison of returns with predictions.
    pub check: Option<ReturnCheck>,
    /// Whether the features can express the values (`yes`, `no`, `not known`); `None` without a comparison, or a converged answer.
    pub features_fit: Option<&'static str>,
}

/// Whether the features can express the values of an answer, in a word or two.
fn features_fit(fit: &Fit) -> Option<&'static str> {
    let check = fit.check().filter(|_| fit.converged() != Some(false))?;
    Some(check.verdict().word())
}

/// A row of the log with its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TypicalRow {
    /// The observation.
    pub obs: Vec<Entry>,
    /// Its value.
    pub value: f64,
    /// The lower end of its interval.
    pub lower: Option<f64>,
    /// The upper end of its interval.
    pub upper: Option<f64>,
}

/// The temporal-difference errors, each at the iterate of its step; at the answer if it is solved for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TdErrorReport {
    /// Their mean.
    pub mean: f64,
    /// The root of their mean square.
    pub rms: f64,
    /// The largest absolute value.
    pub max: f64,
}

impl From<&TdErrors> for TdErrorReport {
    fn from(errors: &TdErrors) -> Self {
        Self {
            mean: errors.mean(),
            rms: errors.rms(),
            max: errors.largest(),
        }
    }
}

impl EvaluationReport {
    pub(crate) fn of(fit: &Fit) -> Self {
        match fit.model() {
            Model::Learned(learned) => Self::of_learned(fit, learned),
            Model::Solved(solved) => Self::of_solved(fit, solved),
            Model::Averaged(averaged) => Self::of_averaged(fit, averaged),
        }
    }

    fn of_learned(fit: &Fit, learned: &Learned) -> Self {
        let (learner, diagnostics) = (learned.learner(), learned.diagnostics());
        let divergence = fit.divergence();
        let residual = learned.assessment().map(|found| found.relative_residual);
        Self {
            algorithm: learner.id(),
            solver: None,
            learners: None,
            start_value: fit.start_value(),
            monte_carlo: fit.monte_carlo(),
            off_policy: None,
            converged: fit.converged(),
            relative_residual: residual,
            rank: None,
            findings: fit.findings(),
            steps: learner.steps(),
            dimension: learner.dimension(),
            theta: learner.theta().to_vec(),
            theta_bar: fit.theta_bar().to_vec(),
            feature_names: fit.feature_names(),
            phi_inf: learned.phi_inf(),
            max_theta_norm_sq: learner.health().max_theta_norm_sq,
            diverged: divergence.is_some(),
            seconds: fit.elapsed().as_secs_f64(),
            discount: learner.discount(),
            features: learned.features().spec().into(),
            rows: learned.pairing().rows(),
            left_out: learned.pairing().without_transition(),
            bad_rows: fit.bad_rows(),
            episodes: None,
            updates: learner.updates(),
            projections: learner.projections(),
            value_offset: learner.value_offset(),
            diverged_at: divergence.and_then(Divergence::step),
            suggestion: divergence.map(|_| learner.abilities().advice),
            td_error: diagnostics.td_errors().into(),
            residual: diagnostics.residual(),
            choice: ConstantChoice::of(learned),
            intervals: fit.uncertainty(),
            unit: None,
            too_short: fit.lacks_rows(),
            solved: learner.abilities().approach == Approach::Solution,
            episodic: (learned.assessment()).is_some_and(|found| found.starts.episodic),
            columns: (learned.assessment()).map_or(Vec::new(), |found| found.columns.clone()),
            typical_rows: typical_rows(fit),
            return_variance: None,
            feature_choice: None,
            check: fit.check().cloned(),
            features_fit: features_fit(fit),
        }
    }

    fn of_solved(fit: &Fit, solved: &Solved) -> Self {
        let facts = &solved.facts;
        let norm: f64 = solved.theta.iter().map(|x| x * x).sum();
        Self {
            algorithm: fit.algorithm(),
            solver: Some(facts.solver),
            learners: None,
            start_value: fit.start_value(),
            monte_carlo: fit.monte_carlo(),
            off_policy: fit.off_policy(),
            converged: fit.converged(),
            relative_residual: Some(solved.assessment.relative_residual),
            rank: facts.rank,
            findings: fit.findings(),
            steps: facts.transitions,
            dimension: solved.theta.len(),
            theta: solved.theta.clone(),
            theta_bar: solved.theta.clone(),
            feature_names: fit.feature_names(),
            phi_inf: facts.phi_inf,
            max_theta_norm_sq: norm,
            diverged: false,
            seconds: fit.elapsed().as_secs_f64(),
            discount: solved.discount,
            features: solved.features.spec().into(),
            rows: facts.rows,
            left_out: facts.left_out,
            bad_rows: facts.bad_rows,
            episodes: facts.episodes,
            updates: facts.transitions,
            projections: None,
            value_offset: 0.0,
            diverged_at: None,
            suggestion: None,
            td_error: (&facts.td_errors).into(),
            residual: None,
            choice: None,
            intervals: fit.uncertainty(),
            unit: Some(facts.unit),
            too_short: false,
            solved: true,
            episodic: solved.assessment.starts.episodic,
            columns: solved.assessment.columns.clone(),
            typical_rows: typical_rows(fit),
            return_variance: fit.return_variance(),
            feature_choice: solved.choice.clone(),
            check: fit.check().cloned(),
            features_fit: features_fit(fit),
        }
    }
}

impl EvaluationReport {
    fn of_averaged(fit: &Fit, averaged: &Averaged) -> Self {
        let (facts, assessment) = (&averaged.facts, averaged.assessment.as_ref());
        let divergence = fit.divergence();
        let method = registry::find(&averaged.algorithm).ok();
        Self {
            algorithm: averaged.algorithm(),
            solver: None,
            learners: Some(averaged.report()),
            start_value: fit.start_value(),
            monte_carlo: fit.monte_carlo(),
            off_policy: None,
            converged: fit.converged(),
            relative_residual: assessment.map(|found| found.relative_residual),
            rank: None,
            findings: fit.findings(),
            steps: facts.transitions,
            dimension: averaged.theta.len(),
            theta: averaged.theta.clone(),
            theta_bar: averaged.theta.clone(),
            feature_names: fit.feature_names(),
            phi_inf: averaged.phi_inf,
            max_theta_norm_sq: facts.max_theta_norm_sq,
            diverged: divergence.is_some(),
            seconds: fit.elapsed().as_secs_f64(),
            discount: averaged.discount,
            features: averaged.features.spec().into(),
            rows: facts.rows,
            left_out: facts.left_out,
            bad_rows: facts.bad_rows,
            episodes: None,
            updates: facts.updates,
            projections: facts.projections,
            value_offset: averaged.offset,
            diverged_at: divergence.and_then(Divergence::step),
            suggestion: divergence.and(method).map(|method| method.abilities.advice),
            td_error: (&facts.td_errors).into(),
            residual: None,
            choice: None,
            intervals: fit.uncertainty(),
            unit: None,
            too_short: false,
            solved: method.is_some_and(|method| method.abilities.approach == Approach::Solution),
            episodic: assessment.is_some_and(|found| found.starts.episodic),
            columns: assessment.map_or(Vec::new(), |found| found.columns.clone()),
            typical_rows: typical_rows(fit),
            return_variance: None,
            feature_choice: None,
            check: fit.check().cloned(),
            features_fit: features_fit(fit),
        }
    }
}

/// The rows to show, with their values.
fn typical_rows(fit: &Fit) -> Vec<TypicalRow> {
    let rows = fit.typical_rows().iter().filter_map(|obs| {
        let interval = fit.interval(obs).ok()?;
        Some(TypicalRow {
            obs: (obs.iter().enumerate())
                .map(|(k, &value)| Entry::of(fit.model().features(), k, value))
                .collect(),
            value: fit.value(obs).ok()?,
            lower: interval.map(|(lower, _)| lower),
            upper: interval.map(|(_, upper)| upper),
        })
    });
    rows.collect()
}
