//! The first pass over a log, in parts: counts the rows of files, inspects rows and fits the feature map.

use std::collections::BTreeMap;
use std::sync::Arc;

use robust_td_core::features::{Fitting, Input};
use robust_td_core::sealed;
use serde::{Deserialize, Serialize};

use super::misfit::{another_pass, if_it_fits, misfit, missing_part, wrong_order};
use super::tasks::{List, Task, Window};
use super::{Description, Fitted, seal, unseal};
use crate::batch::Batch;
use crate::blocks::Index;
use crate::error::{Error, Result};
use crate::fold::Fold;
use crate::inspect::{Inspector, Order};
use crate::mark::{FileRows, Places};
use crate::options::Purpose;
use crate::reading::Reading;
use crate::replay::Replay;
use crate::schema::Schema;
use crate::spec::Spec;
use crate::stored::Seek;
use crate::survey::{Block, Survey, end_pass, finish, for_each_part};

/// What every task needs to know.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct First {
    pub log: Reading,
    /// The roles and columns of the first file, which are those of the others.
    schema: Schema,
    inputs: Vec<Input>,
    /// The length of observations.
    dimension: usize,
    /// The feature map.
    features: String,
    step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Step {
    Rows,
    Survey,
    Fit,
}

/// The numbers of rows of consecutive files, from a first one on, and places in those that are text.
type Counts = (usize, Vec<(u64, Vec<Seek>)>);
/// The largest length of observations.
const LONGEST: usize = 1 << 20;
/// The number of rows between two places.
const STRIDE: u64 = 1 << 16;

/// What consecutive rows show.
#[derive(Serialize, Deserialize)]
struct Part {
    /// The number of rows before and up to the end.
    rows: (u64, u64),
    order: Option<Order>,
    blocks: Fold<Block>,
    /// The texts of categories by their codes.
    labels: BTreeMap<u64, String>,
}

/// Makes the first pass elsewhere; none if the rows have to be read one after the other.
///
/// # Errors
/// Those of the engine, of reading and of the feature map.
pub(crate) fn take(replay: &mut Replay<'_>, spec: &Spec) -> Result<Option<Survey>> {
    let dimension = replay.look()?;
    let schema = replay.schema().clone();
    // Such logs are refused afterwards.
    if schema.ratio || schema.policy.is_some() {
        return Ok(None);
    }
    let mut fitting = spec.fitting(&schema, dimension)?;
    let Some((elsewhere, log)) = replay.parts() else {
        return Ok(None);
    };
    let files = log.files.len();
    let mut first = First {
        log,
        inputs: schema.inputs.clone(),
        schema,
        dimension,
        features: fitting.spec().to_owned(),
        step: Step::Rows,
    };
    let mut fitted = Fitted::default();
    let mut run = |first: &First, fitted: &Fitted, list: List| {
        Description::First(first).run(elsewhere, fitted, list)
    };
    let (job, state) = run(&first, &fitted, List::Files)?;
    let (start, rows) = first.counts(job, &state)?;
    if (start, rows.len()) != (0, files) {
        return Err(missing_part());
    }
    let files = Arc::new(FileRows::new(rows));
    first.step = Step::Survey;
    let (job, state) = run(&first, &fitted, List::Rows(files.clone()))?;
    let part = first.part(&fitting, job, &state)?.whole(&files)?;
    let Some(order) = part.order.filter(Order::is_exact) else {
        return Ok(None);
    };
    fitted.1 = part.labels.into_iter().collect();
    let mut block = part.blocks.finish().unwrap_or_default();
    let mut observed = block.observed.take();
    while fitting.needs_pass() {
        if let Some(observed) = &observed {
            fitted.0.push(observed.clone());
        }
        end_pass(&mut fitting, observed.take(), &|code| text(&fitted, code))?;
        if fitting.needs_pass() {
            first.step = Step::Fit;
            let (job, state) = run(&first, &fitted, List::Rows(files.clone()))?;
            let part = first.part(&fitting, job, &state)?.whole(&files)?;
            observed = part.blocks.finish().and_then(|block| block.observed);
        }
    }
    let mut inspector = Inspector::of_parts(order, block.values);
    let index = Index::new(inspector.take_blocks());
    let counts = inspector.counts();
    elsewhere.counts = counts;
    elsewhere.places = Arc::new(Places::Counted {
        files: Arc::unwrap_or_clone(files),
        index,
        transitions: counts.transitions,
    });
    replay.labels().add_all(&fitted.1);
    finish(replay, inspector, fitting, false).map(Some)
}

