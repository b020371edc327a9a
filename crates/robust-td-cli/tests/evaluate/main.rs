//! Tests `evaluate` and `predict` on logs simulated from catalog problems.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod auto;
mod bad_data;
mod bad_words;
mod choose;
mod columns;
mod dialects;
mod formats;
mod library;
mod log;
mod off_policy;
mod remedies;
mod report;
mod resume;
mod returns;
mod solved;
mod stream;
mod warnings;
