//! Computes expectations without sampling, and which step sizes keep them bounded.

pub mod moments;
pub mod stability;
