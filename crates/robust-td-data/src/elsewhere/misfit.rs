//! Names what does not fit a job: its descriptions, tasks and states may come from anywhere.

use crate::error::{Error, Result};

/// What does not fit a job.
pub(crate) fn misfit(message: impl Into<String>) -> Error {
    Error::Parts {
        message: message.into(),
    }
}

/// A task of another pass.
pub(crate) fn another_pass() -> Error {
    misfit("a task is one of another pass")
}

/// States that lack some of the log.
pub(crate) fn missing_part() -> Error {
    misfit("a part is missing")
}

/// States that are not consecutive.
pub(crate) fn wrong_order() -> Error {
    misfit("parts are not merged in the order of the log")
}

/// A state, if its sizes are those of its pass.
///
/// # Errors
/// When they are not.
pub(crate) fn if_it_fits<T>(state: T, fits: bool) -> Result<T> {
    let wrong = || misfit("the sizes of a state are not those of its pass");
    fits.then_some(state).ok_or_else(wrong)
}

/// Refuses a pass whose numbers do not fit its map of this many features.
///
/// # Errors
/// When they do not.
pub(crate) fn check_pass(fits: bool, features: usize) -> Result<()> {
    let wrong = || {
        misfit(format!(
            "a pass does not fit its map of {features} features"
        ))
    };
    fits.then_some(()).ok_or_else(wrong)
}
