//! Inspects a log in one pass before learning.

mod collinear;
mod copies;
mod episode_column;
mod episodes;
mod findings;
mod levels;
mod names;
mod order;
mod report;
mod sample;
mod sentinels;
mod stats;
mod tally;
mod values;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

pub(crate) use findings::starts_unknown;
pub use levels::{CategoryReport, LevelCount};
pub(crate) use order::Order;
pub use report::{DataReport, EpisodeReport, FeatureReport, Finding, FindingKind};
pub use sample::DataSample;
pub(crate) use stats::Running;
pub use stats::Stats;

use crate::bad_rows::BadRows;
use crate::batch::Batch;
use crate::blocks::Blocks;
use crate::chunks::PassCounts;
use crate::error::Result;
use crate::fold::Fold;
use crate::labels::Labels;
use crate::mark::{Marks, Places};
use crate::off_policy::PolicyTally;
use crate::pairing::{Count, Pairing, plain_until};
use crate::parts::Parts;
use crate::reader::Reader;
use crate::schema::Schema;
use episodes::{EpisodeRow, Episodes, hash};
use levels::Levels;
use names::Names;
pub(crate) use values::Values;
use values::stats;

/// Collects a [`DataReport`] in memory that depends only on the number of features.
#[derive(Debug, Clone, Default)]
pub struct Inspector {
    pairing: Pairing,
    /// The rows whose numbers are not measured yet.
    parts: Parts,
    folded: Fold<Values>,
    values: Values,
    order: Order,
    policy: PolicyTally,
    last: Option<Last>,
    /// Where the nodes of the log start, if they are computed elsewhere.
    marks: Option<Marks>,
}

/// The last row, to be compared with the next one.
#[derive(Debug, Clone, Default)]
struct Last {
    obs: Vec<f64>,
    next_obs: Vec<f64>,
    reward: f64,
    ratio: f64,
    flags: (bool, bool),
    episode: u64,
    place: (usize, u64),
}

impl Last {
    fn replace(&mut self, batch: &Batch, i: usize) {
        self.obs.clear();
        self.obs.extend_from_slice(batch.obs(i));
        self.next_obs.clear();
        self.next_obs
            .extend_from_slice(batch.next_obs(i).unwrap_or_default());
        self.reward = batch.rewards[i];
        self.ratio = batch.ratios[i];
        self.flags = (batch.terminated[i], batch.truncated[i]);
        self.episode = batch.episodes[i];
        self.place = (batch.file, batch.rows[i]);
    }

    fn view(&self) -> RowBefore<'_> {
        RowBefore {
            obs: &self.obs,
            next_obs: &self.next_obs,
            reward: self.reward,
            ratio: self.ratio,
            flags: self.flags,
            episode: self.episode,
            place: self.place,
        }
    }
}

/// A row, to be compared with the one after it.
struct RowBefore<'a> {
    obs: &'a [f64],
    next_obs: &'a [f64],
    reward: f64,
    ratio: f64,
    flags: (bool, bool),
    episode: u64,
    place: (usize, u64),
}

impl<'a> RowBefore<'a> {
    #[inline]
    fn of(batch: &'a Batch, i: usize) -> Self {
        Self {
            obs: batch.obs(i),
            next_obs: batch.next_obs(i).unwrap_or_default(),
            reward: batch.rewards[i],
            ratio: batch.ratios[i],
            flags: (batch.terminated[i], batch.truncated[i]),
            episode: batch.episodes[i],
            place: (batch.file, batch.rows[i]),
        }
    }

    /// Whether the next row is a copy of it. A row that stays where it is may be followed by an equal one.
    #[inline]
    fn is_copied_by(&self, other: &Self) -> bool {
        let stays = self.next_obs == self.obs && self.flags == (false, false);
        self.reward == other.reward
            && !stays
            && self.obs == other.obs
            && self.next_obs == other.next_obs
            && self.ratio == other.ratio
            && self.flags == other.flags
            && self.episode == other.episode
    }
}

impl Inspector {
    /// Reads a log to its end and reports on it.
    ///
    /// Set the reader to skip any number of bad rows, so that they are counted instead of causing an error.
    ///
    /// # Errors
    /// Those of [`Reader::read`].
    pub fn inspect(mut reader: Reader) -> Result<DataReport> {
        let mut inspector = Self::default();
        let mut batch = Batch::default();
        while reader.read(&mut batch)? {
            let shared = Arc::new(std::mem::take(&mut batch));
            inspector.push(reader.schema(), &shared);
        }
        let labels = reader.labels().clone();
        let (schema, files) = (reader.schema(), reader.files());
        Ok(inspector.finish_with(schema, files, reader.bad_rows(), &labels))
    }

    /// Adds the rows of a batch.
    ///
    /// # Panics
    /// When only observations were read.
    pub fn push(&mut self, schema: &Schema, batch: &Arc<Batch>) {
        self.follow(schema, batch);
        let values = &mut self.folded;
        // Measuring cannot fail.
        let _ = self.parts.push(schema, batch, |part| {
            values.push(Values::of(&part, &part.schema));
            Ok(())
        });
    }

