//! Reads a log before learning: fits the feature map, counts the transitions, and measures the features if needed.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use robust_td_core::features::{FeatureMap, Fitting, FittingPart, Row};

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::inspect::{DataReport, Inspector, Values};
use crate::labels::Labels;
use crate::ordered::in_order;
use crate::parts::{Part, Parts};
use crate::replay::Replay;
use crate::schema::Schema;
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
        let mut inspector = match replay.is_elsewhere() {
            true => Inspector::marking(),
            false => Inspector::default(),
        };
        let fitting = OnceLock::new();
        let mut values = Values::default();
        let mut observed = None;
        let follow = |schema: &Schema, batch: &Batch| {
            inspector.follow(schema, batch);
            if !batch.is_empty() && fitting.get().is_none() {
                let _ = fitting.set(spec.fitting(schema, batch.dimension())?);
            }
            Ok(())
        };
        for_each_part(
            replay,
            follow,
            |part| {
                let observed = fitting.get().map(|fitting| observe(fitting, &part));
                (Values::of(&part), observed.transpose())
            },
            |(more, part)| {
                values.merge(more);
                merge(&mut observed, part?)
            },
        )?;
        inspector.measured(values);
        if let Some((elsewhere, _)) = replay.parts() {
            (elsewhere.marks, elsewhere.counts) = inspector.marks();
        }
        let labels = replay.labels().clone();
        let (schema, files) = (replay.schema(), replay.files());
        let report = inspector.finish_with(schema, files, replay.bad_rows(), &labels);
        let mut fitting = fitting.into_inner().ok_or(Error::NoInput {
            what: "the files contain no usable rows",
        })?;
        if fitting.needs_pass() {
            end_pass(&mut fitting, observed, &labels)?;
        }
        while fitting.needs_pass() {
            let mut observed = None;
            for_each_part(
                replay,
                |_, _| Ok(()),
                |part| observe(&fitting, &part),
                |part| merge(&mut observed, Some(part?)),
            )?;
            end_pass(&mut fitting, observed, &labels)?;
        }
        let features = fitting.finish()?;
        let features = match &report.policy {
            // A learner evaluates the policy that was followed.
            Some(policy) if !measures && report.schema.policy.is_some() => {
                let actions = policy.actions.iter().map(|action| action.name.clone());
                features.per_action(actions.collect())?
            }
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
        })
    }
}

/// Calls `follow` with every batch, on this thread, and `take` with what `work` makes of every part of the log, in order.
pub(crate) fn for_each_part<T: Send>(
    replay: &mut Replay<'_>,
    mut follow: impl FnMut(&Schema, &Batch) -> Result<()>,
    work: impl Fn(Part) -> T + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let threads = replay.threads();
    let produce = |send: &mut dyn FnMut(Part) -> Result<()>| {
        let mut parts = Parts::default();
        replay.for_each(|schema, batch| {
            follow(schema, batch)?;
            parts.push(schema, batch, &mut *send)?;
            Ok(ControlFlow::Continue(()))
        })?;
        parts.finish().map_or(Ok(()), send)
    };
    in_order(threads, produce, work, take)
}

/// What a part shows to the stage that is fitted.
pub(crate) fn observe(fitting: &Fitting, part: &Part) -> Result<FittingPart> {
    let mut observed = fitting.part();
    if fitting.needs_pass() {
        // Next observations on their own, so that the order does not depend on the batches.
        let mut following = fitting.part();
        let d = part.dimension();
        for (batch, rows) in part.pieces() {
            let place = rows.start * d..rows.end * d;
            fitting.observe_in(&mut observed, &batch.obs[place.clone()])?;
            if !batch.next_obs.is_empty() {
                fitting.observe_next_in(&mut following, &batch.next_obs[place])?;
            }
        }
        observed.merge(following)?;
    }
    Ok(observed)
}

/// Adds what a later part showed.
pub(crate) fn merge(all: &mut Option<FittingPart>, part: Option<FittingPart>) -> Result<()> {
    match (all.as_mut(), part) {
        (Some(all), Some(part)) => all.merge(part)?,
        (None, part) => *all = part,
        (Some(_), None) => {}
    }
    Ok(())
}

/// Ends a pass in which this was observed.
pub(crate) fn end_pass(
    fitting: &mut Fitting,
    observed: Option<FittingPart>,
    labels: &Labels,
) -> Result<()> {
    if let Some(observed) = observed {
        fitting.merge(observed)?;
    }
    Ok(fitting.end_pass_with(&|code| labels.get(code))?)
}

/// The observations and next observations of a batch, row by row, so that their order does not depend on the batches.
fn rows(batch: &Batch) -> impl Iterator<Item = &[f64]> {
    (0..batch.len()).flat_map(|i| {
        [Some(batch.obs(i)), batch.next_obs(i)]
            .into_iter()
            .flatten()
    })
}
