//! Describes problems with a choice: which action to take, when to stop.

pub mod control;
mod projected;
pub mod stopping;
