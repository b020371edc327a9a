//! Runs methods chosen by name on the same samples, for comparisons and experiments.

pub mod choice;
mod error;
pub mod field;
pub(crate) mod figure;
pub(crate) mod kept;
pub mod run;

pub use choice::{Choice, Override};
pub use error::ContestError;
pub use field::{Contestant, Skipped};
