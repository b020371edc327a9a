//! Runs all integration tests of the crate as one program.

mod choose;
mod contests;
mod discounts;
mod estimator;
mod gymnasium;
mod off_policy;
mod sweep;
mod variance;
