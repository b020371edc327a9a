//! Writes numbers and counts in plain text.

pub use robust_td_report::number::{csv, short, whole};

/// A count with its noun: `1 state`, `2 states`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
