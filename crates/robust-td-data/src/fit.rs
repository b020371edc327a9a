//! Holds a learned model and predicts with it.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use robust_td_core::features::Row;
use robust_td_core::learner::{Learner, LinearValue};
use robust_td_core::registry;
use robust_td_core::spread::Spread;

use crate::averaged::LearnersReport;
use crate::choice::FeatureChoice;
use crate::divergence::Divergence;
use crate::error::{Error, Result};
use crate::evaluate::request::check_confidence;
use crate::findings;
use crate::inspect::{Finding, FindingKind};
use crate::log::Log;
use crate::model::Model;
use crate::off_policy::OffPolicyReport;
use crate::options::ReadAs;
use crate::predicted::{Limits, PredictedRows};
use crate::predictor::{Intervals, Predictions, Predictor, intervals_of};
use crate::report::EvaluationReport;
use crate::return_variance::ReturnVariance;
use crate::returns::ReturnCheck;
use crate::sample::ValueSample;
use crate::start_value::{MonteCarlo, StartValue};
use crate::uncertainty::Uncertainty;
use crate::unseen::Unseen;
use crate::warning::Warning;
use crate::write::{ValueFormat, ValueWriter};

/// The maximum number of features that are named.
const MOST_NAMES: usize = 100_000;
/// The default confidence level of intervals.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// A value function learned from a log.
///
/// Intervals measure the sampling error around the TD fixed point, not the approximation error of the features.
#[derive(Debug)]
pub struct Fit {
    model: Model,
    value: LinearValue,
    intervals: Option<Intervals>,
    confidence: f64,
    pub(crate) bad_rows: u64,
    pub(crate) elapsed: Duration,
    pub(crate) findings: Vec<Finding>,
    /// Warnings about the log.
    pub(crate) log_warnings: Vec<Warning>,
    pub(crate) layout: ReadAs,
}

impl Fit {
    /// A model with intervals of a confidence above 0 and below 1.
    ///
    /// # Errors
    /// When the confidence is out of range.
    pub fn new(model: Model, confidence: f64) -> Result<Self> {
        check_confidence(confidence)?;
        Ok(Self {
            value: model.value_function(),
            intervals: intervals_of(&model),
            layout: model.layout(),
            model,
            confidence,
            bad_rows: 0,
            elapsed: Duration::ZERO,
            findings: Vec::new(),
            log_warnings: Vec::new(),
        })
    }

