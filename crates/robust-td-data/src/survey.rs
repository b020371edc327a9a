//! Reads a log before learning: fits the feature map, counts the transitions, and measures the features if needed.

use std::ops::ControlFlow;

use robust_td_core::features::{FeatureMap, Fitting, Row};

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::inspect::{DataReport, Inspector};
use crate::off_policy::PolicyTally;
use crate::replay::Replay;

/// The properties of a log after the first passes over it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Survey {
    /// The fitted feature map.
    pub features: FeatureMap,
    /// The largest norm of the features, over observations and next observations; 0 if it was not measured.
    pub phi_inf: f64,
    /// The report on the log.
    pub report: DataReport,
    /// The actions, and those of a policy that was not followed.
    pub policy: PolicyTally,
}

impl Survey {
    /// Makes as many passes over the log as the feature map needs, at least one, and one more to measure the features.
    ///
    /// # Errors
    /// Those of reading, and those of the feature map.
    pub fn take(replay: &mut Replay<'_>, spec: &str, measures: bool) -> Result<Self> {
        let (mut inspector, mut fitting) = (Inspector::default(), None);
        let mut policy = PolicyTally::default();
        replay.for_each(|schema, batch| {
            inspector.push(schema, batch);
            policy.push(schema, batch);
            if !batch.is_empty() {
                let fitting = match &mut fitting {
                    Some(fitting) => fitting,
                    empty => empty.insert(Fitting::new(spec, batch.dimension())?),
                };
                observe(fitting, batch)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let report = inspector.finish(replay.schema(), replay.files(), replay.bad_rows());
        let mut fitting = fitting.ok_or(Error::NoInput {
            what: "the files contain no usable rows",
        })?;
        if fitting.needs_pass() {
            fitting.end_pass()?;
        }
        while fitting.needs_pass() {
            replay.for_each(|_, batch| {
                observe(&mut fitting, batch)?;
                Ok(ControlFlow::Continue(()))
            })?;
            fitting.end_pass()?;
        }
        let features = fitting.finish()?;
        let features = match &report.schema.policy {
            // A learner evaluates the policy that was followed.
            Some(schema) if !measures => features.per_action(policy.actions(schema))?,
            _ => features,
        };
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
            policy,
        })
    }
}

/// Shows the observations of a batch to a map that needs a pass.
pub(crate) fn observe(fitting: &mut Fitting, batch: &Batch) -> Result<()> {
    if fitting.needs_pass() {
        for row in rows(batch) {
            fitting.observe(row)?;
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
