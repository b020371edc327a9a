//! Estimates the sampling error of an answer: correlation times, quantiles, and least squares with its sandwich covariance.

mod correlation;
pub mod equations;
pub mod fixed_point;
pub mod influence;
pub(crate) mod quantile;
pub mod sandwich;
pub mod spread;
#[cfg(test)]
mod spread_coverage;
pub mod trajectory;

pub(crate) use correlation::{BlockLength, Correlation};
pub use spread::Spread;
pub use trajectory::Trajectory;
