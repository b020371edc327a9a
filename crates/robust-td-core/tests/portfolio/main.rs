//! Tests the portfolio of constants, its replicates, and least squares with its standard errors.
#![allow(clippy::unwrap_used)]

mod choice;
mod coverage;
mod lanes;
mod restore;
mod walk;
