//! Runs all integration tests of the crate as one program.

mod contests;
mod estimator;
mod gymnasium;
mod off_policy;
mod sweep;
