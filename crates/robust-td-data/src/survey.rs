//! Reads a log before learning: fits the feature map, counts the transitions, and measures the features if needed.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use robust_td_core::features::{FeatureMap, Fitting, FittingPart, Row};
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::elsewhere::first;
use crate::elsewhere::misfit::misfit;
use crate::elsewhere::tasks::Window;
use crate::error::{Error, Result};
use crate::fold::{Fold, Merge};
use crate::inspect::{DataReport, Inspector, Values};
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
        if replay.surveys_elsewhere()
            && let Some(survey) = first::take(replay, spec)?
        {
            return Ok(survey);
        }
        let mut inspector = match replay.is_elsewhere() {
            true => Inspector::marking(),
            false => Inspector::default(),
        };
        let fitting = OnceLock::new();
        let mut blocks = Fold::<Block>::default();
        let follow = |schema: &Schema, _: Option<&Batch>, batch: Option<&Batch>| {
            let Some(batch) = batch else {
                return Ok(());
            };
            inspector.follow(schema, batch);
            if !batch.is_empty() && fitting.get().is_none() {
                let _ = fitting.set(spec.fitting(schema, batch.dimension())?);
            }
            Ok(())
        };
        for_each_part(
            replay,
            Window::ALL,
            follow,
            |part| match fitting.get() {
                Some(fitting) => Block::of(&part, &part.schema, fitting),
                None => Ok(Block::default()),
            },
            |block| {
                blocks.push(block?);
                blocks.nodes().find_map(Block::failure).map_or(Ok(()), Err)
            },
        )?;
        let mut block = blocks.finish().unwrap_or_default();
        inspector.measured(block.values);
        if let Some((elsewhere, _)) = replay.parts() {
            let (places, counts) = inspector.marks();
            (elsewhere.places, elsewhere.counts) = (Arc::new(places), counts);
        }
        let labels = replay.labels().clone();
        let label = |code| labels.get(code);
        let mut fitting = fitting.into_inner().ok_or(Error::NoInput {
            what: "the files contain no usable rows",
        })?;
        if fitting.needs_pass() {
            end_pass(&mut fitting, block.observed.take(), &label)?;
        }
        while fitting.needs_pass() {
            let mut blocks = Fold::<Block>::default();
            for_each_part(
                replay,
                Window::ALL,
                |_, _, _| Ok(()),
                |part| Block::of_fitting(&part, &fitting),
                |block| {
                    blocks.push(block?);
                    blocks.nodes().find_map(Block::failure).map_or(Ok(()), Err)
                },
            )?;
            let observed = blocks.finish().and_then(|block| block.observed);
            end_pass(&mut fitting, observed, &label)?;
        }
        let mut survey = finish(replay, inspector, fitting, measures)?;
        if measures {
            let (features, mut largest) = (&survey.features, 0.0_f64);
            let mut row = Row::for_map(features);
            replay.for_each(|_, batch| {
                for observation in rows(batch) {
                    features.write(observation, &mut row);
                    largest = largest.max(row.features().norm_sq());
                }
                Ok(ControlFlow::Continue(()))
            })?;
            survey.phi_inf = largest.sqrt();
        }
        Ok(survey)
    }
}

/// The survey of a log whose rows were inspected and whose map is fitted.
///
/// # Errors
/// Those of the feature map.
pub(crate) fn finish(
    replay: &Replay<'_>,
    inspector: Inspector,
    fitting: Fitting,
    measures: bool,
) -> Result<Survey> {
    let labels = replay.labels().clone();
    let (schema, files) = (replay.schema(), replay.files());
    let report = inspector.finish_with(schema, files, replay.bad_rows(), &labels);
    let features = fitting.finish()?;
    let features = match &report.policy {
        // A learner evaluates the policy that was followed.
        Some(policy) if !measures && report.schema.policy.is_some() => {
            let actions = policy.actions.iter().map(|action| action.name.clone());
            features.per_action(actions.collect())?
        }
        _ => features,
    };
    Ok(Survey {
        features,
        phi_inf: 0.0,
        report,
    })
}

