//! Tests the methods with traces, second iterates and adaptive steps: references, theory and published experiments.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../common/mod.rs"]
mod common;
mod lambda;
mod off_policy;
mod random_walks;
mod reference;
mod refusals;
mod restore;
mod samples;
mod statements;
