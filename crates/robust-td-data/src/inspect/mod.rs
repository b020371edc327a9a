//! Inspects a log in one pass before learning.

mod collinear;
mod episodes;
mod findings;
mod levels;
mod report;
mod sample;
mod sentinels;
mod stats;
mod tally;

use std::ops::ControlFlow;

pub use levels::{CategoryReport, LevelCount};
pub use report::{DataReport, EpisodeReport, FeatureReport, Finding, FindingKind};
pub use sample::DataSample;
pub use stats::Stats;

use crate::bad_rows::BadRows;
use crate::batch::Batch;
use crate::error::Result;
use crate::labels::Labels;
use crate::pairing::Pairing;
use crate::reader::Reader;
use crate::schema::Schema;
use crate::thinned::Thinned;
use collinear::CoMoments;
use episodes::{EpisodeRow, Episodes, hash};
use levels::Levels;
use sentinels::Sentinels;
use stats::Running;
use tally::Tally;

/// Up to here all integers are exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Collects a [`DataReport`] in memory that depends only on the number of features.
#[derive(Debug, Clone, Default)]
pub struct Inspector {
    pairing: Pairing,
    /// The columns of numbers, in order.
    features: Vec<Running>,
    /// The categories, in order.
    levels: Vec<Levels>,
    /// Integers in the features that are too large to be exact.
    large: Vec<Tally>,
    moments: CoMoments,
    reward: Running,
    /// Codes for missing values in the features, and in the rewards.
    sentinels: Vec<Sentinels>,
    reward_sentinels: Sentinels,
    /// Observations and rewards of some rows.
    rows: Thinned,
    obs_norm: Running,
    next_norm: f64,
    episodes: Episodes,
    last: Option<Last>,
    /// Rows whose next observation could be compared with the following row.
    comparable: u64,
    misaligned: Tally,
    next_is_same: u64,
    both_ends: Tally,
    duplicated: Tally,
    /// File and number of the first row.
    first: Option<(usize, u64)>,
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

