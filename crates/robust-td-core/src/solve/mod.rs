//! Estimates the sampling error of an answer: correlation times, quantiles, least squares with its sandwich covariance; and solves the
//! equations of large logs by products.

mod correlation;
pub mod krylov;
pub(crate) mod quantile;
pub mod sandwich;

pub(crate) use correlation::{BlockLength, Correlation};
