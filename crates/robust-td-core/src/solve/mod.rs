//! Estimates the sampling error of an answer: correlation times, quantiles, and least squares with its sandwich covariance.

mod correlation;
mod cosines;
pub(crate) mod quantile;
pub mod sandwich;
pub mod spread;
#[cfg(test)]
mod spread_coverage;
pub mod support;
pub mod trajectory;

pub(crate) use correlation::{BlockLength, Correlation};