    /// Adds what depends on the order of the rows of a batch; their numbers are [measured](Self::measured) elsewhere.
    pub(crate) fn follow(&mut self, schema: &Schema, batch: &Batch) {
        match (&mut self.marks, &self.order.names) {
            (Some(marks), _) => marks.follow(&mut self.pairing, schema, batch),
            (None, Some(_)) => {
                let (before, blocks) = (self.pairing.rows(), &mut self.order.blocks);
                self.pairing.push(schema, batch, 0, |step| {
                    blocks.add(before + step.row as u64, step.starts_episode());
                    ControlFlow::Continue(())
                });
            }
            (None, None) => {
                let mut count = Count {
                    count: 0,
                    limit: u64::MAX,
                };
                self.pairing.push_to(schema, batch, 0, &mut count);
            }
        }
        let mut i = 0;
        while i < batch.len() {
            let plain = self.plain_rows(schema, batch, i);
            match plain.is_empty() {
                true => {
                    self.look_at_order(schema, batch, i);
                    i += 1;
                }
                false => {
                    i = plain.end;
                    self.look_at_plain(schema, batch, plain);
                }
            }
        }
        self.count_levels(schema, batch);
        self.policy.push(schema, batch);
        self.order.copies.push(batch);
        if let Some(i) = batch.len().checked_sub(1) {
            self.last.get_or_insert_default().replace(batch, i);
        }
    }

    fn count_levels(&mut self, schema: &Schema, batch: &Batch) {
        let levels = &mut self.order.levels;
        levels.resize(schema.categories.len(), Levels::default());
        let columns = (0..batch.dimension).filter(|&k| schema.is_category(k));
        for (levels, k) in levels.iter_mut().zip(columns) {
            for i in 0..batch.len() {
                levels.add(batch.obs(i)[k]);
            }
        }
    }

    /// Inspects a part of a log, whose last rows before it [lead](Self::lead) to it.
    pub(crate) fn of_part(is_first: bool) -> Self {
        let mut inspector = Self::default();
        inspector.order.names = Some(Names::after(!is_first));
        inspector
    }

    /// Takes rows before the part.
    pub(crate) fn lead(&mut self, schema: &Schema, batch: &Batch) {
        let Some(i) = batch.len().checked_sub(1) else {
            return;
        };
        self.pairing
            .push(schema, batch, 0, |_| ControlFlow::Continue(()));
        self.pairing.counted(0, 0, 0);
        self.last.get_or_insert_default().replace(batch, i);
        self.order.episodes = Episodes::after(EpisodeRow {
            episode: batch.episodes[i],
            terminated: batch.terminated[i],
            truncated: batch.truncated[i],
            place: (batch.file, batch.rows[i]),
        });
    }

    /// What the order of the rows of a part showed.
    pub(crate) fn end_part(mut self) -> Order {
        let mut order = std::mem::take(&mut self.order);
        let pairing = &self.pairing;
        (order.rows, order.transitions, order.runs) =
            (pairing.rows(), pairing.transitions(), pairing.runs());
        order.episodes.end_part();
        order.blocks.end(order.rows);
        order
    }

    /// Takes where the transitions of a log are.
    pub(crate) fn take_blocks(&mut self) -> Blocks {
        std::mem::take(&mut self.order.blocks)
    }

    /// What all parts of a log showed.
    pub(crate) fn of_parts(order: Order, values: Values) -> Self {
        let mut pairing = Pairing::default();
        pairing.counted(order.rows, order.transitions, order.runs);
        Self {
            pairing,
            values,
            order,
            ..Self::default()
        }
    }

    /// The same, with the places where the nodes of the log start.
    pub(crate) fn marking() -> Self {
        Self {
            marks: Some(Marks::default()),
            ..Self::default()
        }
    }

    /// The places where the nodes of the log start, and what a pass counts.
    pub(crate) fn marks(&mut self) -> (Places, PassCounts) {
        let counts = PassCounts::of(&self.pairing);
        let marks = self.marks.take();
        let marks = marks.map_or(Vec::new(), |marks| marks.finish(counts.transitions));
        (Places::Marked(marks), counts)
    }

    /// What a pass counts.
    pub(crate) fn counts(&self) -> PassCounts {
        PassCounts::of(&self.pairing)
    }

    /// Sets the statistics of the numbers of all rows.
    pub(crate) fn measured(&mut self, values: Values) {
        self.values = values;
    }

    /// The rows from i on that continue the episode of the row before, which is in the same batch, and do not end it.
    fn plain_rows(&self, schema: &Schema, batch: &Batch, i: usize) -> Range<usize> {
        let none = i..i;
        let Some(before) = i.checked_sub(1) else {
            return none;
        };
        if self.order.names.is_some()
            || batch.terminated[before]
            || batch.truncated[before]
            || batch.episodes[before] != batch.episodes[i]
            || !self.order.episodes.is_open(schema, batch.episodes[i])
        {
            return none;
        }
        i..plain_until(schema, batch, i, usize::MAX)
    }

