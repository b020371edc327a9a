//! Tests the learners on random streams, against straight-line references and proved bounds.

mod average;
mod doubling;
mod episodes;
mod health;
mod problem;
mod restore;
mod stream;
