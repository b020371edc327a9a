//! Defines the input of all learners: feature vectors phi(s) and transitions between them.

mod features;
mod transition;

pub use features::Features;
pub(crate) use features::dot;
pub use transition::{Outcome, Transition};
