//! Holds validated rows, independent of the file format.

use std::ops::Range;
use std::sync::Arc;

use robust_td_core::features::FeatureMap;

use crate::actions::Choices;
use crate::kept::Kept;
use crate::row::LogRow;
use crate::written::Written;

/// The largest number of observed values that memory is taken for at once.
const MOST_RESERVED: usize = 1 << 22;

/// Rows of one file, in order, with every value checked: numbers are finite, ratios nonnegative.
///
/// For roles without a column, flags are false, episodes and clusters 0 and ratios 1, and next observations and rewards
/// are empty (rewards are 0 when the log is only inspected). [`Schema`](crate::Schema) lists the roles that
/// have columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    pub(crate) dimension: usize,
    pub(crate) obs: Vec<f64>,
    pub(crate) next_obs: Vec<f64>,
    pub(crate) rewards: Vec<f64>,
    pub(crate) terminated: Vec<bool>,
    pub(crate) truncated: Vec<bool>,
    pub(crate) episodes: Vec<u64>,
    pub(crate) clusters: Vec<u64>,
    pub(crate) ratios: Vec<f64>,
    pub(crate) choices: Choices,
    pub(crate) rows: Vec<u64>,
    pub(crate) gaps: Vec<bool>,
    pub(crate) gap_after: bool,
    pub(crate) file: usize,
    /// The features of all rows, if the reader thread precomputed them.
    pub(crate) features: Written,
    /// The columns that are copied to predictions.
    pub(crate) kept: Kept,
}

impl Batch {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the batch has no rows; happens only if the log ends in bad rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The length of an observation.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The observation of row i.
    #[inline]
    #[must_use]
    pub fn obs(&self, i: usize) -> &[f64] {
        &self.obs[i * self.dimension..][..self.dimension]
    }

    /// The next observation of row i, if the log has them.
    #[inline]
    #[must_use]
    pub fn next_obs(&self, i: usize) -> Option<&[f64]> {
        if self.next_obs.is_empty() {
            return None;
        }
        Some(&self.next_obs[i * self.dimension..][..self.dimension])
    }

    /// All observations, concatenated row by row.
    #[must_use]
    pub fn observations(&self) -> &[f64] {
        &self.obs
    }

    /// All next observations, concatenated row by row; empty when the log has none.
    #[must_use]
    pub fn next_observations(&self) -> &[f64] {
        &self.next_obs
    }

    /// The rewards; empty when only observations were requested.
    #[must_use]
    pub fn rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// Which rows terminated their episode.
    #[must_use]
    pub fn terminated(&self) -> &[bool] {
        &self.terminated
    }

    /// Which rows were the last before their episode was truncated.
    #[must_use]
    pub fn truncated(&self) -> &[bool] {
        &self.truncated
    }

    /// The episodes, as numbers to compare: integers as they are, other names as 63-bit hashes.
    #[must_use]
    pub fn episodes(&self) -> &[u64] {
        &self.episodes
    }

    /// The clusters, as numbers to compare like the episodes.
    #[must_use]
    pub fn clusters(&self) -> &[u64] {
        &self.clusters
    }

    /// The importance ratios.
    #[must_use]
    pub fn ratios(&self) -> &[f64] {
        &self.ratios
    }

    /// The index of the file, from 0 in the order of reading.
    #[must_use]
    pub fn file(&self) -> usize {
        self.file
    }

    /// The number of each row among its file's data rows, from 1, counting skipped rows.
    #[must_use]
    pub fn row_numbers(&self) -> &[u64] {
        &self.rows
    }

    /// Which rows directly follow skipped bad rows.
    #[must_use]
    pub fn gaps(&self) -> &[bool] {
        &self.gaps
    }

    /// Whether skipped bad rows follow this batch at the end of the log.
    #[must_use]
    pub fn gap_after(&self) -> bool {
        self.gap_after
    }

    /// Whether rows have actions, or a policy.
    pub(crate) fn has_choices(&self) -> bool {
        !self.choices.is_empty()
    }

    /// The memory of the rows.
    pub(crate) fn bytes(&self) -> usize {
        let words = self.obs.len() + self.next_obs.len() + 5 * self.len();
        8 * words + 3 * self.len() + self.choices.bytes()
    }

