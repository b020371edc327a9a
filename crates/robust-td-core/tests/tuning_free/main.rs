//! Tests the learners without step sizes to tune, optimal stopping and Q-learning against references and exact solutions.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../learner/stream.rs"]
mod stream;

mod control;
mod learning;
mod prepare;
mod references;
mod restore;
mod stopping;
mod swift_td;
