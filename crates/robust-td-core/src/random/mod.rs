//! Provides the random number generators.
//!
//! Randomness is a function of (seed, run, draw), never of thread or time. [`stream`] provides the project's
//! own streams, [`dsfmt`] the generator of the published experiment, [`splitmix`] that of the authors' later engine.

pub mod dsfmt;
pub mod splitmix;
pub mod stream;

pub use dsfmt::Dsfmt;
pub use splitmix::SplitMix64;
pub use stream::Stream;
