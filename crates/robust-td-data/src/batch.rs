//! Holds validated rows, independent of the file format.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use robust_td_core::features::FeatureMap;

use crate::actions::Choices;
use crate::kept::Kept;
use crate::row::LogRow;
use crate::written::Written;

/// The largest number of observed values that memory is taken for at once.
const MOST_RESERVED: usize = 1 << 22;

/// A value for each row. Roles without a column borrow theirs, so that they take no memory.
pub(crate) type Column<T> = Cow<'static, [T]>;

/// The values of roles without a column, for the rows of a batch of the usual length.
pub(crate) static NO_FLAGS: [bool; 4096] = [false; 4096];
pub(crate) static NO_NAMES: [u64; 4096] = [0; 4096];
pub(crate) static NO_RATIOS: [f64; 4096] = [1.0; 4096];

/// Extends a column to `rows` rows by the value that `same` repeats, borrowed from there unless the column has rows of its own.
pub(crate) fn extend_by_same<T: Copy>(column: &mut Column<T>, rows: usize, same: &'static [T]) {
    let is_borrowed = matches!(column, Cow::Borrowed(_)) || column.is_empty();
    match same.get(..rows) {
        Some(same) if is_borrowed => *column = Cow::Borrowed(same),
        _ => column.to_mut().resize(rows, same[0]),
    }
}

/// Shortens a column; memory of its own is kept.
fn truncate<T: Copy>(column: &mut Column<T>, rows: usize) {
    match column {
        Cow::Borrowed(same) => *same = &same[..rows.min(same.len())],
        Cow::Owned(own) => own.truncate(rows),
    }
}

