//! Formats counts in singular and plural, sizes, and the names of columns.

pub(crate) use robust_td_core::features::column::{is_printable, printable, quoted};
pub(crate) use robust_td_core::number::counted;

/// A number of bytes in the unit in which it is not 0.
pub(crate) fn bytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        1e9.. => format!("{:.1} GB", bytes / 1e9),
        1e6.. => format!("{:.1} MB", bytes / 1e6),
        1e3.. => format!("{:.1} kB", bytes / 1e3),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_have_a_unit_in_which_they_are_not_0() {
        let sizes = [8, 50_000, 49_999_999, 1_500_000_000, u64::MAX].map(super::bytes);
        let expected = [
            "8 bytes",
            "50.0 kB",
            "50.0 MB",
            "1.5 GB",
            "18446744073.7 GB",
        ];
        assert_eq!(sizes, expected);
    }
}
