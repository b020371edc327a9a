//! Learns a value function from a log step by step, and keeps everything needed to resume.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use robust_td_core::features::FeatureMap;
use robust_td_core::learner::{Learner, Transition};
use robust_td_core::registry::AnyLearner;
use robust_td_core::sandwich::{Estimate, Sandwich};
use serde::{Deserialize, Serialize};

use crate::assess::Assessment;
use crate::batch::Batch;
use crate::diagnostics::Diagnostics;
use crate::divergence::{Divergence, DivergenceWatch};
use crate::error::{Error, Result};
use crate::feature_rows::FeatureRows;
use crate::options::ReadAs;
use crate::pairing::{Pairing, Step};
use crate::predictor::{Intervals, intervals};
use crate::schema::Schema;

/// A learner on a log: the feature map, the learner's full state, and its position in the log.
///
/// Saved at any row and restored, it resumes bit-identically.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    #[serde(with = "robust_td_core::exact_float")]
    phi_inf: f64,
    /// Whether `phi_inf` is the largest norm so far, rather than a bound that the learner uses.
    measures_norm: bool,
    /// The maximum number of transitions to learn from.
    limit: Option<u64>,
    /// The parameters of the learner, to compare with repeated options.
    parameters: BTreeMap<String, f64>,
    features: FeatureMap,
    learner: AnyLearner,
    /// Least squares on the same samples, for its standard errors.
    least_squares: Option<Sandwich>,
    pairing: Pairing,
    diagnostics: Diagnostics,
    divergence: DivergenceWatch,
    /// What another pass over the log showed.
    assessment: Option<Assessment>,
    /// Whether the learner weighs samples by their importance ratios.
    #[serde(skip)]
    ratios: bool,
    #[serde(skip)]
    rows: FeatureRows,
}

impl Learned {
    /// A model before its first transition; without a bound `phi_inf` on the norm of the features, the largest norm is
    /// measured.
    ///
    /// # Errors
    /// When the learner does not have the dimension of the features.
    pub fn new(
        features: FeatureMap,
        learner: AnyLearner,
        phi_inf: Option<f64>,
        limit: Option<u64>,
    ) -> Result<Self> {
        Self {
            phi_inf: phi_inf.unwrap_or(0.0),
            measures_norm: phi_inf.is_none(),
            limit,
            parameters: BTreeMap::new(),
            features,
            learner,
            least_squares: None,
            pairing: Pairing::default(),
            diagnostics: Diagnostics::default(),
            divergence: DivergenceWatch::default(),
            assessment: None,
            ratios: false,
            rows: FeatureRows::default(),
        }
        .checked()
    }

    /// The same with least squares alongside the learner, for its standard errors.
    ///
    /// # Errors
    /// When there are too many features.
    pub fn with_least_squares(self) -> Result<Self> {
        let (dimension, discount) = (self.features.outputs(), self.learner.discount());
        Ok(Self {
            least_squares: Some(Sandwich::new(dimension, discount)?),
            ..self
        })
    }

    /// The same with the parameters that its learner was made with.
    #[must_use]
    pub fn with_parameters(self, parameters: BTreeMap<String, f64>) -> Self {
        Self { parameters, ..self }
    }

    /// Checks a restored model.
    pub(crate) fn checked(mut self) -> Result<Self> {
        let (features, learner) = (self.features.outputs(), self.learner.dimension());
        if features != learner {
            let message = format!("it has {features} features, but its learner {learner}");
            return Err(Error::Model { message });
        }
        let squares = self.least_squares.as_ref().map(Sandwich::dimension);
        if let Some(squares) = squares.filter(|squares| *squares != features) {
            let message = format!("it has {features} features, but its least squares {squares}");
            return Err(Error::Model { message });
        }
        let other = self.least_squares.as_ref().map(Sandwich::discount);
        if other.is_some_and(|other| other != self.learner.discount()) {
            let message = "its least squares has another discount than its learner".into();
            return Err(Error::Model { message });
        }
        if !(self.phi_inf > 0.0 || self.measures_norm && self.phi_inf == 0.0) {
            let message = format!("its phi_inf is {}", self.phi_inf);
            return Err(Error::Model { message });
        }
        if !self.diagnostics.fit(features) {
            let message = format!("its diagnostics do not fit {features} features");
            return Err(Error::Model { message });
        }
        if (self.assessment.as_ref()).is_some_and(|found| !found.fits(&self.features)) {
            let message = "its assessment does not fit its features".into();
            return Err(Error::Model { message });
        }
        if !self.pairing.fits(self.features.inputs()) {
            let message = "the row that waits for its successor has another length".into();
            return Err(Error::Model { message });
        }
        self.ratios = self.learner.abilities().ratios;
        self.rows = FeatureRows::for_map(&self.features);
        Ok(self)
    }

