//! Formats counts in singular and plural.

/// A count with the matching words: `1 row is`, `2 rows are`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
