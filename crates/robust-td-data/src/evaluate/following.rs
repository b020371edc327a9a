//! Evaluates a stream by solving its equations: from their sums, or, with too many features for these, from rows kept in memory.

use std::sync::Arc;

use super::learning::next_report;
use super::request::{STREAM_FEATURES, out_of_range};
use super::{Evaluation, Progress};
use crate::ahead::ReadAhead;
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::findings::finding;
use crate::fit::Fit;
use crate::inspect::FindingKind;
use crate::model::Model;
use crate::option_error::OptionName;
use crate::options::Purpose;
use crate::replay::Replay;
use crate::solved::{self, Solved};
use crate::spec::Spec;
use crate::start_value::StartValue;
use crate::streamed::{self, Streamed};

/// The number of bytes of rows that are kept for features too many for their equations.
const KEPT: usize = 1 << 30;

impl Evaluation {
    /// Follows a stream from its start, or from where a model stopped.
    pub(super) fn follow(&mut self, resumed: Option<Streamed>) -> Result<Fit> {
        self.request.check_auto()?;
        let reader = self.log.open(Purpose::Evaluate)?;
        let mut reader = ReadAhead::start(reader)?;
        let mut batch = Batch::default();
        let mut more = reader.read(&mut batch)?;
        while more && batch.is_empty() && resumed.is_none() {
            more = reader.read(&mut batch)?;
        }
        let mut streamed = match resumed {
            Some(streamed) => streamed,
            None if !more => {
                return Err(Error::NoInput {
                    what: "the input contains no usable rows",
                });
            }
            None => match self.started(&reader, &batch)? {
                Some(streamed) => streamed,
                None => return self.solve_kept(reader, batch),
            },
        };
        let mut rows = streamed.feature_rows();
        while more {
            self.follow_batch(&mut streamed, &mut rows, &reader, &batch)?;
            more = !streamed.is_complete() && reader.read(&mut batch)?;
        }
        streamed.skip(reader.bad_rows().count());
        let steps = streamed.transitions();
        self.tell(Progress::PassDone { steps });
        let solved = streamed.solved(self.log.origin(&[]))?;
        Fit::new(Model::Solved(Box::new(solved)), self.confidence)
    }

    /// The state for the first row; none if there are too many features.
    fn started(&self, reader: &ReadAhead, batch: &Batch) -> Result<Option<Streamed>> {
        let discount = self.request.discount()?;
        if discount >= 1.0 {
            let expected =
                "below 1 on a stream; 1 needs files, to see that every episode terminates";
            return Err(out_of_range(OptionName::Discount, discount, expected));
        }
        if reader.schema().policy.is_some() {
            // The rows are needed more than once.
            return Ok(None);
        }
        let spec = Spec::or(self.request.features.as_ref(), STREAM_FEATURES);
        let fitting = spec.fitting(reader.schema(), batch.dimension())?;
        let features = fitting.finish()?;
        if features.outputs() > streamed::LARGEST {
            return Ok(None);
        }
        let limit = self.request.horizon;
        Streamed::new(features, reader.schema(), discount, limit).map(Some)
    }

    fn follow_batch(
        &mut self,
        streamed: &mut Streamed,
        rows: &mut crate::feature_rows::FeatureRows,
        reader: &ReadAhead,
        batch: &Batch,
    ) -> Result<()> {
        let mut from = 0;
        loop {
            let until = next_report(streamed.transitions(), self.report_at);
            let next = streamed.learn(rows, reader.schema(), batch, from, until);
            from = next.map_err(|error| error.of_batch(reader.files(), batch))?;
            if streamed.transitions() < until || streamed.is_complete() {
                return Ok(());
            }
            let steps = streamed.transitions();
            // Sums that overflow have no solution.
            let model = streamed.clone().solved(self.log.origin(&[]));
            let model = model.map(|solved| Model::Solved(Box::new(solved)));
            let (theta, start_value) = match &model {
                Ok(model) => (
                    model.value_function().theta,
                    StartValue::of(model, self.confidence),
                ),
                Err(_) => (vec![f64::NAN; streamed.features()], None),
            };
            self.tell(Progress::Following {
                steps,
                theta: &theta,
                start_value,
            });
        }
    }

    /// Keeps the rows of a stream in memory, and solves for their fixed point like that of a file.
    fn solve_kept(&mut self, mut reader: ReadAhead, mut batch: Batch) -> Result<Fit> {
        let mut request = self.request.to_solve(self.check, self.threads)?;
        if self.request.features.is_none() {
            request.spec = Spec::Default(STREAM_FEATURES);
        }
        let (mut rows, mut bytes, mut more) = (Vec::new(), 0, true);
        while more && bytes <= KEPT {
            bytes += batch.bytes();
            rows.push(Arc::new(std::mem::take(&mut batch)));
            more = reader.read(&mut batch)?;
        }
        let Self { log, listener, .. } = self;
        let mut replay = Replay::of_rows(log, rows, &reader);
        let mut solved = solved::solve_replay(&mut replay, &request, &mut |stage| {
            if let Some(listener) = listener {
                listener(stage.into());
            }
        })?;
        solved.origin.files = Vec::new();
        if more {
            solved.facts.findings.push(memory_limit(&solved));
        }
        Fit::new(Model::Solved(Box::new(solved)), self.confidence)
    }
}

fn memory_limit(solved: &Solved) -> crate::inspect::Finding {
    finding(
        FindingKind::MemoryLimit,
        format!(
            "the answer is that of the first {} transitions: a stream with {} features is kept in memory, up to 1 gigabyte of rows; \
             evaluate a file, which is read several times instead",
            solved.facts.transitions,
            solved.theta.len()
        ),
    )
}
