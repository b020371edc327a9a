//! Writes numbers in plain text, for messages, terminals and files.

/// About four significant digits: `3.951`, `1.031e8`; whole numbers below 1e6 are exact.
pub fn short(x: f64) -> String {
    if x == 0.0 {
        // Also for -0.
        return "0".into();
    }
    if !x.is_finite() {
        return x.to_string();
    }
    // Rounded in decimal; the shortest text of the rounded number has no zeros at the end.
    let round = |text: String| text.parse().unwrap_or(x);
    if !(1e-3..1e6).contains(&x.abs()) {
        return format!("{:e}", round(format!("{x:.3e}")));
    }
    let decimals = (3 - x.abs().log10().floor() as i32).max(0) as usize;
    round(format!("{x:.decimals$}")).to_string()
}

/// A whole number, long round ones as a power of ten, always exact: `12345678`, `1e7`.
pub fn whole(x: u64) -> String {
    if x < 1_000_000 || !x.is_multiple_of(1000) {
        return x.to_string();
    }
    format!("{x:e}")
}

/// The shortest text that reads back as the same number, for messages: very large and very small ones with an exponent.
pub fn plain(x: f64) -> String {
    match x == 0.0 || !x.is_finite() || (1e-6..1e16).contains(&x.abs()) {
        true => x.to_string(),
        false => format!("{x:e}"),
    }
}

/// The shortest text that reads back as the same number; `inf` and `nan` for values that are not finite.
pub fn csv(x: f64) -> String {
    if x.is_nan() {
        "nan".into()
    } else {
        format!("{x:?}")
    }
}

/// A count with its noun: `1 state`, `2 states`.
pub fn count(n: usize, noun: &str) -> String {
    counted(n as u64, noun, &format!("{noun}s"))
}

/// A count with the matching words: `1 row is`, `2 rows are`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A number of entries: `1 entry`, `2 entries`.
pub fn entries(n: usize) -> String {
    counted(n as u64, "entry", "entries")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_are_exact_and_short() {
        for (x, text) in [
            (0.0, "0"),
            (0.9, "0.9"),
            (-1e15, "-1000000000000000"),
            (5e-324, "5e-324"),
            (-f64::MAX, "-1.7976931348623157e308"),
            (1e-7, "1e-7"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(plain(x), text);
        }
    }

    #[test]
    fn short_numbers_keep_four_digits() {
        for (x, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (147.0, "147"),
            (123_456.0, "123456"),
            (16.118_095, "16.12"),
            (0.431_064_935, "0.4311"),
            (0.001_234_56, "0.001235"),
            (0.000_123_4, "1.234e-4"),
            (1e-5, "1e-5"),
            (40.455_844, "40.46"),
            (9999.96, "10000"),
            (123_456.7, "123457"),
            (1.9077e7, "1.908e7"),
            (1e7, "1e7"),
            (-2.5, "-2.5"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(short(x), text);
        }
    }

    #[test]
    fn whole_numbers_stay_exact() {
        for (x, text) in [
            (1000, "1000"),
            (10_000_000, "1e7"),
            (12_345_000, "1.2345e7"),
            (12_345_678, "12345678"),
        ] {
            assert_eq!(whole(x), text);
        }
    }

    #[test]
    fn numbers_in_files_read_back() {
        for x in [0.1, 1e-8, 1.0 / 3.0, 5e-324, f64::MAX, f64::INFINITY, -0.0] {
            assert_eq!(csv(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
        assert_eq!(csv(f64::INFINITY), "inf");
        assert_eq!(csv(f64::NAN), "nan");
        assert_eq!(csv(1e-8), "1e-8");
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(count(1, "state"), "1 state");
        assert_eq!(count(0, "state"), "0 states");
    }
}