/// The text of a category.
fn text((_, labels): &Fitted, code: f64) -> Option<String> {
    let place = labels.binary_search_by_key(&code.to_bits(), |(code, _)| *code);
    place.ok().map(|place| labels[place].1.clone())
}

impl First {
    /// What it is, for messages and checkpoints.
    pub fn name(&self) -> &'static str {
        match self.step {
            Step::Rows => "rows",
            Step::Survey => "survey",
            Step::Fit => "fit",
        }
    }

    fn schema(&self) -> Schema {
        Schema {
            inputs: self.inputs.clone(),
            ..self.schema.clone()
        }
    }

    /// The map as far as earlier passes fitted it.
    fn fitting(&self, fitted: &Fitted) -> Result<Fitting> {
        let named = self.inputs.len();
        if self.dimension > LONGEST || (named > 0 && named != self.dimension) {
            return Err(misfit("a pass has observations of an impossible length"));
        }
        let spec = Spec::Given(self.features.clone());
        let mut fitting = spec.fitting(&self.schema(), self.dimension)?;
        for part in &fitted.0 {
            if !fitting.accepts(part) {
                return Err(misfit("a pass does not fit its feature map"));
            }
            end_pass(&mut fitting, Some(part.clone()), &|code| text(fitted, code))?;
        }
        Ok(fitting)
    }

    /// The state of a task.
    ///
    /// # Errors
    /// Those of reading, and a task of another pass.
    pub fn compute(
        &self,
        fitted: &Fitted,
        job: sealed::Job,
        task: &Task,
        threads: usize,
    ) -> Result<Vec<u8>> {
        match (self.step, task) {
            (Step::Rows, Task::Files { first, .. }) => {
                let files = self.log.files.iter().enumerate();
                let own = files.filter(|(k, _)| task.files().contains(k));
                let counts = own.map(|(_, file)| self.count(file));
                let counts: Counts = (*first, counts.collect::<Result<_>>()?);
                Ok(seal(job, &self.if_of_the_log(counts)?))
            }
            (Step::Survey | Step::Fit, Task::Rows { window, .. }) => {
                Ok(seal(job, &self.look(fitted, *window, threads)?))
            }
            _ => Err(another_pass()),
        }
    }

    /// The number of rows of a file, which must have the columns of the first; and places in it.
    fn count(&self, file: &String) -> Result<(u64, Vec<Seek>)> {
        let mut log = self.log.log_of(std::slice::from_ref(file))?;
        log.expect_dimension(self.dimension);
        let mut reader = log.open_with(Purpose::Evaluate, 1)?;
        if let Some((found, expected)) = reader.schema().difference(&self.schema) {
            return Err(Error::SchemaChanged {
                file: file.clone(),
                found,
                first: self.log.files.first().cloned().unwrap_or_default(),
                expected,
            });
        }
        if let Some(rows) = reader.stored_rows() {
            return Ok((rows, Vec::new()));
        }
        let (mut batch, mut rows, mut seeks) = (Batch::default(), 0, Vec::new());
        while reader.read(&mut batch)? {
            rows += batch.len() as u64;
            let last = seeks.last().map_or(0, |place: &Seek| place.rows);
            let place = reader.place().filter(|place| place.rows == rows);
            seeks.extend(place.filter(|place| place.rows - last >= STRIDE));
        }
        Ok((rows, seeks))
    }

    /// What rows of the log show.
    fn look(&self, fitted: &Fitted, window: Window, threads: usize) -> Result<Part> {
        let fitting = self.fitting(fitted)?;
        let mut log = self.log.log()?;
        log.expect_dimension(self.dimension);
        let mut replay = Replay::of_window(&mut log, window, threads);
        let inspects = self.step == Step::Survey;
        let schema = self.schema();
        let mut inspector = Inspector::of_part(window.before == 0);
        let mut blocks = Fold::default();
        for_each_part(
            &mut replay,
            window,
            |_, lead, batch| {
                if let Some(lead) = lead.filter(|_| inspects) {
                    inspector.lead(&schema, lead);
                }
                if let Some(batch) = batch.filter(|_| inspects) {
                    inspector.follow(&schema, batch);
                }
                Ok(())
            },
            |part| match inspects {
                true => Block::of(&part, &schema, &fitting),
                false => Block::of_fitting(&part, &fitting),
            },
            |block| {
                blocks.push(block?);
                Ok(())
            },
        )?;
        let labels = replay.labels().all();
        let order = inspects.then(|| inspector.end_part());
        let part = Part {
            rows: (window.before, window.before + window.rows),
            order,
            blocks,
            labels,
        };
        part.checked()
    }

    /// Merges states.
    ///
    /// # Errors
    /// States that do not fit, and too many levels of a category.
    pub fn merge<'a>(
        &self,
        fitted: &Fitted,
        job: sealed::Job,
        states: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Vec<u8>> {
        if self.step == Step::Rows {
            let mut all: Option<Counts> = None;
            for state in states {
                let next = self.counts(job, state)?;
                match &mut all {
                    None => all = Some(next),
                    Some((first, counts)) if *first + counts.len() == next.0 => {
                        counts.extend(next.1)
                    }
                    Some(_) => return Err(wrong_order()),
                }
            }
            return Ok(seal(job, &all.unwrap_or_default()));
        }
        let fitting = self.fitting(fitted)?;
        let mut all: Option<Part> = None;
        for state in states {
            let next = self.part(&fitting, job, state)?;
            match &mut all {
                None => all = Some(next),
                Some(all) => all.merge(next)?,
            }
        }
        Ok(seal(job, &all.ok_or_else(wrong_order)?.checked()?))
    }

    /// A state of counts, whose files are files of the log.
    fn counts(&self, job: sealed::Job, state: &[u8]) -> Result<Counts> {
        self.if_of_the_log(unseal(job, state)?)
    }

    fn if_of_the_log(&self, counts: Counts) -> Result<Counts> {
        let end = counts.0.checked_add(counts.1.len());
        let fits = end.is_some_and(|end| end <= self.log.files.len());
        if_it_fits(counts, fits)
    }

    /// A state of this pass.
    fn part(&self, fitting: &Fitting, job: sealed::Job, state: &[u8]) -> Result<Part> {
        let part: Part = unseal(job, state)?;
        let inspects = self.step == Step::Survey;
        let fits = |block: &Block| match inspects {
            true => block.fits(&self.schema(), self.dimension, fitting),
            false => block.fits_fitting(fitting),
        };
        let (from, to) = part.rows;
        let categories = self.schema.categories.len();
        let has_order = match &part.order {
            Some(order) => {
                inspects && order.fits(categories) && to.checked_sub(from) == Some(order.rows)
            }
            None => !inspects,
        };
        let fits = has_order && part.blocks.nodes().all(fits);
        if_it_fits(part, fits)
    }
}

impl Part {
    fn merge(&mut self, later: Self) -> Result<()> {
        if self.rows.1 != later.rows.0 {
            return Err(wrong_order());
        }
        self.rows.1 = later.rows.1;
        if let (Some(order), Some(later)) = (&mut self.order, later.order) {
            order.merge(later);
        }
        self.labels.extend(later.labels);
        self.blocks.append(later.blocks)
    }

    /// The same, unless merging failed.
    fn checked(self) -> Result<Self> {
        let failure = self.blocks.nodes().find_map(Block::failure);
        failure.map_or(Ok(self), Err)
    }

    /// The same, if it has all rows.
    fn whole(self, files: &FileRows) -> Result<Self> {
        match self.rows == (0, files.count()) {
            true => self.checked(),
            false => Err(missing_part()),
        }
    }
}
