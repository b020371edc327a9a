//! Runs numerical work with the vector instructions of the CPU; all unsafe code of the project is here.

mod upper;

pub use upper::clean_upper_halves;