    /// Whether it has learned from all transitions of its horizon.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.limit
            .is_some_and(|limit| self.learner.steps() >= limit)
    }

    /// Learns from the rows of a batch, starting at `from`, until it is complete or has learned from `until`
    /// transitions; returns the first row not consumed.
    ///
    /// # Errors
    /// When the observations do not have the length that the feature map expects, or the rows of episodes are interleaved and the
    /// learner has traces.
    pub fn learn(
        &mut self,
        schema: &Schema,
        batch: &Batch,
        from: usize,
        until: u64,
    ) -> Result<usize> {
        self.check_input(batch)?;
        self.assessment = None;
        let until = until.min(self.limit.unwrap_or(u64::MAX));
        let mut left = until.saturating_sub(self.learner.steps());
        if left == 0 {
            return Ok(from);
        }
        self.rows.start_batch(&self.features, batch);
        let mut pairing = std::mem::take(&mut self.pairing);
        let mut refused = None;
        let next = pairing.push(schema, batch, from, |step| {
            if step.resumes && self.learner.has_traces() {
                refused = Some(Error::Interleaved {
                    row: batch.rows[step.row],
                    algorithm: self.learner.id(),
                });
                return ControlFlow::Break(());
            }
            self.step(batch, &step);
            left -= 1;
            match left == 0 {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        self.pairing = pairing;
        refused.map_or(Ok(next), Err)
    }

    fn check_input(&self, batch: &Batch) -> Result<()> {
        let (expected, found) = (self.features.inputs(), batch.dimension());
        if !batch.is_empty() && expected != found {
            return Err(Error::ModelInput { expected, found });
        }
        Ok(())
    }

    /// Declares that the next row is in another file: of the open episodes, only that of the last row may continue there.
    pub(crate) fn expect_file(&mut self) {
        self.pairing.expect_file();
    }

    /// Ends a pass over the data: the next row does not follow the last one.
    pub fn end_pass(&mut self) {
        self.pairing.start_anew();
    }

    #[inline]
    fn step(&mut self, batch: &Batch, step: &Step<'_>) {
        let (here, outcome) = self.rows.of(&mut self.features, batch, step);
        let transition = Transition::new(here, step.reward, outcome).with_ratio(step.ratio);
        if step.restart {
            self.learner.start_episode();
        }
        if self.measures_norm {
            self.phi_inf = self.phi_inf.max(here.norm_sq().sqrt());
        }
        self.diagnostics.watch(&self.learner, &transition);
        self.diagnostics.record(self.learner.learn(&transition));
        self.divergence
            .observe(&self.learner, step.reward, self.phi_inf);
        if let Some(least_squares) = &mut self.least_squares {
            // If the learner treats every sample as on-policy, least squares does too.
            let ratio = if self.ratios { step.ratio } else { 1.0 };
            least_squares.step(&transition.with_ratio(ratio));
        }
    }

    /// Least squares on the same samples, if it was requested and can estimate its error.
    #[must_use]
    pub fn least_squares(&self) -> Option<Estimate> {
        self.least_squares.as_ref().and_then(Sandwich::estimate)
    }

    /// Whether least squares runs alongside the learner.
    #[must_use]
    pub fn has_least_squares(&self) -> bool {
        self.least_squares.is_some()
    }

    /// Whether the answer solves the equations of the log; `None` if that is not known.
    #[must_use]
    pub fn converged(&self) -> Option<bool> {
        self.assessment.as_ref().map(Assessment::converged)
    }

    /// How it diverged, if it did.
    #[must_use]
    pub fn divergence(&self) -> Option<Divergence> {
        self.divergence.divergence(&self.learner)
    }

    /// The parameters that its learner was made with.
    #[must_use]
    pub fn parameters(&self) -> &BTreeMap<String, f64> {
        &self.parameters
    }

    /// Whether it collects the statistics for intervals.
    #[must_use]
    pub fn keeps_errors(&self) -> bool {
        self.learner.replicates() > 0 || self.has_least_squares()
    }

    /// The statistics for intervals of the learner's answer; `None` for most learners.
    #[must_use]
    pub fn intervals(&self) -> Option<Intervals> {
        intervals(&self.learner, self.least_squares())
    }

    /// The same with what another pass over the log showed.
    pub(crate) fn with_assessment(self, assessment: Assessment) -> Self {
        Self {
            assessment: Some(assessment),
            ..self
        }
    }

    /// What another pass over the log showed.
    pub(crate) fn assessment(&self) -> Option<&Assessment> {
        self.assessment.as_ref()
    }

    /// How to read further files like those of its log, as far as it is known.
    pub(crate) fn read_as(&self) -> ReadAs {
        ReadAs {
            inputs: self.features.columns().to_vec(),
            ..ReadAs::default()
        }
    }

    /// The learner.
    #[must_use]
    pub fn learner(&self) -> &AnyLearner {
        &self.learner
    }

    /// The feature map.
    #[must_use]
    pub fn features(&self) -> &FeatureMap {
        &self.features
    }

    /// The bound on the norm of the features that the learner uses; if it needs none, the largest norm so far.
    #[must_use]
    pub fn phi_inf(&self) -> f64 {
        self.phi_inf
    }

    /// The maximum number of transitions that it learns from.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// The state of pairing.
    #[must_use]
    pub fn pairing(&self) -> &Pairing {
        &self.pairing
    }

    /// The errors so far.
    #[must_use]
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }
}
