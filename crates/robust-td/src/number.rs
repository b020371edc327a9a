//! Writes numbers: for people with four digits, for CSV files to the bit.

/// A number with about four significant digits.
pub fn short(x: f64) -> String {
    if !x.is_finite() {
        return x.to_string();
    }
    if x == 0.0 || (x.fract() == 0.0 && x.abs() < 1e6) {
        return format!("{x}");
    }
    if !(1e-3..1e6).contains(&x.abs()) {
        return trim_exponent(&format!("{x:.3e}"));
    }
    let decimals = (3 - x.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// `1.900e7` as `1.9e7`.
fn trim_exponent(text: &str) -> String {
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits}e{exponent}")
        }
        None => text.to_string(),
    }
}

/// A whole number, long round ones as a power of ten, always exact.
pub fn whole(x: u64) -> String {
    if x < 1_000_000 || !x.is_multiple_of(1000) {
        return x.to_string();
    }
    format!("{x:e}")
}

/// A count with its noun: `1 state`, `2 states`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The shortest text that reads back as the same number; `inf` and `nan` for what is not finite.
pub fn csv(x: f64) -> String {
    if x.is_nan() {
        "nan".into()
    } else {
        format!("{x:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        for x in [0.1, 1e-8, 1.0 / 3.0, 5e-324, f64::MAX, f64::INFINITY, -0.0] {
            assert_eq!(csv(x).parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
        assert_eq!(csv(f64::INFINITY), "inf");
        assert_eq!(csv(f64::NAN), "nan");
        assert_eq!(csv(1e-8), "1e-8");
    }

    #[test]
    fn numbers_keep_four_digits() {
        for (x, text) in [
            (0.0, "0"),
            (147.0, "147"),
            (16.118_095, "16.12"),
            (0.431_064_935, "0.4311"),
            (0.001_234_56, "0.001235"),
            (0.000_123_4, "1.234e-4"),
            (40.455_844, "40.46"),
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
}