    /// A copy of some rows, without what depends on a policy that was not followed.
    pub(crate) fn copied(&self, rows: Range<usize>) -> Self {
        let wide = rows.start * self.dimension..rows.end * self.dimension;
        let some = |all: &[f64], range: &Range<usize>| match all.is_empty() {
            true => Vec::new(),
            false => all[range.clone()].to_vec(),
        };
        Self {
            dimension: self.dimension,
            obs: some(&self.obs, &wide),
            next_obs: some(&self.next_obs, &wide),
            rewards: some(&self.rewards, &rows),
            terminated: self.terminated[rows.clone()].to_vec(),
            truncated: self.truncated[rows.clone()].to_vec(),
            episodes: self.episodes[rows.clone()].to_vec(),
            clusters: self.clusters[rows.clone()].to_vec(),
            ratios: some(&self.ratios, &rows),
            rows: self.rows[rows.clone()].to_vec(),
            gaps: self.gaps[rows].to_vec(),
            file: self.file,
            ..Self::default()
        }
    }

    /// Adds some rows of another batch of a log without actions, the first of which has this number in its file.
    pub(crate) fn append(&mut self, other: &Self, rows: Range<usize>, number: u64) {
        self.dimension = other.dimension;
        let wide = rows.start * other.dimension..rows.end * other.dimension;
        self.obs.extend_from_slice(&other.obs[wide.clone()]);
        if !other.next_obs.is_empty() {
            self.next_obs.extend_from_slice(&other.next_obs[wide]);
        }
        if !other.rewards.is_empty() {
            self.rewards.extend_from_slice(&other.rewards[rows.clone()]);
        }
        self.terminated
            .extend_from_slice(&other.terminated[rows.clone()]);
        self.truncated
            .extend_from_slice(&other.truncated[rows.clone()]);
        self.episodes
            .extend_from_slice(&other.episodes[rows.clone()]);
        self.clusters
            .extend_from_slice(&other.clusters[rows.clone()]);
        self.ratios.extend_from_slice(&other.ratios[rows.clone()]);
        self.gaps.extend_from_slice(&other.gaps[rows.clone()]);
        self.rows.extend(number..number + rows.len() as u64);
    }

    /// Removes rows that were added in part, of a log without actions.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.obs.truncate(rows * self.dimension);
        self.next_obs.truncate(rows * self.dimension);
        self.rewards.truncate(rows);
        self.terminated.truncate(rows);
        self.truncated.truncate(rows);
        self.episodes.truncate(rows);
        self.clusters.truncate(rows);
        self.ratios.truncate(rows);
        self.rows.truncate(rows);
        self.gaps.truncate(rows);
    }

    pub(crate) fn clear(&mut self, file: usize) {
        self.file = file;
        self.obs.clear();
        self.next_obs.clear();
        self.rewards.clear();
        self.terminated.clear();
        self.truncated.clear();
        self.episodes.clear();
        self.clusters.clear();
        self.ratios.clear();
        self.choices.clear();
        self.rows.clear();
        self.gaps.clear();
        self.gap_after = false;
        self.features.clear();
        self.kept.clear();
    }

    /// Writes the features of all rows.
    pub(crate) fn write_features(&mut self, map: &Arc<FeatureMap>) {
        self.features.write(map, &self.obs);
    }

    /// Takes the memory for this many rows like the given one, or for fewer if they are long.
    pub(crate) fn reserve(&mut self, rows: usize, row: &LogRow) {
        let rows = rows.min(MOST_RESERVED.div_ceil(row.obs.len().max(1)));
        self.obs.reserve(rows * row.obs.len());
        self.next_obs.reserve(rows * row.next_obs.len());
        self.reserve_beside_observations(rows);
    }

    /// As [`reserve`](Self::reserve), but not for observations.
    pub(crate) fn reserve_beside_observations(&mut self, rows: usize) {
        self.rewards.reserve(rows);
        self.terminated.reserve(rows);
        self.truncated.reserve(rows);
        self.episodes.reserve(rows);
        self.clusters.reserve(rows);
        self.ratios.reserve(rows);
        self.rows.reserve(rows);
        self.gaps.reserve(rows);
    }

    #[inline]
    pub(crate) fn push(&mut self, row: &LogRow, number: u64, after_gap: bool) {
        self.dimension = row.obs.len();
        self.obs.extend_from_slice(&row.obs);
        self.next_obs.extend_from_slice(&row.next_obs);
        self.rewards.extend(row.reward);
        self.terminated.push(row.terminated);
        self.truncated.push(row.truncated);
        self.episodes.push(row.episode);
        self.clusters.push(row.cluster);
        self.ratios.push(row.ratio);
        self.choices.push(&row.choice);
        self.rows.push(number);
        self.gaps.push(after_gap);
    }
}
