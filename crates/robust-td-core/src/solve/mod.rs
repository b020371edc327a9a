//! Estimates the sampling error of an answer: correlation times, quantiles, and least squares with its sandwich covariance.

mod correlation;
pub(crate) mod quantile;
pub mod sandwich;

pub(crate) use correlation::{BlockLength, Correlation};
