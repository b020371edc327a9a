//! Defines the report on a log.

use serde::{Deserialize, Serialize};

use crate::bad_rows::BadRows;
use crate::inspect::levels::CategoryReport;
use crate::inspect::sample::DataSample;
use crate::inspect::stats::Stats;
use crate::off_policy::PolicyReport;
use crate::schema::Schema;

/// The contents of a log, and what looks wrong with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataReport {
    /// The files, in the order of reading.
    pub files: Vec<String>,
    /// The roles that have columns.
    pub schema: Schema,
    /// Good rows.
    pub rows: u64,
    /// Transitions that they yield.
    pub transitions: u64,
    /// Good rows without a successor, which yield no transition.
    pub left_out: u64,
    /// Unusable rows.
    pub bad_rows: BadRows,
    /// The length of observations.
    pub dimension: usize,
    /// The features, in order.
    pub features: Vec<FeatureReport>,
    /// The categories, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<CategoryReport>,
    /// The rewards.
    pub reward: Option<Stats>,
    /// The Euclidean norms of the observations.
    pub obs_norm: Option<Stats>,
    /// The largest norm of an observation or a next observation.
    pub max_norm: f64,
    /// The episodes.
    pub episodes: EpisodeReport,
    /// The actions, and a policy that was not followed, if the log describes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyReport>,
    /// What looks wrong, most serious first.
    pub findings: Vec<Finding>,
    /// Values to draw.
    #[serde(skip)]
    pub sample: DataSample,
}

impl DataReport {
    /// Whether the log shows where episodes start.
    #[must_use]
    pub fn has_episodes(&self) -> bool {
        self.schema.episode || self.episodes.terminated + self.episodes.truncated > 0
    }
}

/// One feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureReport {
    /// Its column, or its position in the list.
    pub name: String,
    /// Its values.
    pub stats: Stats,
}

/// The episodes of a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EpisodeReport {
    /// Their number.
    pub count: u64,
    /// The number of terminated episodes.
    pub terminated: u64,
    /// The number of truncated episodes.
    pub truncated: u64,
    /// Their lengths in rows.
    pub length: Option<Stats>,
    /// The number of times that an episode resumes after rows of another one: 0 if each has its rows one after the other.
    pub resumed: u64,
}

/// What looks wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// Rows with an empty cell or a null.
    MissingValues,
    /// Rows with NaN or an infinity.
    NotFiniteValues,
    /// Rows that are unusable for another reason.
    BadRows,
    /// No reward column, without which nothing can be learned.
    NoReward,
    /// The log yields no transitions.
    NoTransitions,
    /// Next observations that are not the observation of the following row.
    Misaligned,
    /// Next observations that equal the observation of their own row, in every row.
    NextIsSame,
    /// Interleaved rows of several episodes where it is not certain which belong together.
    MixedEpisodes,
    /// Rows that follow the end of their own episode.
    RowsAfterEnd,
    /// Terminated episodes that all have the same length, as under a time limit.
    EqualTermination,
    /// Rows that are both terminated and truncated.
    TerminatedAndTruncated,
    /// Episodes that stop without a flag, or a log that has no flags.
    EpisodesWithoutEnd,
    /// Rows without a successor that are left out, while those that terminate are kept.
    CutRowsLeftOut,
    /// No column has the role episode, but one may name the episodes.
    EpisodeColumnUnused,
    /// No column has the role cluster, but one may name what several episodes have in common.
    ClusterColumnUnused,
    /// Codes for missing values, such as -999.
    SentinelValues,
    /// Features with a single value.
    ConstantFeature,
    /// Features that are linear combinations of others.
    CollinearFeature,
    /// Rewards with a single value.
    ConstantReward,
    /// Rows that equal the row before them.
    DuplicatedRows,
    /// Files with the same rows as an earlier one.
    CopiedFiles,
    /// An answer that does not solve the equations of the log.
    NotLearned,
    /// Iterates that diverged.
    Diverged,
    /// Predictions that differ from returns.
    FeaturesDoNotFit,
    /// A value of the policy that differs from the mean return of complete episodes.
    MonteCarloDiffers,
    /// Far fewer independent features than features.
    LowRank,
    /// TD errors whose mean is not 0.
    MeanTdError,
    /// Intervals that cannot be computed, or not trusted.
    IntervalsUnknown,
    /// An average of independent learners, whose common bias its intervals do not show.
    AverageOfLearners,
    /// Importance ratios that the algorithm does not use.
    UnusedRatios,
    /// A policy that was not followed takes actions where the log has none like them.
    UnsupportedPolicy,
    /// Few episodes carry most of the weight of importance sampling.
    FewEffectiveEpisodes,
    /// Importance ratios that contradict the probabilities.
    RatioContradicts,
    /// Importance ratios that do not average 1.
    WrongPropensities,
    /// Least squares and importance sampling that contradict each other.
    EstimatorsDiffer,
    /// What a policy that was not followed does at the first rows is not known.
    PolicyAtStartUnknown,
    /// Episodes that importance sampling leaves out, because they were cut.
    CutEpisodes,
    /// A stream that was not used to its end.
    MemoryLimit,
    /// Times that are read as numbers of seconds.
    TimesAsSeconds,
    /// Integers that are too large to be exact.
    RoundedIntegers,
    /// Rows with a category that the log of the model did not have.
    UnseenLevels,
}

impl FindingKind {
    /// Whether it concerns the answer rather than the log.
    #[must_use]
    pub fn is_about_the_answer(self) -> bool {
        matches!(
            self,
            Self::NotLearned
                | Self::Diverged
                | Self::FeaturesDoNotFit
                | Self::MonteCarloDiffers
                | Self::LowRank
                | Self::MeanTdError
                | Self::IntervalsUnknown
                | Self::AverageOfLearners
                | Self::UnusedRatios
                | Self::UnsupportedPolicy
                | Self::EstimatorsDiffer
        )
    }
}

/// One thing that looks wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// Its description.
    pub message: String,
    /// The file where it first occurs; `None` if it concerns the whole log.
    pub file: Option<String>,
    /// The row there, from 1.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub row: Option<u64>,
    /// The number of occurrences.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub count: u64,
}
