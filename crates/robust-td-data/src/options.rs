//! Defines the options for reading a log.

use crate::columns::ColumnMap;
use crate::dialect::Dialect;
use crate::fingerprint::Fingerprints;
use crate::kept::Keep;
use crate::labels::Labels;
use crate::monitor::Monitor;
use crate::observed::Observed;
use crate::preset::Preset;
use crate::stored::{Seek, Stores};
use robust_td_core::features::Input;

/// What the rows are used for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Transitions: observations, rewards and what follows them.
    #[default]
    Evaluate,
    /// As `Evaluate`, but only to describe the log: missing rewards are 0.
    Inspect,
    /// Only observations; other columns are ignored.
    Predict,
}

/// Options for reading a log.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// Column names that differ from the layout's.
    pub columns: ColumnMap,
    /// The layout.
    pub preset: Preset,
    /// How numbers are written in CSV.
    pub dialect: Dialect,
    /// What the rows are used for.
    pub purpose: Purpose,
    /// The actions of the model that predicts, if it is one of state-action features.
    pub actions: Vec<String>,
    /// The number of bad rows that may be skipped; with 0, the default, the first one is an error.
    pub skip_bad_rows: u64,
    /// The maximum number of rows per batch.
    pub batch_rows: usize,
    /// The required length of observations; by default, that of the first good row.
    pub dimension: Option<usize>,
    /// The number of threads that decode a Parquet or CSV file; the rows do not depend on it.
    pub threads: usize,
    /// Counts the rows, and stops reading.
    pub monitor: Monitor,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            columns: ColumnMap::default(),
            preset: Preset::default(),
            dialect: Dialect::default(),
            purpose: Purpose::default(),
            actions: Vec::new(),
            skip_bad_rows: 0,
            batch_rows: 4096,
            dimension: None,
            threads: 1,
            monitor: Monitor::default(),
        }
    }
}

/// Which columns a log of its own settings reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// What is known about the columns of the observation.
    pub observed: Observed,
    /// What earlier passes saw of the files.
    pub fingerprints: Fingerprints,
    /// The texts of categories.
    pub labels: Labels,
    /// The columns to copy.
    pub keep: Keep,
    /// The file that is opened first, and the first row there that is needed, from 1; earlier ones may be left out.
    pub from: (usize, u64),
    /// A place in a text file before that row.
    pub seek: Option<Seek>,
    /// The files that are stored elsewhere.
    pub stores: Stores,
}

/// How to read further files like those of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ReadAs {
    pub columns: ColumnMap,
    pub preset: Preset,
    pub dialect: Dialect,
    /// The columns of the observation; empty if they are not known by name.
    pub inputs: Vec<Input>,
}
