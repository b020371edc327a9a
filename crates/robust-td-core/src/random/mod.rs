//! Provides the random number generators.
//!
//! Randomness is a function of (seed, run, draw), never of thread or time. [`stream`] provides the project's
//! own streams, [`dsfmt`] the generator of the published experiment.

pub mod dsfmt;
pub mod stream;

pub use dsfmt::Dsfmt;
pub use stream::Stream;
