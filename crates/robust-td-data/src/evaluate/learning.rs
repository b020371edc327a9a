//! Learns from a log batch by batch, while the next ones are read.

use robust_td_core::learner::Learner;

use super::learner_choice::{self, NewModel};
use super::request::threads;
use super::{Evaluation, Progress, ReportAt};
use crate::ahead::ReadAhead;
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::inspect::DataReport;
use crate::learned::Learned;
use crate::options::Purpose;
use crate::replay::Replay;
use crate::survey::Survey;
use crate::warning::Warning;

/// A model, or its settings before the first row determines the length of observations.
pub(super) enum Learning {
    /// Nothing has been read yet.
    Ahead(NewModel),
    /// The model.
    Under(Box<Learned>),
}

impl Evaluation {
    /// Chooses the learner, and surveys files where something must be measured.
    pub(super) fn prepare(&mut self) -> Result<(Learning, Option<DataReport>)> {
        let new = NewModel::choose(&self.request, self.log.is_stream())?;
        if self.log.is_stream() || new.needs_no_survey() {
            return Ok((Learning::Ahead(new), None));
        }
        let mut replay = Replay::new(&mut self.log, threads(self.threads));
        let survey = Survey::take(&mut replay, new.features(), true)?;
        let transitions = (survey.report.transitions).saturating_mul(self.request.passes);
        // With a horizon these rows may be the first part of a longer log.
        if transitions == 0 && self.request.horizon.is_none() {
            return Err(Error::NoTransitions);
        }
        let model = new.build(survey.features, Some(survey.phi_inf), transitions)?;
        if !survey.report.findings.is_empty() {
            self.tell(Progress::Surveyed(&survey.report));
        }
        Ok((Learning::Under(Box::new(model)), Some(survey.report)))
    }

    /// Learns from the log; returns the number of bad rows that were skipped.
    pub(super) fn learn(
        &mut self,
        learning: &mut Learning,
        warnings: &mut Vec<Warning>,
    ) -> Result<u64> {
        let mut batch = Batch::default();
        let mut bad_rows = 0;
        for pass in 0..self.request.passes {
            let reader = self.log.open(Purpose::Evaluate)?;
            let mut reader = match learning {
                Learning::Under(model) => ReadAhead::start_for(reader, model)?,
                Learning::Ahead(_) => ReadAhead::start(reader)?,
            };
            let mut ratios = pass == 0 && reader.schema().ratio;
            let other_policy = reader.schema().policy.is_some();
            while reader.read(&mut batch)? {
                if let (Learning::Ahead(new), false) = (&mut *learning, batch.is_empty()) {
                    let model = new.model(reader.schema(), batch.dimension())?;
                    *learning = Learning::Under(Box::new(model));
                }
                let Learning::Under(model) = learning else {
                    continue;
                };
                if other_policy {
                    learner_choice::check_policy(model.learner().id(), reader.schema())?;
                }
                if std::mem::take(&mut ratios)
                    && let Some(warning) = learner_choice::unused_ratios(model.learner().id())
                {
                    self.tell(Progress::Warning(&warning));
                    warnings.push(warning);
                }
                self.learn_batch(model, &reader, &batch)?;
                if model.is_complete() {
                    break;
                }
            }
            bad_rows += reader.bad_rows().count();
            if let Learning::Under(model) = learning {
                if pass + 1 < self.request.passes {
                    model.end_pass();
                }
                let steps = model.learner().steps();
                self.tell(Progress::PassDone { steps });
            }
        }
        Ok(bad_rows)
    }

    fn learn_batch(
        &mut self,
        model: &mut Learned,
        reader: &ReadAhead,
        batch: &Batch,
    ) -> Result<()> {
        let mut from = 0;
        loop {
            let until = next_report(model.learner().steps(), self.report_at);
            let next = model.learn(reader.schema(), batch, from, until);
            from = next.map_err(|error| error.of_batch(reader.files(), batch))?;
            if model.learner().steps() < until || model.is_complete() {
                return Ok(());
            }
            self.tell(Progress::SoFar(model));
        }
    }
}

/// The next step to report at.
pub(super) fn next_report(steps: u64, at: Option<ReportAt>) -> u64 {
    match at {
        None => u64::MAX,
        Some(ReportAt::PowersOfTwo) => (steps + 1).next_power_of_two(),
        Some(ReportAt::Every(every)) => (steps / every.max(1) + 1).saturating_mul(every.max(1)),
    }
}
