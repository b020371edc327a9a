//! Defines the errors of problem files, each with its place and value.

use std::path::PathBuf;

use robust_td_core::number::entries;
use robust_td_core::suggestion;

use super::npy::NpyError;

/// Why a problem file does not describe a problem.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemFileError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{}, line {line}, column {column}: {message}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The message of the parser.
        message: String,
    },
    /// The file, or a matrix file that it names, does not describe a problem.
    #[error("{}: {fault}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        fault: Box<ProblemFault>,
    },
}

/// What is wrong in a problem file. A `name` is a key, with the matrix file that it names: `transition (P.csv)`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemFault {
    /// A key that does not exist.
    #[error("unknown key {table}{key}; {}", suggestion::or_known(.key, .known))]
    UnknownKey {
        /// The table that has it, with a dot; empty at the top.
        table: &'static str,
        /// The key.
        key: String,
        /// The keys that exist.
        known: &'static [&'static str],
    },
    /// A missing key.
    #[error("{key} is missing{hint}")]
    Missing {
        /// The key.
        key: &'static str,
        /// What it is needed for.
        hint: &'static str,
    },
    /// A key that does not go with another.
    #[error("{key} {why}")]
    Conflict {
        /// The key.
        key: &'static str,
        /// What is wrong.
        why: String,
    },
    /// A value, a row or an entry of a wrong kind.
    #[error("{name}{} is {value}, {expected}", place(.at))]
    Value {
        /// The key.
        name: String,
        /// The row and the column; `None` for the value itself.
        at: Option<String>,
        /// The value.
        value: String,
        /// What it is not.
        expected: String,
    },
    /// A matrix of a wrong shape.
    #[error("{name} {found} where {expected} is needed")]
    Shape {
        /// The key.
        name: String,
        /// What it is.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// A row or a list with too few or too many entries.
    #[error("{name}{} has {}, but needs {expected}{hint}", place(.at), entries(*.found))]
    Length {
        /// The key.
        name: String,
        /// The row; `None` for a list.
        at: Option<String>,
        /// The entries that it has.
        found: usize,
        /// The entries that it should have.
        expected: usize,
        /// Why that number.
        hint: &'static str,
    },
    /// A list without entries.
    #[error("{name} is an empty list")]
    EmptyList {
        /// The key.
        name: String,
    },
    /// A file or a line without contents.
    #[error("{name}: {what} is empty")]
    Empty {
        /// The key.
        name: String,
        /// The file or the line.
        what: String,
    },
    /// A matrix file that cannot be read.
    #[error("{name}: cannot be read: {source}")]
    Unreadable {
        /// The key.
        name: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Matrices that take more memory than their files account for.
    #[error(
        "{name}: the matrices take {taken} bytes so far; the limit for files of this size is {most}"
    )]
    TooLarge {
        /// The key.
        name: String,
        /// The bytes of all matrices so far.
        taken: u64,
        /// The limit.
        most: u64,
    },
    /// A matrix file that is not text.
    #[error("{name}: line {line} is not UTF-8 text")]
    NotText {
        /// The key.
        name: String,
        /// The line, from 1.
        line: usize,
    },
    /// A NumPy file without an array of finite numbers.
    #[error("{name}: {source}")]
    Npy {
        /// The key.
        name: String,
        /// What is wrong with it.
        source: NpyError,
    },
    /// A transition that is listed twice.
    #[error("{name}: line {line}: the transition from {from} to {to} is already in line {earlier}")]
    RepeatedEdge {
        /// The key.
        name: String,
        /// The line.
        line: usize,
        /// The state before.
        from: usize,
        /// The state after.
        to: usize,
        /// The line that also has it.
        earlier: usize,
    },
    /// Numbers that do not form a valid problem.
    #[error("{message}")]
    Model {
        /// What is wrong, with the file and the line that the numbers are in.
        message: String,
        /// What is wrong.
        source: robust_td_core::Error,
    },
}

fn place(at: &Option<String>) -> String {
    match at {
        Some(at) => format!(": {at}"),
        None => String::new(),
    }
}
