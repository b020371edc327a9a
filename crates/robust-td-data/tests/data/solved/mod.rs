//! Tests the default algorithm on files: the TD fixed point of the log.

mod answer;
mod bits;
mod clusters;
pub mod log;
mod rank;
mod sample;
mod saved;
mod wide;
