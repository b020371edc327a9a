//! Separates usage errors (exit code 2) from failed runs (exit code 1).

use std::fmt;

use robust_td::contest::ContestError;
use robust_td::sweep::SweepError;
use robust_td_data::files::WriteError;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// Invalid arguments or input: exit code 2.
    Usage(String),
    /// The input was valid, but the run failed: exit code 1.
    Run(String),
}

impl Failure {
    /// The exit code that scripts see.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Run(_) => 1,
        }
    }
}

impl From<robust_td::Error> for Failure {
    fn from(error: robust_td::Error) -> Self {
        match error.is_invalid_input() {
            true => Self::Usage(with_flag(&error)),
            false => Self::Run(error.to_string()),
        }
    }
}

/// The message of an error; one that starts with the name of a setting then starts with its flag.
///
/// Settings of a spec file are refused with the name of the file first.
fn with_flag(error: &robust_td::Error) -> String {
    use robust_td::Error::{Contest, Engine, Sweep};
    match error {
        Contest(ContestError::Runs { .. })
        | Sweep(
            SweepError::Simulate { .. }
            | SweepError::Runs { .. }
            | SweepError::Seed { .. }
            | SweepError::Indexing { .. }
            | SweepError::Constant { .. }
            | SweepError::ConstantTwice { .. }
            | SweepError::Scale { .. }
            | SweepError::ScaleTwice { .. },
        ) => format!("--{error}"),
        Engine(robust_td_engine::Error::Memory { .. }) => format!("{error}, or raise --max-memory"),
        Contest(ContestError::PointsPerDecade { .. }) => format!("--{error}").replace('_', "-"),
        _ => error.to_string(),
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        robust_td::Error::from(error).into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Run(message) => out.write_str(message),
        }
    }
}
