//! Names what is wrong with a problem file, with its place and value.

use std::path::PathBuf;

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
        /// What the parser says.
        message: String,
    },
    /// The file, or a matrix file that it names, does not describe a problem.
    #[error("{}: {fault}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// The key, the row, the column and the value, with what is wrong.
        fault: String,
    },
}
