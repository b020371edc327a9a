//! Holds what was found out about a log.

use serde::Serialize;

use crate::bad_rows::BadRows;
use crate::inspect::stats::Stats;
use crate::schema::Schema;

/// What a log holds, and what looks wrong with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataReport {
    /// The files, in the order of reading.
    pub files: Vec<String>,
    /// The roles that have columns.
    pub schema: Schema,
    /// Good rows.
    pub rows: u64,
    /// Transitions that come of them.
    pub transitions: u64,
    /// Good rows that nothing follows, so that no transition comes of them.
    pub left_out: u64,
    /// Rows that cannot be used.
    pub bad_rows: BadRows,
    /// The length of observations.
    pub dimension: usize,
    /// The features, in order.
    pub features: Vec<FeatureReport>,
    /// The rewards.
    pub reward: Option<Stats>,
    /// The Euclidean norms of the observations.
    pub obs_norm: Option<Stats>,
    /// The largest norm of an observation or a next observation.
    pub max_norm: f64,
    /// The episodes.
    pub episodes: EpisodeReport,
    /// What looks wrong, the gravest first.
    pub findings: Vec<Finding>,
}

/// One feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureReport {
    /// Its column, or its place in the list.
    pub name: String,
    /// Its values.
    pub stats: Stats,
}

/// The episodes of a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EpisodeReport {
    /// How many there are.
    pub count: u64,
    /// How many came to their end.
    pub terminated: u64,
    /// How many were cut.
    pub truncated: u64,
    /// Their lengths in rows.
    pub length: Option<Stats>,
}

/// What looks wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// Rows with an empty cell or a null.
    MissingValues,
    /// Rows with NaN or an infinity.
    NotFiniteValues,
    /// Rows that cannot be used for another reason.
    BadRows,
    /// No column of rewards, without which nothing can be learned.
    NoReward,
    /// No transition comes of the log.
    NoTransitions,
    /// Next observations that are not the observation of the following row.
    Misaligned,
    /// Next observations that are the observation of their own row, throughout.
    NextIsSame,
    /// Rows of several episodes that are mixed.
    MixedEpisodes,
    /// Rows that follow the end of their own episode.
    RowsAfterEnd,
    /// Episodes of one length that are all said to have come to their end, as time limits have.
    EqualTermination,
    /// Rows that are both terminated and truncated.
    TerminatedAndTruncated,
    /// Episodes that stop without a flag, or a log that has no flags.
    EpisodesWithoutEnd,
    /// Features with a single value.
    ConstantFeature,
    /// Features that are linear combinations of others.
    CollinearFeature,
    /// Rewards with a single value.
    ConstantReward,
    /// Rows that equal the row before them.
    DuplicatedRows,
}

/// One thing that looks wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// In words.
    pub message: String,
    /// The file where it first happens; none for what is true of the whole log.
    pub file: Option<String>,
    /// The row there, from 1.
    pub row: Option<u64>,
    /// How often it happens.
    pub count: u64,
}
