//! Reads a log before learning: fits the feature map, counts the transitions, and measures the features if needed.

use std::ops::ControlFlow;

use robust_td_core::features::{FeatureMap, Fitting, Row};

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::inspect::{DataReport, Inspector};
use crate::replay::Replay;
use crate::spec::Spec;

/// The properties of a log after the first passes over it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Survey {
    /// The fitted feature map.
    pub features: FeatureMap,
    /// The largest norm of the features, over observations and next observations; 0 if it was not measured.
    pub phi_inf: f64,
    /// The report on the log.
    pub report: DataReport,
}

impl Survey {
    /// Makes as many passes over the log as the feature map needs, at least one, and one more to measure the features.
    ///
    /// # Errors
    /// Those of reading, and those of the feature map.
    pub fn take(replay: &mut Replay<'_>, spec: &Spec, measures: bool) -> Result<Self> {
        let (mut inspector, mut fitting) = (Inspector::default(), None);
        replay.for_each(|schema, batch| {
            inspector.push(schema, batch);
            if !batch.is_empty() {
                let fitting = match &mut fitting {
                    Some(fitting) => fitting,
                    empty => empty.insert(spec.fitting(schema, batch.dimension())?),
                };
                observe(fitting, batch)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let labels = replay.labels().clone();
        let (schema, files) = (replay.schema(), replay.files());
        let report = inspector.finish_with(schema, files, replay.bad_rows(), &labels);
        let mut fitting = fitting.ok_or(Error::NoInput {
            what: "the files contain no usable rows",
        })?;
        let label = |code| labels.get(code);
        if fitting.needs_pass() {
            fitting.end_pass_with(&label)?;
        }
        while fitting.needs_pass() {
            replay.for_each(|_, batch| {
                observe(&mut fitting, batch)?;
                Ok(ControlFlow::Continue(()))
            })?;
            fitting.end_pass_with(&label)?;
        }
        let features = fitting.finish()?;
        let mut largest = 0.0_f64;
        if measures {
            let mut row = Row::for_map(&features);
            replay.for_each(|_, batch| {
                for observation in rows(batch) {
                    features.write(observation, &mut row);
                    largest = largest.max(row.features().norm_sq());
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(Self {
            features,
            phi_inf: largest.sqrt(),
            report,
        })
    }
}

fn observe(fitting: &mut Fitting, batch: &Batch) -> Result<()> {
    if fitting.needs_pass() {
        for i in 0..batch.len() {
            fitting.observe(batch.obs(i))?;
            if let Some(next) = batch.next_obs(i) {
                fitting.observe_next(next)?;
            }
        }
    }
    Ok(())
}

/// The observations and next observations of a batch, row by row, so that their order does not depend on the batches.
fn rows(batch: &Batch) -> impl Iterator<Item = &[f64]> {
    (0..batch.len()).flat_map(|i| {
        [Some(batch.obs(i)), batch.next_obs(i)]
            .into_iter()
            .flatten()
    })
}
