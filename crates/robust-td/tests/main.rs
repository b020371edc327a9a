//! Runs all integration tests of the crate as one program.

mod choose;
mod contests;
mod estimator;
mod gymnasium;
mod sweep;
