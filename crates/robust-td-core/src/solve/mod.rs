//! Solves for the TD fixed point of samples, and estimates the sampling error of the answer.

mod correlation;
mod cosines;
pub mod equations;
pub mod fixed_point;
mod group_sums;
pub mod influence;
pub mod krylov;
pub mod online;
pub(crate) mod quantile;
pub mod sandwich;
pub mod sparse;
pub mod spread;
#[cfg(test)]
mod spread_coverage;
pub mod support;
pub mod trajectory;

pub(crate) use correlation::{BlockLength, Correlation};
