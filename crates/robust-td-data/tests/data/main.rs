//! Tests reading, pairing and inspecting logs.

mod bad_rows;
mod formats;
mod inspect;
mod layout;
mod pairing;
mod source;
mod table;
mod write;
