//! Converts panics of the Parquet library into errors.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would be caught here and reported as an error.
///
/// A panic hook that checks this prints nothing for a file that is merely damaged.
#[must_use]
pub fn panics_are_caught() -> bool {
    ACTIVE.get()
}

/// Runs a call into the Parquet library, which panics on some damaged files instead of failing.
pub(crate) fn guarded<T, E: std::fmt::Display>(
    call: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, String> {
    ACTIVE.set(true);
    // State that the call leaves inconsistent is not used again: its owner is dropped with the error.
    let done = catch_unwind(AssertUnwindSafe(call));
    ACTIVE.set(false);
    match done {
        Ok(result) => result.map_err(|error| {
            let text = error.to_string();
            // What is wrong comes after the names of the layers that it passed.
            let text = text.trim_start_matches("Parquet argument error: ");
            text.trim_start_matches("Parquet error: ").to_owned()
        }),
        Err(_) => Err("the file is damaged".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_as_an_error_and_known_to_be_caught() {
        assert!(!panics_are_caught());
        let done: std::result::Result<(), String> = guarded(|| -> std::result::Result<(), &str> {
            assert!(panics_are_caught());
            Err("no footer")
        });
        assert_eq!(done, Err("no footer".to_owned()));
        // Unwinding without the hook, as `panic!` would print to the test's output.
        let done: std::result::Result<(), String> =
            guarded(|| -> std::result::Result<(), &str> { std::panic::resume_unwind(Box::new(0)) });
        assert_eq!(done, Err("the file is damaged".to_owned()));
        assert!(!panics_are_caught());
    }
}
