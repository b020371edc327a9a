//! Tells a mistake of the user from a failure of the run.

use std::fmt;
use std::process::ExitCode;

/// Why a command did not do its work.
#[derive(Debug)]
pub enum Failure {
    /// The command line, a file or the data are wrong: exit code 2.
    Usage(String),
    /// Everything was right, but the run failed: exit code 1.
    Run(String),
}

impl Failure {
    /// The exit code that scripts see.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Run(_) => ExitCode::from(1),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Run(message) => out.write_str(message),
        }
    }
}
