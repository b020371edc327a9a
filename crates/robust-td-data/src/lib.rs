//! Learns value functions from logged transitions in CSV, NDJSON and Parquet files or in memory, checked row by row; files in constant memory.
//!
//! [`evaluate`] learns from a log and returns a [`Fit`], which predicts; [`inspect()`] reports on a log without learning from
//! it. At a lower level, a [`Reader`] turns [`Source`]s of any format into [`Batch`]es, and a [`Pairing`] turns batches into
//! transitions.
//!
//! Nothing is guessed: a bad row is an [`Error`] that names file, row, column and value, unless some are
//! allowed to be skipped, and a `done` column is refused until it is mapped to `terminated` or `truncated`.

#![forbid(unsafe_code)]

mod actions;
mod ahead;
mod assess;
mod averaged;
mod bad_rows;
mod batch;
mod blocks;
mod cast;
mod choice;
mod chunks;
mod columns;
mod diagnostics;
mod dialect;
mod discounts;
mod divergence;
mod elsewhere;
mod episode_sample;
mod error;
mod evaluate;
mod expansion;
mod fault;
mod feature_rows;
pub mod files;
mod findings;
mod fingerprint;
mod fit;
mod fold;
mod guard;
mod hash;
mod inspect;
mod interleaved;
mod kept;
mod labels;
mod layout;
mod learned;
mod lines;
mod log;
mod mark;
pub mod memory;
mod model;
mod monitor;
mod observed;
mod off_policy;
mod option_error;
mod options;
mod ordered;
mod origin;
mod pairing;
mod parts;
pub mod path_name;
mod policy_columns;
mod policy_rows;
mod portfolio_choice;
mod predict_rows;
mod predicted;
mod predictor;
pub mod preset;
mod problem_file;
mod read;
mod reader;
mod reading;
mod recall;
mod recent;
mod replay;
mod report;
mod return_variance;
mod returns;
mod role;
mod row;
mod sample;
mod schema;
mod shown_cell;
mod solved;
mod source;
mod spec;
mod start_value;
mod stored;
mod streamed;
mod survey;
mod table;
mod thinned;
mod transitions;
mod uncertainty;
mod unseen;
mod value;
mod warning;
mod words;
mod write;
mod written;

// Learning from a log, and predicting.
pub use averaged::{Averaged, LearnersReport, Spreads};
pub use choice::{FeatureCandidate, FeatureChoice};
pub use discounts::DiscountsReport;
pub use divergence::Divergence;
pub use elsewhere::{Engine, Tasks, compute_stored, compute_task, merge_states, task_files};
pub use episode_sample::EpisodeSample;
pub use error::{Error, Result};
pub use evaluate::{Evaluation, Progress, ReportAt, evaluate};
pub use fit::Fit;
pub use learned::Learned;
pub use log::{Log, inspect};
pub use model::Model;
pub use off_policy::{
    ActionReport, OffPolicyEstimate, OffPolicyMethod, OffPolicyReport, PolicyReport, TargetKind,
};
pub use option_error::{OptionError, OptionName};
pub use portfolio_choice::{Candidate, ConstantChoice};
pub use predicted::{Limits, Unbounded};
pub use predictor::{Intervals, Predictions, Predictor};
pub use report::{EvaluationReport, TdErrorReport};
pub use return_variance::ReturnVariance;
pub use returns::{Doubt, ReturnCheck, Tenth, Verdict};
pub use sample::ValueSample;
pub use solved::{Solved, Solver, Unit};
pub use start_value::{MonteCarlo, StartValue};
pub use uncertainty::{Route, Uncertainty};
pub use unseen::{Entry, Unseen};
pub use warning::Warning;

// The contents of a log.
pub use actions::{PolicyKind, PolicySchema};
pub use bad_rows::{BadKind, BadRows};
pub use fault::{Fault, FaultKind};
pub use inspect::{
    CategoryReport, DataReport, DataSample, EpisodeReport, FeatureReport, Finding, FindingKind,
    Inspector, LevelCount, Stats,
};
pub use schema::Schema;

// Reading and writing.
pub use ahead::ReadAhead;
pub use batch::Batch;
pub use columns::ColumnMap;
pub use diagnostics::{Diagnostics, TdErrors};
pub use dialect::Dialect;
pub use guard::panics_are_caught;
pub use kept::Keep;
pub use monitor::Monitor;
pub use options::{Purpose, ReadOptions};
pub use pairing::{Pairing, Step};
pub use preset::Preset;
pub use problem_file::{NpyError, ProblemFault, ProblemFileError, load_problem, parse_problem};
pub use reader::Reader;
pub use role::Role;
pub use source::{Compression, Format, Source};
pub use stored::Storage;
pub use table::{Table, vectors};
pub use transitions::Transitions;
pub use write::{ValueFormat, ValueWriter, write_values};
