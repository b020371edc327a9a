//! Tests the learners on random streams, against straight-line references and proved bounds.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod average;
mod doubling;
mod episodes;
mod health;
mod problem;
mod restore;
mod stream;
