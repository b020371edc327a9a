//! Computes expectations without sampling and the step sizes that keep them bounded.

pub mod moments;
pub mod paths;
pub mod stability;
