//! Runs sweeps of unprojected temporal-difference learning at the speed of the machine.

pub mod diagnostics;
pub mod error;
pub mod generators;
pub mod grid;
pub mod kernel;
pub mod layout;
pub mod plan;
pub mod sampler;
pub mod tables;
pub mod unit;
pub mod context;

pub use error::{Error, Result};