    /// Looks at such rows as [`look_at_order`](Self::look_at_order) does.
    fn look_at_plain(&mut self, schema: &Schema, batch: &Batch, rows: Range<usize>) {
        let place = |i: usize| (batch.file, batch.rows[i]);
        for i in rows.clone() {
            let equal = batch.rewards[i] == batch.rewards[i - 1];
            if equal && RowBefore::of(batch, i - 1).is_copied_by(&RowBefore::of(batch, i)) {
                self.order.duplicated.hit(place(i));
            }
        }
        if schema.next_obs {
            self.order.comparable += rows.len() as u64;
            for i in rows.clone() {
                if batch.next_obs(i - 1) != Some(batch.obs(i)) {
                    self.order.misaligned.hit(place(i - 1));
                }
            }
        }
        let last = place(rows.end - 1);
        self.order.episodes.add_plain(rows.len() as u64, last);
    }

    fn look_at_order(&mut self, schema: &Schema, batch: &Batch, i: usize) {
        let place = (batch.file, batch.rows[i]);
        let flags = (batch.terminated[i], batch.truncated[i]);
        self.order.first.get_or_insert(place);
        if flags == (true, true) {
            self.order.both_ends.hit(place);
        }
        let before = match i.checked_sub(1) {
            Some(before) => Some(RowBefore::of(batch, before)),
            None => self.last.as_ref().map(Last::view),
        };
        if let Some(last) = before.as_ref().filter(|_| !batch.gaps[i]) {
            if last.is_copied_by(&RowBefore::of(batch, i)) {
                self.order.duplicated.hit(place);
            }
            let follows = last.flags == (false, false) && last.episode == batch.episodes[i];
            if schema.next_obs && follows {
                self.order.comparable += 1;
                if last.next_obs != batch.obs(i) {
                    self.order.misaligned.hit(last.place);
                }
            }
        }
        let row = EpisodeRow {
            episode: batch.episodes[i],
            terminated: flags.0,
            truncated: flags.1,
            place,
        };
        let next = || {
            let last = before.as_ref().filter(|_| schema.next_obs);
            last.map(|last| hash(last.next_obs))
        };
        if let Some(names) = self.order.names.as_mut().filter(|_| schema.episode) {
            let last = before.as_ref();
            let last = last.map(|last| (last.place.0, last.episode, last.flags.0));
            names.add(batch, i, last);
        }
        let before = self.order.episodes.add(schema, row, &next);
        if let Some((place, next)) = before.filter(|_| !batch.gaps[i]) {
            self.order.comparable += 1;
            if next != hash(batch.obs(i)) {
                self.order.misaligned.hit(place);
            }
        }
    }

    /// The report on all rows so far.
    #[must_use]
    pub fn finish(self, schema: &Schema, files: &[String], bad_rows: &BadRows) -> DataReport {
        self.finish_with(schema, files, bad_rows, &Labels::default())
    }

    /// As [`finish`](Self::finish), with the texts of categories.
    pub(crate) fn finish_with(
        mut self,
        schema: &Schema,
        files: &[String],
        bad_rows: &BadRows,
        labels: &Labels,
    ) -> DataReport {
        self.order.episodes.finish();
        if let Some(part) = std::mem::take(&mut self.parts).finish() {
            self.folded.push(Values::of(&part, &part.schema));
        }
        if let Some(values) = std::mem::take(&mut self.folded).finish() {
            self.values = values;
        }
        self.values = std::mem::take(&mut self.values).finished();
        let values = &self.values;
        let dimension = values.features.columns();
        let categories = self.order.levels.iter().zip(&schema.categories);
        let categories = categories.map(|(levels, name)| levels.report(name.clone(), labels));
        let features = (0..dimension)
            .filter(|&k| !schema.is_category(k))
            .filter_map(|k| {
                Some(FeatureReport {
                    name: schema.feature_name(k, dimension),
                    stats: stats(&values.features, k)?,
                })
            })
            .collect();
        let obs_norm = stats(&values.norm, 0);
        DataReport {
            files: files.to_vec(),
            schema: schema.clone(),
            rows: self.pairing.rows(),
            transitions: self.pairing.transitions(),
            left_out: self.pairing.without_transition(),
            bad_rows: bad_rows.clone(),
            dimension,
            features,
            categories: categories.collect(),
            reward: stats(&values.reward, 0),
            max_norm: obs_norm.map_or(0.0, |norm| norm.max).max(values.next_norm),
            obs_norm,
            episodes: EpisodeReport {
                count: self.order.episodes.lengths.count(),
                terminated: self.order.episodes.terminated,
                truncated: self.order.episodes.truncated,
                length: self.order.episodes.lengths.stats(),
                resumed: self.pairing.resumed(),
            },
            policy: self.policy.report(schema),
            findings: self.findings(schema, files, bad_rows),
            sample: DataSample::new(
                &values.rows,
                dimension,
                &self.order.episodes.sampled_lengths,
                &values.moments,
            )
            .without(|k| schema.is_category(k)),
        }
    }
}
