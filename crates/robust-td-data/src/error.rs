//! Names everything that can be wrong with logged data, each with its place.

use crate::batch::Batch;
use crate::fault::{Fault, FaultKind};
use crate::option_error::OptionError;
use crate::role::Role;
use crate::warning::Divergence;
use crate::words::counted;

/// What is wrong with the data, or with what was said about them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A row that cannot be used.
    #[error("{fault}")]
    BadRow {
        /// Where and why.
        fault: Fault,
    },
    /// One bad row more than allowed.
    #[error("{fault}; {before} skipped before it, no more are allowed", before = counted(*allowed, "bad row was", "bad rows were"))]
    TooManyBadRows {
        /// The row that is too many.
        fault: Fault,
        /// How many are allowed.
        allowed: u64,
    },
    /// A file that is not a model.
    #[error("{message}")]
    Model {
        /// What is wrong with it.
        message: String,
    },
    /// Observations of another length than the model was made for.
    #[error("the model takes observations of {takes}, but these have {found}", takes = counted(*expected as u64, "number", "numbers"))]
    ModelInput {
        /// How many the model takes.
        expected: usize,
        /// How many came.
        found: usize,
    },
    /// A prediction that is not a number.
    #[error("row {row}: the value that the model predicts is {value}")]
    ValueNotFinite {
        /// The row, from 1.
        row: u64,
        /// What came out.
        value: f64,
    },
    /// A thread for reading that does not run.
    #[error("the thread that reads the log failed: {message}")]
    Thread {
        /// Why.
        message: String,
    },
    /// A feature map, or a method, that does not fit the data.
    #[error(transparent)]
    Mathematics(#[from] robust_td_core::Error),
    /// A column mapping that is not `role=name`.
    #[error("{spec:?} is not role=column; the roles are {roles}", roles = Role::list())]
    ColumnSpec {
        /// What was given.
        spec: String,
    },
    /// A role that does not exist.
    #[error("{spec:?}: there is no role {role:?}; the roles are {roles}", roles = Role::list())]
    UnknownRole {
        /// What was given.
        spec: String,
        /// The part before the `=`.
        role: String,
    },
    /// Two columns for a role that takes one.
    #[error("the role {role} takes one column, but {first:?} and {second:?} are given")]
    TwoColumns {
        /// The role.
        role: Role,
        /// The first column.
        first: String,
        /// The second column.
        second: String,
    },
    /// A name that is not one of the known layouts or formats.
    #[error("there is no {what} {name:?}; choose one of {choices}")]
    UnknownName {
        /// What was to be chosen.
        what: &'static str,
        /// What was given.
        name: String,
        /// What there is.
        choices: &'static str,
    },
    /// A file without a column that is needed.
    #[error("{file}: no column {wanted} for the role {role}; the file has {found}")]
    MissingColumn {
        /// The file.
        file: String,
        /// The role that nobody plays.
        role: Role,
        /// What was looked for.
        wanted: String,
        /// The columns of the file.
        found: String,
    },
    /// A column name that two columns share.
    #[error("{file}: two columns have the name {column}")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The name.
        column: String,
    },
    /// Two ways to fill one role.
    #[error(
        "{file}: both {first} and {second} could play the role {role}; map one with {role}=NAME"
    )]
    AmbiguousColumn {
        /// The file.
        file: String,
        /// The role.
        role: Role,
        /// The first candidate.
        first: String,
        /// The second candidate.
        second: String,
    },
    /// One column in two roles.
    #[error("{file}: the column {column} cannot be both {first} and {second}")]
    TwoRoles {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The first role.
        first: Role,
        /// The second role.
        second: Role,
    },
    /// A column `done` that may mean either end.
    #[error(
        "{file}: the column {column} is ambiguous: terminated or truncated? Map it with terminated={column} or truncated={column}"
    )]
    LoneDone {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// A layout whose rows cannot be read without a column that is optional elsewhere.
    #[error("{file}: the layout {layout} needs a column for the role {role}: {why}")]
    LayoutNeeds {
        /// The file.
        file: String,
        /// The layout.
        layout: &'static str,
        /// The role.
        role: Role,
        /// Why.
        why: &'static str,
    },
    /// A column of a type that holds no numbers, flags or names.
    #[error("{file}: column {column} has the type {found}, not {wanted}")]
    ColumnType {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// What is needed.
        wanted: &'static str,
    },
    /// A file that does not continue the files before it.
    #[error("{file}: {found}, but {first} has {expected}")]
    SchemaChanged {
        /// The file.
        file: String,
        /// What it has.
        found: String,
        /// The first file.
        first: String,
        /// What that one has.
        expected: String,
    },
    /// A pattern without files.
    #[error("{pattern:?} matches no file")]
    NoMatch {
        /// The pattern.
        pattern: String,
    },
    /// A pattern that is none.
    #[error("{pattern:?} is not a pattern: {message}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file whose format its name does not tell.
    #[error("{file}: the format is not known: csv, ndjson or parquet?")]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// A format that needs a file.
    #[error("{file}: Parquet cannot be read from a stream; give a file, uncompressed outside")]
    NotAStream {
        /// The stream.
        file: String,
    },
    /// No files at all, or a stream that was read already.
    #[error("{what}")]
    NoInput {
        /// What is missing.
        what: &'static str,
    },
    /// A header that is not CSV.
    #[error("{file}: line {line}, header: {kind}")]
    Header {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// What is wrong.
        kind: FaultKind,
    },
    /// A file without a byte.
    #[error("{file}: the file is empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// A file with a header or a schema and nothing more.
    #[error("{file}: the file has columns but no rows")]
    NoRows {
        /// The file.
        file: String,
    },
    /// A line without an end in sight.
    #[error("{file}: line {line} is longer than {limit} bytes (a quote that is never closed?)")]
    LongLine {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The longest line that is read.
        limit: usize,
    },
    /// A file that cannot be opened.
    #[error("cannot read {file}: {source}")]
    Open {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file that cannot be read to its end: cut, damaged, or its disk is.
    #[error("{file}: cannot be read beyond row {row}: {source}")]
    Read {
        /// The file.
        file: String,
        /// The last row that was read.
        row: u64,
        /// Why.
        source: std::io::Error,
    },
    /// A Parquet file that is cut or damaged.
    #[error("{file}: cannot be read beyond row {row}: {message}")]
    Parquet {
        /// The file.
        file: String,
        /// The last row that was read.
        row: u64,
        /// What the reader says.
        message: String,
    },
    /// Columns of predictions that differ in length or number.
    #[error("{found} values where {expected} are needed")]
    WriteShape {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Output that cannot be written.
    #[error("cannot write{place}: {source}", place = file.as_ref().map_or(String::new(), |file| format!(" {file}")))]
    Write {
        /// The file, where it is one.
        file: Option<String>,
        /// Why.
        source: std::io::Error,
    },
    /// A file to be written in a directory that does not exist.
    #[error("cannot write {file}: there is no directory {directory}")]
    NoDirectory {
        /// The file.
        file: String,
        /// The directory.
        directory: String,
    },
    /// A file for predictions whose name does not tell the format.
    #[error("{file}: the name must end in .csv or .parquet")]
    OutputName {
        /// The file.
        file: String,
    },
    /// An option of an evaluation that is wrong.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A method that learns from choices.
    #[error(
        "{algorithm} does not apply: it learns from choices, which a log of one policy does not show"
    )]
    NeedsChoices {
        /// The algorithm's id.
        algorithm: &'static str,
    },
    /// A log that yields no transitions.
    #[error("the data yield no transitions")]
    NoTransitions,
    /// A log that is too short for the method.
    #[error("the data hold {}, but {algorithm} needs at least 3", counted(*found, "transition", "transitions"))]
    TooFewTransitions {
        /// The algorithm's id.
        algorithm: &'static str,
        /// The number of transitions.
        found: u64,
    },
    /// A resumed model with nothing left to learn.
    #[error("the model has already learned from its {}: nothing was read", counted(*steps, "transition", "transitions"))]
    ModelComplete {
        /// The number of transitions.
        steps: u64,
    },
    /// A model whose values are not finite.
    #[error(
        "this model diverged ({divergence}), and its values are not finite; learn it again with smaller steps"
    )]
    ModelDiverged {
        /// How.
        divergence: Divergence,
    },
    /// Something wrong with one file.
    #[error("{file}: {source}")]
    InFile {
        /// The file.
        file: String,
        /// What.
        source: Box<Error>,
    },
}

impl Error {
    /// The same error with the file that it happened in.
    #[must_use]
    pub fn in_file(self, file: impl Into<String>) -> Self {
        Self::InFile {
            file: file.into(),
            source: Box::new(self),
        }
    }

    /// What is wrong with a batch as a whole is wrong with its file.
    pub(crate) fn of_batch(self, files: &[String], batch: &Batch) -> Self {
        match files.get(batch.file()) {
            Some(file) => self.in_file(file),
            None => self,
        }
    }

    /// Whether the reader at the other end of a pipe has closed it.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Write { source, .. } => source.kind() == std::io::ErrorKind::BrokenPipe,
            Self::InFile { source, .. } => source.is_broken_pipe(),
            _ => false,
        }
    }
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;