/// Adds rows of another column.
fn extend<T: Copy>(column: &mut Column<T>, other: &[T]) {
    column.to_mut().extend_from_slice(other);
}

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
    pub(crate) terminated: Column<bool>,
    pub(crate) truncated: Column<bool>,
    pub(crate) episodes: Column<u64>,
    pub(crate) clusters: Column<u64>,
    pub(crate) ratios: Column<f64>,
    pub(crate) choices: Choices,
    pub(crate) rows: Vec<u64>,
    pub(crate) gaps: Column<bool>,
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
        fn own<T: Clone>(column: &Column<T>) -> usize {
            match column {
                Cow::Borrowed(_) => 0,
                Cow::Owned(own) => size_of_val(own.as_slice()),
            }
        }
        let numbers = self.obs.len() + self.next_obs.len() + self.rewards.len() + self.rows.len();
        let flags = [&self.terminated, &self.truncated, &self.gaps].map(own);
        let names = [&self.episodes, &self.clusters].map(own);
        let others = flags.iter().chain(&names).sum::<usize>() + own(&self.ratios);
        8 * numbers + others + self.choices.bytes()
    }

    /// A copy of some rows, without what depends on a policy that was not followed.
    pub(crate) fn copied(&self, rows: Range<usize>) -> Self {
        fn part<T: Copy>(column: &Column<T>, rows: &Range<usize>) -> Column<T> {
            match column {
                Cow::Borrowed(same) => Cow::Borrowed(&same[rows.clone()]),
                Cow::Owned(own) => Cow::Owned(own[rows.clone()].to_vec()),
            }
        }
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
            terminated: part(&self.terminated, &rows),
            truncated: part(&self.truncated, &rows),
            episodes: part(&self.episodes, &rows),
            clusters: part(&self.clusters, &rows),
            ratios: part(&self.ratios, &rows),
            rows: self.rows[rows.clone()].to_vec(),
            gaps: part(&self.gaps, &rows),
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
        extend(&mut self.terminated, &other.terminated[rows.clone()]);
        extend(&mut self.truncated, &other.truncated[rows.clone()]);
        extend(&mut self.episodes, &other.episodes[rows.clone()]);
        extend(&mut self.clusters, &other.clusters[rows.clone()]);
        extend(&mut self.ratios, &other.ratios[rows.clone()]);
        extend(&mut self.gaps, &other.gaps[rows.clone()]);
        self.rows.extend(number..number + rows.len() as u64);
    }

    /// Removes rows that were added in part, of a log without actions.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.obs.truncate(rows * self.dimension);
        self.next_obs.truncate(rows * self.dimension);
        self.rewards.truncate(rows);
        truncate(&mut self.terminated, rows);
        truncate(&mut self.truncated, rows);
        truncate(&mut self.episodes, rows);
        truncate(&mut self.clusters, rows);
        truncate(&mut self.ratios, rows);
        self.rows.truncate(rows);
        truncate(&mut self.gaps, rows);
    }

    pub(crate) fn clear(&mut self, file: usize) {
        self.file = file;
        self.obs.clear();
        self.next_obs.clear();
        self.rewards.clear();
        truncate(&mut self.terminated, 0);
        truncate(&mut self.truncated, 0);
        truncate(&mut self.episodes, 0);
        truncate(&mut self.clusters, 0);
        truncate(&mut self.ratios, 0);
        self.choices.clear();
        self.rows.clear();
        truncate(&mut self.gaps, 0);
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
        self.reserve_numbers(rows);
        self.terminated.to_mut().reserve(rows);
        self.truncated.to_mut().reserve(rows);
        self.episodes.to_mut().reserve(rows);
        self.clusters.to_mut().reserve(rows);
        self.ratios.to_mut().reserve(rows);
        self.gaps.to_mut().reserve(rows);
    }

    /// As [`reserve`](Self::reserve), but only for the numbers of rows and for rewards.
    pub(crate) fn reserve_numbers(&mut self, rows: usize) {
        self.rewards.reserve(rows);
        self.rows.reserve(rows);
    }

    /// Notes whether this row directly follows skipped bad rows.
    pub(crate) fn note_gap(&mut self, row: usize, is_gap: bool) {
        if is_gap {
            self.gaps.to_mut()[row] = true;
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, row: &LogRow, number: u64, after_gap: bool) {
        self.dimension = row.obs.len();
        self.obs.extend_from_slice(&row.obs);
        self.next_obs.extend_from_slice(&row.next_obs);
        self.rewards.extend(row.reward);
        self.terminated.to_mut().push(row.terminated);
        self.truncated.to_mut().push(row.truncated);
        self.episodes.to_mut().push(row.episode);
        self.clusters.to_mut().push(row.cluster);
        self.ratios.to_mut().push(row.ratio);
        self.choices.push(&row.choice);
        self.rows.push(number);
        self.gaps.to_mut().push(after_gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_without_a_column_take_memory_only_beside_others() {
        let most = NO_RATIOS.len();
        let mut ratios = Column::default();
        extend_by_same(&mut ratios, 5, &NO_RATIOS);
        extend_by_same(&mut ratios, most, &NO_RATIOS);
        truncate(&mut ratios, most - 1);
        assert!(matches!(ratios, Cow::Borrowed(_)) && ratios.len() == most - 1);
        ratios.to_mut().push(2.0);
        extend_by_same(&mut ratios, most + 1, &NO_RATIOS);
        assert_eq!(ratios[most - 2..], [1.0, 2.0, 1.0]);
        truncate(&mut ratios, 0);
        extend_by_same(&mut ratios, most + 7, &NO_RATIOS);
        assert!(ratios.len() == most + 7 && ratios.iter().all(|ratio| *ratio == 1.0));
    }

    #[test]
    fn a_gap_is_noted_in_one_batch_only() {
        let mut batch = Batch::default();
        extend_by_same(&mut batch.gaps, 3, &NO_FLAGS);
        batch.note_gap(0, false);
        batch.note_gap(1, true);
        assert_eq!(batch.gaps(), [false, true, false]);
        assert!(NO_FLAGS.iter().all(|flag| !flag));
    }
}