/// What some rows show that does not depend on their order: statistics of their numbers, and of the input of the stage that is fitted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Block {
    pub values: Values,
    pub observed: Option<FittingPart>,
    /// Why the latter cannot be merged.
    #[serde(skip)]
    failure: Option<robust_td_core::Error>,
}

impl Block {
    /// What a part of a log shows.
    ///
    /// # Errors
    /// When a category has too many levels.
    pub fn of(part: &Part, schema: &Schema, fitting: &Fitting) -> Result<Self> {
        Ok(Self {
            values: Values::of(part, schema),
            observed: Some(observe(fitting, part)?),
            failure: None,
        })
    }

    /// What it shows to the stage that is fitted.
    ///
    /// # Errors
    /// When a category has too many levels.
    pub fn of_fitting(part: &Part, fitting: &Fitting) -> Result<Self> {
        Ok(Self {
            observed: Some(observe(fitting, part)?),
            ..Self::default()
        })
    }

    /// Why merging failed.
    pub fn failure(&self) -> Option<Error> {
        self.failure.clone().map(Error::from)
    }

    /// Whether its sizes are those of a log with these columns.
    pub fn fits(&self, schema: &Schema, dimension: usize, fitting: &Fitting) -> bool {
        self.values.fits(dimension, schema.reward) && self.fits_fitting(fitting)
    }

    /// Whether it is one of the current pass.
    pub fn fits_fitting(&self, fitting: &Fitting) -> bool {
        let observed = self.observed.as_ref();
        observed.is_some_and(|observed| fitting.accepts(observed))
    }
}

impl Merge for Block {
    fn merge(&mut self, later: Self) {
        self.values.merge(later.values);
        self.failure = self.failure.take().or(later.failure);
        match (self.observed.as_mut(), later.observed) {
            (Some(all), Some(part)) => {
                if let Err(error) = all.merge(part) {
                    self.failure.get_or_insert(error);
                }
            }
            (None, part) => self.observed = part,
            (Some(_), None) => {}
        }
    }
}

/// Calls `follow` with every batch of a window, on this thread, and the rows that lead to it; and `take` with what `work` makes of every part of
/// it, in order.
///
/// # Errors
/// Those of reading, of `follow` and of `take`.
pub(crate) fn for_each_part<T: Send>(
    replay: &mut Replay<'_>,
    mut window: Window,
    mut follow: impl FnMut(&Schema, Option<&Batch>, Option<&Batch>) -> Result<()>,
    work: impl Fn(Part) -> T + Sync,
    take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let (threads, is_all) = (replay.threads(), window.rows == Window::ALL.rows);
    let produce = |send: &mut dyn FnMut(Part) -> Result<()>| {
        let mut parts = Parts::after(window.before);
        replay.for_each(|schema, batch| {
            let (lead, own) = window.take(batch);
            follow(schema, lead.as_ref(), own.as_deref())?;
            if let Some(own) = &own {
                parts.push(schema, own, &mut *send)?;
            }
            Ok(match window.rows {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            })
        })?;
        parts.finish().map_or(Ok(()), send)?;
        match window.rows {
            0 => Ok(()),
            _ if is_all => Ok(()),
            _ => Err(misfit("a file has fewer rows than were counted")),
        }
    };
    in_order(threads, Part::bytes, produce, work, take)
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

/// Ends a pass in which this was observed.
pub(crate) fn end_pass(
    fitting: &mut Fitting,
    observed: Option<FittingPart>,
    label: &dyn Fn(f64) -> Option<String>,
) -> Result<()> {
    if let Some(observed) = observed {
        fitting.merge(observed)?;
    }
    Ok(fitting.end_pass_with(label)?)
}

/// The observations and next observations of a batch, row by row, so that their order does not depend on the batches.
fn rows(batch: &Batch) -> impl Iterator<Item = &[f64]> {
    (0..batch.len()).flat_map(|i| {
        [Some(batch.obs(i)), batch.next_obs(i)]
            .into_iter()
            .flatten()
    })
}
