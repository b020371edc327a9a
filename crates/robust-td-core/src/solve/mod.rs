//! Estimates the sampling error of an answer: correlation times, quantiles, and least squares with its sandwich covariance.

mod correlation;
pub mod equations;
pub mod fixed_point;
pub mod influence;
pub(crate) mod quantile;
pub mod sandwich;
pub mod spread;

pub(crate) use correlation::{BlockLength, Correlation};
