//! Collects what can be said about how to read a log.

use crate::columns::ColumnMap;
use crate::preset::Preset;

/// What the rows are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Transitions: observations, rewards and what follows them.
    #[default]
    Evaluate,
    /// The same to look at only: where a log has no rewards, they are 0.
    Inspect,
    /// Observations alone; the other columns are not looked at.
    Predict,
}

/// How to read a log.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Names of columns that differ from the layout's.
    pub columns: ColumnMap,
    /// The layout.
    pub preset: Preset,
    /// What the rows are for.
    pub purpose: Purpose,
    /// How many bad rows may be skipped; with 0, the default, the first one is an error.
    pub skip_bad_rows: u64,
    /// How many rows a batch holds, at most.
    pub batch_rows: usize,
    /// The length that observations must have; without it, the first good row tells.
    pub dimension: Option<usize>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            columns: ColumnMap::default(),
            preset: Preset::default(),
            purpose: Purpose::default(),
            skip_bad_rows: 0,
            batch_rows: 4096,
            dimension: None,
        }
    }
}
