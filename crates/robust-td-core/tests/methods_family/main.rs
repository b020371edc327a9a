//! Tests the TD(0)-type methods against straight-line references, their reductions and their bounds.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../common/mod.rs"]
mod common;
mod defaults;
mod guarantees;
mod ratios;
mod reductions;
mod reference;
mod refusals;
mod restore;
#[allow(dead_code, reason = "shared with the tests of the learners")]
#[path = "../learner/stream.rs"]
mod stream;
mod walk;