    /// Reads a saved model; intervals have the confidence 0.95 unless [`Fit::with_confidence`] sets another.
    ///
    /// # Errors
    /// When the file cannot be read, is not a model, has another version, or is inconsistent.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(Model::load(path)?, CONFIDENCE)
    }

    /// Writes the model: everything needed to resume or predict. The file is written atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.model.save(path)
    }

    /// The same with intervals of another confidence.
    ///
    /// # Errors
    /// When it is not above 0 and below 1.
    pub fn with_confidence(self, confidence: f64) -> Result<Self> {
        check_confidence(confidence)?;
        Ok(Self { confidence, ..self })
    }

    /// The confidence level of intervals.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model, to be resumed.
    #[must_use]
    pub fn into_model(self) -> Model {
        self.model
    }

    /// The algorithm's id.
    #[must_use]
    pub fn algorithm(&self) -> &'static str {
        match &self.model {
            Model::Learned(learned) => learned.learner().id(),
            Model::Solved(_) => registry::FOR_LOGS,
            Model::Averaged(averaged) => averaged.algorithm(),
        }
    }

    /// The parameter vector, whose inner product with the features is the value.
    #[must_use]
    pub fn theta_bar(&self) -> &[f64] {
        &self.value.theta
    }

    /// The number of transitions learned from.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.model.steps()
    }

    /// Whether the iterates diverged; the values are then not reliable. An answer that is solved for has no iterates.
    #[must_use]
    pub fn diverged(&self) -> bool {
        self.divergence().is_some()
    }

    /// Whether the answer solves the equations of the log; `None` if that is not known.
    #[must_use]
    pub fn converged(&self) -> Option<bool> {
        self.model.converged()
    }

    /// The value of the policy: the mean value over the first rows of episodes, or over all rows where there are no episodes.
    #[must_use]
    pub fn start_value(&self) -> Option<StartValue> {
        StartValue::of(&self.model, self.confidence)
    }

    /// The mean return of complete episodes, if there are any.
    #[must_use]
    pub fn monte_carlo(&self) -> Option<MonteCarlo> {
        let assessment = self.model.assessment()?;
        let complete = assessment
            .complete
            .as_ref()
            .filter(|_| assessment.starts.episodic);
        Some(MonteCarlo::of(complete?, self.confidence))
    }

    /// What is known about a policy that was not followed, if the log describes one.
    #[must_use]
    pub fn off_policy(&self) -> Option<OffPolicyReport> {
        match &self.model {
            Model::Learned(_) | Model::Averaged(_) => None,
            Model::Solved(solved) => {
                let found = solved.off_policy.as_ref()?;
                let why = |finding: &&Finding| {
                    let kind = finding.kind;
                    kind == FindingKind::NotLearned
                        || kind == FindingKind::UnsupportedPolicy
                        || kind == FindingKind::EstimatorsDiffer
                        || kind == FindingKind::IntervalsUnknown
                };
                let why = solved.facts.findings.iter().find(why);
                let why = why.map(|finding| match finding.kind {
                    FindingKind::EstimatorsDiffer => "other estimators contradict it".into(),
                    _ => finding.message.clone(),
                });
                Some(found.report(self.start_value(), why, self.confidence))
            }
        }
    }

    /// The learners behind an average of several, if [`Evaluation::learners`](crate::Evaluation::learners) asked for it.
    #[must_use]
    pub fn learners(&self) -> Option<LearnersReport> {
        match &self.model {
            Model::Averaged(averaged) => Some(averaged.report()),
            _ => None,
        }
    }

    /// The names of the features; empty if there are more than 100,000.
    #[must_use]
    pub fn feature_names(&self) -> Vec<String> {
        let assessment = self.model.assessment();
        let columns = assessment.map_or(&[][..], |found| &found.columns);
        let features = self.model.features();
        match features.outputs() <= MOST_NAMES {
            true => features.names(columns),
            false => Vec::new(),
        }
    }

    /// Whether the answer is finite; if not, nothing can be predicted.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.value.is_finite()
    }

    /// How the model diverged, if it did.
    #[must_use]
    pub fn divergence(&self) -> Option<Divergence> {
        match &self.model {
            Model::Learned(learned) => learned.divergence(),
            Model::Solved(_) => None,
            Model::Averaged(averaged) => averaged.facts.divergence,
        }
    }

    /// The value of one observation.
    ///
    /// # Errors
    /// When it does not have the length that the feature map expects.
    pub fn value(&self, observation: &[f64]) -> Result<f64> {
        let row = self.row(observation)?;
        Ok(self.value.value(row.features()))
    }

    /// The lower and upper end of the interval of one observation's value; `None` for most algorithms, and for short logs.
    ///
    /// # Errors
    /// When the observation does not have the length that the feature map expects.
    pub fn interval(&self, observation: &[f64]) -> Result<Option<(f64, f64)>> {
        let row = self.row(observation)?;
        let product = row.features().dot(&self.value.theta);
        let value = product + self.value.offset;
        Ok(self.intervals.as_ref().map(|intervals| {
            let sides = match self.model.features().knows(observation) {
                true => intervals.sides(product, row.features(), self.confidence),
                false => Spread::UNKNOWN.sides(self.confidence),
            };
            (value - sides.below, value + sides.above)
        }))
    }

    fn row(&self, observation: &[f64]) -> Result<Row> {
        let (features, found) = (self.model.features(), observation.len());
        if features.inputs() != found {
            let expected = features.inputs();
            return Err(Error::ModelInput { expected, found });
        }
        let mut row = Row::for_map(features);
        features.write(observation, &mut row);
        Ok(row)
    }

    /// The values of the rows of a file, with the ends of their intervals if there are any. Columns are found as in the log
    /// that was learned from; [`Fit::predict_log`] takes a log with its own settings.
    ///
    /// # Errors
    /// When the file cannot be read, its observations have another length, or a value is not finite.
    pub fn predict(&self, file: impl Into<String>) -> Result<Predictions> {
        self.predict_log(Log::files([file]))
    }

    /// As [`Fit::predict`], for a log with its own settings.
    ///
    /// # Errors
    /// As [`Fit::predict`].
    pub fn predict_log(&self, log: Log) -> Result<Predictions> {
        let (mut rows, mut batch) = (self.predicted(log)?, Predictions::default());
        let mut all = Predictions::default();
        while rows.read(&mut batch)? {
            all.append(&mut batch);
        }
        Ok(all)
    }

    /// Writes the values of a log as columns, in memory that does not depend on its length: `value`, and `lower` and `upper` if
    /// there are intervals. Where bad rows may be skipped, the column `row` has the number of each row in its file, and `file` its name
    /// if there are several, unless a copied column has that name.
    ///
    /// # Errors
    /// As [`Fit::predict`], and when the output cannot be written. Nothing is written until the first rows are known to match the model.
    /// Returns the output, and what limits the values.
    pub fn write_predictions<W: Write + Send>(
        &self,
        log: Log,
        format: ValueFormat,
        out: W,
    ) -> Result<(W, Limits)> {
        let columns = match self.intervals {
            Some(_) => &["value", "lower", "upper"][..],
            None => &["value"],
        };
        let (mut rows, mut found) = (self.predicted(log)?, Predictions::default());
        let mut more = rows.read(&mut found)?;
        let mut writer = ValueWriter::with_kept(format, out, &rows.batch.kept, columns)?;
        let mut limits = Limits::default();
        while more {
            limits.unbounded = rows.unbounded(limits.unbounded.take(), &found);
            limits.unseen = Unseen::join(limits.unseen.take(), found.unseen.take());
            let all = [&found.values[..], &found.lower, &found.upper];
            writer.write_with(&rows.batch.kept, &all[..columns.len()])?;
            more = rows.read(&mut found)?;
        }
        limits.skipped = rows.reader.bad_rows().clone();
        Ok((writer.finish()?, limits))
    }

    fn predicted(&self, mut log: Log) -> Result<PredictedRows> {
        log.default_layout(&self.layout);
        log.expect_actions(self.model.features().actions());
        let predictor = self.predictor(true)?;
        PredictedRows::open(log, predictor)
    }

    /// What predicts, with or without intervals.
    ///
    /// # Errors
    /// When the model diverged.
    pub(crate) fn predictor(&self, intervals: bool) -> Result<Predictor> {
        if !self.is_finite() {
            let divergence = self.divergence().unwrap_or(Divergence::Overflow);
            return Err(Error::ModelDiverged { divergence });
        }
        let intervals = match intervals {
            true => self.intervals.clone(),
            false => None,
        };
        Ok(Predictor::of(&self.model, intervals, self.confidence))
    }

    /// Intervals of theta_bar and how they were computed; `None` for most algorithms, and for short logs.
    #[must_use]
    pub fn uncertainty(&self) -> Option<Uncertainty> {
        let intervals = self.intervals.clone()?;
        let found = Uncertainty::of(&self.model, intervals, &self.value.theta, self.confidence);
        Some(found)
    }

    /// Whether there would be intervals if the log were longer.
    #[must_use]
    pub fn lacks_rows(&self) -> bool {
        let keeps = matches!(&self.model, Model::Learned(learned) if learned.keeps_errors());
        let unsure = self.diverged() || self.converged() == Some(false);
        keeps && !unsure && self.intervals.is_none()
    }

    /// The warnings, most serious first.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.log_warnings.clone();
        if let Some(divergence) = self.divergence() {
            warnings.insert(0, Warning::Diverged { divergence });
        }
        if self.lacks_rows() {
            warnings.push(Warning::TooFewRows);
        }
        let intervals = self.uncertainty();
        warnings.extend(intervals.iter().flat_map(Uncertainty::warnings));
        warnings
    }

    /// What a reader of the answer must know, most serious first: about the answer, then about the log.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        match &self.model {
            Model::Solved(solved) => solved.facts.findings.clone(),
            Model::Averaged(averaged) => {
                let mut list = findings::of_averaged(averaged);
                list.splice(0..0, self.warnings().iter().map(Warning::finding));
                list.extend_from_slice(&averaged.facts.findings);
                list
            }
            Model::Learned(learned) => {
                let mut list = findings::of_learned(learned);
                list.extend(self.warnings().iter().map(Warning::finding));
                list.extend_from_slice(&self.findings);
                list
            }
        }
    }

    /// How much the return from a random start varies, if [`Evaluation::return_variance`](crate::Evaluation::return_variance) asked for it.
    #[must_use]
    pub fn return_variance(&self) -> Option<ReturnVariance> {
        match &self.model {
            Model::Learned(_) | Model::Averaged(_) => None,
            Model::Solved(solved) => ReturnVariance::of(solved, self.confidence),
        }
    }

    /// The standard deviation of the return from one observation; `None` if the variance was not solved for, or its estimate is negative.
    ///
    /// # Errors
    /// When the observation does not have the length that the feature map expects.
    pub fn return_deviation(&self, observation: &[f64]) -> Result<Option<f64>> {
        let row = self.row(observation)?;
        let Model::Solved(solved) = &self.model else {
            return Ok(None);
        };
        let variance = (solved.variance.as_ref()).map(|found| row.features().dot(&found.weights));
        Ok(variance.filter(|variance| *variance >= 0.0).map(f64::sqrt))
    }

    /// How the feature map was chosen, if several were compared.
    #[must_use]
    pub fn feature_choice(&self) -> Option<&FeatureChoice> {
        match &self.model {
            Model::Learned(_) | Model::Averaged(_) => None,
            Model::Solved(solved) => solved.choice.as_ref(),
        }
    }

    /// The comparison of returns with predictions, unless it was left out.
    #[must_use]
    pub fn check(&self) -> Option<&ReturnCheck> {
        self.model.assessment()?.check.as_ref()
    }

    /// The number of bad rows that were skipped.
    #[must_use]
    pub fn bad_rows(&self) -> u64 {
        match &self.model {
            Model::Learned(_) => self.bad_rows,
            Model::Solved(solved) => solved.facts.bad_rows,
            Model::Averaged(averaged) => averaged.facts.bad_rows,
        }
    }

    /// The rows to show: observations from the smallest to the largest predicted value.
    #[must_use]
    pub fn typical_rows(&self) -> &[Vec<f64>] {
        let assessment = self.model.assessment();
        assessment.map_or(&[], |found| &found.typical)
    }

    /// Values of some rows and episodes, for pictures; `None` for streams and restored models.
    #[must_use]
    pub fn sample(&self) -> Option<&ValueSample> {
        self.model.assessment()?.sample.as_ref()
    }

    /// The files that were solved for or shared among learners; empty for a single learner, which does not keep their names.
    #[must_use]
    pub fn files(&self) -> Vec<&str> {
        let origin = match &self.model {
            Model::Learned(_) => return Vec::new(),
            Model::Solved(solved) => &solved.origin,
            Model::Averaged(averaged) => &averaged.origin,
        };
        origin.files.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The number of passes over the log that an iterative solution took.
    #[must_use]
    pub fn passes(&self) -> Option<u64> {
        match &self.model {
            Model::Learned(_) | Model::Averaged(_) => None,
            Model::Solved(solved) => solved.facts.products,
        }
    }

    /// How long the evaluation took.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The complete result, ready to be written as JSON.
    #[must_use]
    pub fn report(&self) -> EvaluationReport {
        EvaluationReport::of(self)
    }
}
