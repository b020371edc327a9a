//! Tests the default algorithm on files: the TD fixed point of the log.

mod answer;
mod bits;
mod clusters;
pub mod log;
mod new_states;
mod rank;
mod sample;
mod saved;
mod wide;
