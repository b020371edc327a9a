//! Sets methods up by name and runs them on the same samples, for `compare` and `experiment`.

pub mod choice;
pub mod field;
pub mod figure;
pub mod run;
