//! Tests reading, pairing and inspecting logs.
#![allow(clippy::unwrap_used)]

mod ahead;
mod averaged;
mod bad_rows;
mod blocks;
mod columns;
mod copies;
mod dialects;
mod doubts;
mod evaluate;
mod formats;
mod inspect;
mod interleaved;
mod layout;
mod memory;
mod model;
mod off_policy;
mod pairing;
mod parts;
mod predict;
mod returns;
mod solved;
mod source;
mod stream;
mod table;
mod types;
mod write;
