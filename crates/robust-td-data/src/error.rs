//! Defines the errors of logged data, each with its place.

use crate::batch::Batch;
use crate::divergence::Divergence;
use crate::fault::{Fault, FaultKind};
use crate::files::WriteError;
use crate::option_error::OptionError;
use crate::role::Role;
use crate::words::counted;

/// Invalid data, or an invalid description of them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An unusable row.
    #[error("{fault}")]
    BadRow {
        /// Where and why.
        fault: Box<Fault>,
    },
    /// One more bad row than allowed.
    #[error("{fault}; {before} already skipped, the maximum allowed", before = counted(*allowed, "bad row was", "bad rows were"))]
    TooManyBadRows {
        /// The row that exceeds the limit.
        fault: Box<Fault>,
        /// The number allowed.
        allowed: u64,
    },
    /// A file that is not a model.
    #[error("{message}")]
    Model {
        /// What is wrong with it.
        message: String,
    },
    /// A model that could not be read back.
    #[error(
        "{file}: not written, because the model could not be read back ({message}); the log may have numbers that are too large: rescale \
         its columns"
    )]
    NotSaved {
        /// The file.
        file: String,
        /// What is wrong with the model.
        message: String,
    },
    /// Observations whose length differs from that of the model.
    #[error("the model expects observations of {takes}, but these have {found}", takes = counted(*expected as u64, "number", "numbers"))]
    ModelInput {
        /// The length that the model expects.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// Interleaved rows for an algorithm that needs them episode by episode.
    #[error(
        "row {row}: its episode resumes after rows of another one, but {algorithm} keeps traces, which need the rows of an episode one \
         after the other; sort the rows by episode, or use an algorithm without traces, such as auto"
    )]
    Interleaved {
        /// The row, from 1.
        row: u64,
        /// The algorithm.
        algorithm: &'static str,
    },
    /// A prediction that is not finite.
    #[error("row {row}: the predicted value {value} is not finite")]
    ValueNotFinite {
        /// The row, from 1.
        row: u64,
        /// The predicted value.
        value: f64,
    },
    /// The reading thread failed.
    #[error("the reading thread failed: {message}")]
    Thread {
        /// Why.
        message: String,
    },
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A state of a part of the log that is damaged or of another job.
    #[error(transparent)]
    Seal(#[from] robust_td_core::sealed::SealError),
    /// States of parts that do not fit together.
    #[error("the parts of the log do not fit together: {message}")]
    Parts {
        /// What is wrong.
        message: String,
    },
    /// Something that an executor cannot compute in parts.
    #[error("an executor cannot be used {what}; evaluate without it")]
    NotInParts {
        /// With what.
        what: String,
    },
    /// Something that learners cannot be averaged with.
    #[error("learners cannot be averaged {what}; leave out the option learners")]
    NotAveraged {
        /// With what.
        what: String,
    },
    /// A file whose size is not that of the first pass over it.
    #[error("{file} has changed since the evaluation began, or is another file on this machine")]
    Changed {
        /// The file.
        file: String,
    },
    /// An executor that failed.
    #[error("{message}")]
    Executor {
        /// Its own words.
        message: String,
    },
    /// Columns that do not form a table.
    #[error("{message}")]
    Table {
        /// Why not.
        message: String,
    },
    /// A model whose rows would be needed again, but are in no file.
    #[error(
        "the model was made from a stream or from data in memory, and does not contain the rows, which are needed again; evaluate all \
         rows in one run, or from files"
    )]
    OriginInMemory,
    /// A feature map or a method that does not fit the data.
    #[error(transparent)]
    Mathematics(#[from] robust_td_core::Error),
    /// A column mapping that is not `role=column`.
    #[error("{spec:?} is not role=column; the roles are {roles}", roles = Role::list())]
    ColumnSpec {
        /// What was given.
        spec: String,
    },
    /// An unknown role.
    #[error("{spec:?}: unknown role {role:?}; the roles are {roles}", roles = Role::list())]
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
    /// An unknown layout or format.
    #[error("unknown {what} {name:?}; use one of {choices}")]
    UnknownName {
        /// What was to be chosen.
        what: &'static str,
        /// What was given.
        name: String,
        /// The valid choices.
        choices: &'static str,
    },
    /// A file without a required column.
    #[error(
        "{file}: no column {wanted} for the role {role}; the file has {found}{}",
        example.as_ref().map_or(String::new(), |example| format!("; name its columns in the features, such as {example}"))
    )]
    MissingColumn {
        /// The file.
        file: String,
        /// The role without a column.
        role: Role,
        /// The names that were tried.
        wanted: String,
        /// The columns of the file.
        found: String,
        /// A feature map for these columns.
        example: Option<String>,
    },
    /// A file without a column that a model, or the files before it, have.
    #[error("{file}: no column is named {name}; {columns}")]
    MissingInput {
        /// The file.
        file: String,
        /// The column, and the one that was probably meant.
        name: String,
        /// The columns that the features need, and those of the file.
        columns: String,
    },
    /// A file whose first line has values instead of names.
    #[error(
        "{file}: the first line has numbers ({first}), not the names of columns; put a line with names such as obs_0,obs_1,reward before it"
    )]
    NoHeader {
        /// The file.
        file: String,
        /// The first line.
        first: String,
    },
    /// A file of another kind.
    #[error("{file}: the first line is not text ({first}); {remedy}")]
    NotText {
        /// The file.
        file: String,
        /// The first line.
        first: String,
        /// What it seems to be, and what to do.
        remedy: &'static str,
    },
    /// A name in a feature map that no column has.
    #[error("{file}: {message}")]
    UnknownColumn {
        /// The file.
        file: String,
        /// The name, the nearest one, and the columns of the file.
        message: String,
    },
    /// A column that cannot be copied to predictions.
    #[error("column {column} cannot be kept: {why}")]
    KeptColumn {
        /// The column.
        column: String,
        /// Why not.
        why: String,
    },
    /// A column name that two columns share.
    #[error("{file}: two columns are named {column}; rename one of them")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The name.
        column: String,
    },
    /// Two candidates for one role.
    #[error(
        "{file}: both {first} and {second} match the role {role}; map one of them: {role}=COLUMN"
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
    /// Columns whose names are those of a role but for the case of letters.
    #[error(
        "{file}: {columns} is not read as {role}, because the case of letters matters; map it as {role}={columns}"
    )]
    ColumnCase {
        /// The file.
        file: String,
        /// The role.
        role: Role,
        /// The columns.
        columns: String,
    },
    /// A column `done` that may mean terminated or truncated.
    #[error(
        "{file}: column {column} is ambiguous: terminated or truncated? \
         Map it as terminated={column} or truncated={column}"
    )]
    LoneDone {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// A policy that was not followed, for an algorithm that cannot evaluate it.
    #[error(
        "the log describes a policy that was not followed (the columns of an action and a target), which only the algorithm auto evaluates; {id} \
         evaluates the policy that was followed: leave out these columns, or use auto"
    )]
    PolicyAlgorithm {
        /// The algorithm.
        id: &'static str,
    },
    /// A policy that was not followed, without what it does at the next observation.
    #[error("{file}: the columns {roles} are missing: {why}")]
    PolicyNeeds {
        /// The file.
        file: String,
        /// The columns, any of which would do.
        roles: &'static str,
        /// Why.
        why: &'static str,
    },
    /// A layout that requires a column that is optional elsewhere.
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
    /// A column of an unsupported type.
    #[error("{file}: column {column} has the type {found}, not {wanted}")]
    ColumnType {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// The required type.
        wanted: &'static str,
    },
    /// A file whose columns differ from those of the files before it.
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
    /// A pattern that matches no files.
    #[error("{pattern:?} matches no file")]
    NoMatch {
        /// The pattern.
        pattern: String,
    },
    /// An invalid pattern.
    #[error("{pattern:?} is not a valid pattern: {message}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file whose name does not show its format.
    #[error("{file}: cannot infer the format from the name; set it to csv, ndjson or parquet")]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// A file that is named twice.
    #[error(
        "{file}: this is the same file as {first}, and its rows would count twice; name it once"
    )]
    FileTwice {
        /// The file.
        file: String,
        /// The name under which it was given first.
        first: String,
    },
    /// A format that needs a file.
    #[error(
        "{file}: Parquet cannot be read from a stream or a compressed file; use a plain .parquet file"
    )]
    NotAStream {
        /// The stream.
        file: String,
    },
    /// No files, or a stream that was already read.
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
    /// Numbers with commas in fields that commas separate.
    #[error(
        "{file}: commas separate the fields, so a number with a comma must be in quotes (\"1,5\"); use quotes or another \
         separator, such as a semicolon"
    )]
    CommaInNumbers {
        /// The file.
        file: String,
    },
    /// An empty file.
    #[error("{file}: the file is empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// A file with a header or a schema but no rows.
    #[error("{file}: the file has columns but no rows")]
    NoRows {
        /// The file.
        file: String,
    },
    /// A line that exceeds the length limit.
    #[error("{file}: line {line} is longer than {limit} bytes (unclosed quote?)")]
    LongLine {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The maximum length.
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
    /// A file that cannot be read to its end: truncated, damaged, or on a failing disk.
    #[error(
        "{file}: cannot be read beyond row {row}: {source}{}",
        if_damaged(source, *row)
    )]
    Read {
        /// The file.
        file: String,
        /// The last row read.
        row: u64,
        /// Why.
        source: std::io::Error,
    },
    /// A truncated or damaged Parquet file.
    #[error("{file}: cannot be read beyond row {row}: {message}")]
    Parquet {
        /// The file.
        file: String,
        /// The last row read.
        row: u64,
        /// The message of the Parquet reader.
        message: String,
    },
    /// Columns of predictions that differ in length or number.
    #[error("{found} values, but {expected} are required")]
    WriteShape {
        /// The expected number.
        expected: usize,
        /// The actual number.
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
    /// A file that cannot be written.
    #[error(transparent)]
    File(#[from] WriteError),
    /// A file for predictions whose name does not show its format.
    #[error("{file}: the name must end in .csv or .parquet")]
    OutputName {
        /// The file.
        file: String,
    },
    /// An invalid option of an evaluation.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A method that learns from choices of actions.
    #[error(
        "{algorithm} does not apply: it learns from choices of actions, which a log of one policy does not contain"
    )]
    NeedsChoices {
        /// The algorithm's id.
        algorithm: &'static str,
    },
    /// Features that need more memory than there is.
    #[error(
        "{features} features need about {} of memory, but the limit is {}; use fewer features",
        crate::words::bytes(*needed),
        crate::words::bytes(*limit)
    )]
    TooLarge {
        /// The number of features.
        features: usize,
        /// The bytes that they need.
        needed: u64,
        /// The bytes that they may take.
        limit: u64,
    },
    /// A log that yields no transitions.
    #[error("the data yield no transitions")]
    NoTransitions,
    /// A log that is too short for the method.
    #[error("the data have {}, but {algorithm} needs at least 3", counted(*found, "transition", "transitions"))]
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
    /// A file that a resumed model was made from.
    #[error("{file}: the model was already made from this file")]
    OriginAgain {
        /// The file.
        file: String,
    },
    /// A file that a resumed model needs again.
    #[error(
        "{file}: the model was made from this file, which is needed again to solve for all rows, but it is missing or has changed"
    )]
    OriginChanged {
        /// The file.
        file: String,
    },
    /// A file that is not the same in two passes.
    #[error(
        "{file}: the file changed while it was evaluated: {what}; evaluate a copy that is not written to"
    )]
    FileChanged {
        /// The file.
        file: String,
        /// How it changed.
        what: String,
    },
    /// A model whose values are not finite.
    #[error(
        "this model diverged ({divergence}), and its values are not finite; train it again with smaller steps"
    )]
    ModelDiverged {
        /// How.
        divergence: Divergence,
    },
    /// An error about one file.
    #[error("{file}: {source}")]
    InFile {
        /// The file.
        file: String,
        /// What.
        source: Box<Error>,
    },
}

