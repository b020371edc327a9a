//! Formats counts in singular and plural.

pub(crate) use robust_td_core::number::counted;
