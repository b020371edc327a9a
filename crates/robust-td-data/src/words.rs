//! Formats counts in singular and plural, and the names of columns.

pub(crate) use robust_td_core::features::column::{is_printable, printable, quoted};
pub(crate) use robust_td_core::number::counted;
