//! Separates usage errors (exit code 2) from failed runs (exit code 1).

use robust_td::contest::ContestError;
use robust_td::sweep::SweepError;
use robust_td_data::files::WriteError;

use crate::stop::{self, Signal};

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// Invalid arguments or input: exit code 2.
    Usage(String),
    /// The input was valid, but the run failed: exit code 1.
    Run(String),
    /// A signal stopped the run: exit code 128 plus its number.
    Stopped(Signal, String),
}

impl Failure {
    /// The exit code that scripts see.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Run(_) => 1,
            Self::Stopped(signal, _) => signal.exit_code(),
        }
    }

    /// The line for standard error.
    pub fn message(&self) -> String {
        match self {
            Self::Usage(message) | Self::Run(message) => format!("error: {message}"),
            Self::Stopped(signal, message) => format!("stopped by {}{message}", signal.name()),
        }
    }

    /// The failure of work that was cancelled, with what is left of it and how to continue.
    pub fn if_stopped(self, advice: &str) -> Self {
        match self {
            Self::Stopped(signal, done) => Self::Stopped(signal, format!("{done}; {advice}")),
            other => other,
        }
    }
}

/// The failure of work that a signal cancelled.
pub fn stopped(error: &robust_td::Error) -> Option<Failure> {
    use robust_td::Error::{Data, Engine};
    let signal = stop::signal()?;
    let done = match error {
        Engine(robust_td_engine::Error::Cancelled { done, total }) => {
            let percent = 100.0 * *done as f64 / (*total).max(1) as f64;
            format!(" at {percent:.1} % of the work")
        }
        Data(robust_td_data::Error::Cancelled) => String::new(),
        _ => return None,
    };
    Some(Failure::Stopped(signal, done))
}

impl From<robust_td::Error> for Failure {
    fn from(error: robust_td::Error) -> Self {
        if let Some(stopped) = stopped(&error) {
            return stopped;
        }
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