    fn equals(&self, batch: &Batch, i: usize) -> bool {
        self.obs == batch.obs(i)
            && self.reward == batch.rewards[i]
            && self.next_obs == batch.next_obs(i).unwrap_or_default()
            && self.ratio == batch.ratios[i]
            && self.flags == (batch.terminated[i], batch.truncated[i])
            && self.episode == batch.episodes[i]
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
            inspector.push(reader.schema(), &batch);
        }
        let labels = reader.labels().clone();
        let (schema, files) = (reader.schema(), reader.files());
        Ok(inspector.finish_with(schema, files, reader.bad_rows(), &labels))
    }

    /// Adds the rows of a batch.
    ///
    /// # Panics
    /// When only observations were read.
    pub fn push(&mut self, schema: &Schema, batch: &Batch) {
        self.pairing
            .push(schema, batch, 0, |_| ControlFlow::Continue(()));
        let numbers = batch.dimension - schema.categories.len().min(batch.dimension);
        self.features
            .resize(numbers.max(self.features.len()), Running::default());
        self.sentinels
            .resize(self.features.len(), Sentinels::default());
        self.large.resize(self.features.len(), Tally::default());
        self.levels
            .resize(schema.categories.len(), Levels::default());
        for i in 0..batch.len() {
            self.look_at_values(schema, batch, i);
            self.look_at_order(schema, batch, i);
            let last = self.last.get_or_insert_default();
            last.replace(batch, i);
        }
    }

    /// The names of the columns of numbers.
    fn names<'a>(&self, schema: &'a Schema) -> impl Fn(usize) -> String + use<'a> {
        let dimension = self.features.len() + self.levels.len();
        let numbers = (0..dimension).filter(|&k| !schema.is_category(k));
        let numbers: Vec<usize> = numbers.collect();
        move |k| schema.feature_name(numbers[k], dimension)
    }

    fn look_at_values(&mut self, schema: &Schema, batch: &Batch, i: usize) {
        let (numbers, next_numbers);
        let (mut obs, mut next) = (batch.obs(i), batch.next_obs(i));
        self.next_is_same += u64::from(next == Some(obs));
        if !schema.categories.is_empty() {
            let codes = (0..obs.len()).filter(|&k| schema.is_category(k));
            for (levels, k) in self.levels.iter_mut().zip(codes) {
                levels.add(obs[k]);
            }
            numbers = numbers_of(schema, obs);
            obs = &numbers;
            next_numbers = next.map(|next| numbers_of(schema, next));
            next = next_numbers.as_deref();
        }
        let place = (batch.file, batch.rows[i]);
        for ((feature, codes), &x) in self.features.iter_mut().zip(&mut self.sentinels).zip(obs) {
            feature.add(x);
            codes.add(x, place);
        }
        for (large, &x) in self.large.iter_mut().zip(obs) {
            if x.abs() > EXACT {
                large.hit(place);
            }
        }
        self.moments.add(obs);
        if schema.reward {
            self.reward.add(batch.rewards[i]);
            self.reward_sentinels.add(batch.rewards[i], place);
        }
        let reward = &batch.rewards[i..i + usize::from(schema.reward)];
        self.rows.consider(self.obs_norm.count(), [obs, reward]);
        self.obs_norm.add(norm(obs));
        if let Some(next) = next {
            self.next_norm = self.next_norm.max(norm(next));
        }
    }

    fn look_at_order(&mut self, schema: &Schema, batch: &Batch, i: usize) {
        let place = (batch.file, batch.rows[i]);
        let flags = (batch.terminated[i], batch.truncated[i]);
        self.first.get_or_insert(place);
        if flags == (true, true) {
            self.both_ends.hit(place);
        }
        if let Some(last) = self.last.as_ref().filter(|_| !batch.gaps[i]) {
            if last.equals(batch, i) {
                self.duplicated.hit(place);
            }
            let follows = last.flags == (false, false) && last.episode == batch.episodes[i];
            if schema.next_obs && follows {
                self.comparable += 1;
                if last.next_obs != batch.obs(i) {
                    self.misaligned.hit(last.place);
                }
            }
        }
        let row = EpisodeRow {
            episode: batch.episodes[i],
            terminated: flags.0,
            truncated: flags.1,
            place,
        };
        let last = self.last.as_ref();
        let next = || {
            last.filter(|_| schema.next_obs)
                .map(|last| hash(&last.next_obs))
        };
        let before = self.episodes.add(schema, row, &next);
        if let Some((place, next)) = before.filter(|_| !batch.gaps[i]) {
            self.comparable += 1;
            if next != hash(batch.obs(i)) {
                self.misaligned.hit(place);
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
        self.episodes.finish();
        let dimension = self.features.len();
        let name = self.names(schema);
        let categories = self.levels.iter().zip(&schema.categories);
        let categories = categories.map(|(levels, name)| levels.report(name.clone(), labels));
        let features = (self.features.iter().enumerate())
            .filter_map(|(k, feature)| {
                Some(FeatureReport {
                    name: name(k),
                    stats: feature.stats()?,
                })
            })
            .collect();
        let obs_norm = self.obs_norm.stats();
        DataReport {
            files: files.to_vec(),
            schema: schema.clone(),
            rows: self.pairing.rows(),
            transitions: self.pairing.transitions(),
            left_out: self.pairing.without_transition(),
            bad_rows: bad_rows.clone(),
            dimension: dimension + self.levels.len(),
            features,
            categories: categories.collect(),
            reward: self.reward.stats(),
            max_norm: obs_norm.map_or(0.0, |norm| norm.max).max(self.next_norm),
            obs_norm,
            episodes: EpisodeReport {
                count: self.episodes.lengths.count(),
                terminated: self.episodes.terminated,
                truncated: self.episodes.truncated,
                length: self.episodes.lengths.stats(),
                resumed: self.pairing.resumed(),
            },
            findings: self.findings(schema, files, bad_rows),
            sample: DataSample::new(
                &self.rows,
                dimension,
                &self.episodes.sampled_lengths,
                &self.moments,
            ),
        }
    }
}

/// The entries of an observation that are numbers.
fn numbers_of(schema: &Schema, obs: &[f64]) -> Vec<f64> {
    let numbers = (0..obs.len()).filter(|&k| !schema.is_category(k));
    numbers.map(|k| obs[k]).collect()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
