//! Reads logged transitions from CSV, NDJSON and Parquet, checked row by row, in constant memory.
//!
//! [`Source`]s become [`Batch`]es through a [`Reader`], whatever their format, and batches become transitions through a
//! [`Pairing`]. An [`Inspector`] reports on the data before anything is learned from them.
//!
//! Nothing is guessed: a bad row is an [`Error`] that names file, row, column and value, unless some are
//! allowed to be skipped, and a `done` column is refused until its meaning is said.

mod ahead;
mod bad_rows;
mod batch;
mod cast;
mod columns;
mod diagnostics;
mod error;
mod fault;
mod feature_rows;
pub mod files;
mod guard;
pub mod inspect;
mod layout;
mod lines;
mod model;
mod options;
pub mod pairing;
mod predictor;
pub mod preset;
mod problem_file;
mod read;
mod reader;
mod returns;
mod role;
mod row;
mod schema;
mod source;
mod survey;
mod transitions;
mod value;
mod words;
mod write;
mod written;

pub use ahead::ReadAhead;
pub use bad_rows::{BadKind, BadRows};
pub use batch::Batch;
pub use columns::ColumnMap;
pub use diagnostics::{Diagnostics, TdErrors};
pub use error::{Error, Result};
pub use fault::{Fault, FaultKind};
pub use guard::panics_are_caught;
pub use inspect::{DataReport, Finding, FindingKind, Inspector};
pub use model::Model;
pub use options::{Purpose, ReadOptions};
pub use pairing::{Pairing, Step};
pub use predictor::{Intervals, Predictions, Predictor};
pub use preset::Preset;
pub use problem_file::{NpyError, ProblemFault, ProblemFileError, load_problem};
pub use reader::Reader;
pub use returns::{Decile, ReturnCheck};
pub use role::Role;
pub use schema::Schema;
pub use source::{Compression, Format, Source};
pub use survey::Survey;
pub use transitions::Transitions;
pub use write::{ValueFormat, ValueWriter, write_values};