impl Error {
    /// The same error with the name of its file.
    #[must_use]
    pub fn in_file(self, file: impl Into<String>) -> Self {
        Self::InFile {
            file: file.into(),
            source: Box::new(self),
        }
    }

    /// Adds the file of a batch to an error about the whole batch.
    pub(crate) fn of_batch(self, files: &[String], batch: &Batch) -> Self {
        match files.get(batch.file()) {
            Some(file) => self.in_file(file),
            None => self,
        }
    }

    /// Whether the data, an option or a path is invalid; otherwise a valid run failed.
    #[must_use]
    pub fn is_invalid_input(&self) -> bool {
        match self {
            Self::Write { .. } | Self::Thread { .. } | Self::Cancelled | Self::Executor { .. } => {
                false
            }
            Self::File(error) => error.is_invalid_input(),
            Self::InFile { source, .. } => source.is_invalid_input(),
            _ => true,
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

/// What to do if a file is not what it was when it was written.
fn if_damaged(source: &std::io::Error, row: u64) -> &'static str {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match source.kind() {
        InvalidData | InvalidInput | UnexpectedEof if row == 0 => {
            "; the file is incomplete or damaged, or its name is wrong: copy it again, or rename it"
        }
        InvalidData | InvalidInput | UnexpectedEof => {
            "; the file is incomplete or damaged: copy it again"
        }
        _ => "",
    }
}
