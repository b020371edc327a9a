//! Collects the errors of all crates and separates invalid input from a failed run.

use std::path::PathBuf;

use robust_td_core::{catalog, suggestion};
use robust_td_data::ProblemFileError;
use robust_td_data::files::WriteError;

/// Why a request could not be carried out. Divergence is a result, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model, a parameter or a method that is not valid.
    #[error(transparent)]
    Core(#[from] robust_td_core::Error),
    /// A log, or a saved model, that cannot be used.
    #[error(transparent)]
    Data(#[from] robust_td_data::Error),
    /// A plan, a kernel or a checkpoint that cannot be used.
    #[error(transparent)]
    Engine(#[from] robust_td_engine::Error),
    /// A figure or a page that cannot be made.
    #[error(transparent)]
    Report(#[from] robust_td_report::Error),
    /// A problem file that does not describe a problem.
    #[error(transparent)]
    ProblemFile(#[from] ProblemFileError),
    /// An output that cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Methods that cannot be compared as requested.
    #[error(transparent)]
    Contest(#[from] crate::contest::ContestError),
    /// An invalid experiment.
    #[error(transparent)]
    Experiment(#[from] crate::experiment::ExperimentError),
    /// Invalid settings of a sweep.
    #[error(transparent)]
    Sweep(#[from] crate::sweep::SweepError),
    /// A manifest that cannot be written as JSON.
    #[error("cannot write the manifest: {0}")]
    Manifest(serde_json::Error),
    /// An interval that was asked for before the error can be estimated.
    #[error("{seen} transitions are too few for a confidence interval")]
    TooFewTransitions {
        /// The number of transitions so far.
        seen: u64,
    },
    /// A problem that is neither in the catalog nor a file.
    #[error("there is no problem {name:?} in the catalog and no such file; {}", known_problem(.name))]
    UnknownProblem {
        /// The requested name.
        name: String,
    },
    /// A parameter for a problem that is a file.
    #[error("{key} is set, but only catalog problems have parameters; edit {file} instead")]
    SettingOfFile {
        /// The parameter.
        key: String,
        /// The problem file.
        file: String,
    },
    /// A spec file that cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    SpecUnreadable {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A spec file that does not describe a sweep or an experiment.
    #[error("{}: {message}", file.display())]
    Spec {
        /// The file.
        file: PathBuf,
        /// The line and what is wrong with it.
        message: String,
    },
}

/// The result of anything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Whether the request or its input is invalid; otherwise a valid run failed.
    ///
    /// The command exits with code 2 for invalid input and with code 1 for a failed run.
    #[must_use]
    pub fn is_invalid_input(&self) -> bool {
        use robust_td_engine::Error as Engine;
        match self {
            Self::Core(error) => !matches!(error, robust_td_core::Error::Decomposition { .. }),
            Self::Data(error) => error.is_invalid_input(),
            Self::Engine(error) => !matches!(
                error,
                Engine::CheckpointIo { .. }
                    | Engine::Threads { .. }
                    | Engine::Worker { .. }
                    | Engine::Cancelled { .. }
            ),
            Self::Report(_) | Self::Manifest(_) => false,
            Self::Write(error) => error.is_invalid_input(),
            Self::Contest(_)
            | Self::Experiment(_)
            | Self::Sweep(_)
            | Self::ProblemFile(_)
            | Self::TooFewTransitions { .. }
            | Self::UnknownProblem { .. }
            | Self::SettingOfFile { .. }
            | Self::SpecUnreadable { .. }
            | Self::Spec { .. } => true,
        }
    }
}

fn known_problem(name: &str) -> String {
    let known: Vec<&str> = catalog::entries().iter().map(|entry| entry.name).collect();
    suggestion::or_known(name, &known)
}
