//! Formats numbers for pages (3.95, 1.03 × 10⁸ with a real superscript), terminals (1.031e8) and files.

use crate::text::Text;

/// A number split into mantissa and power of ten.
struct Parts {
    mantissa: String,
    exponent: Option<i32>,
}

/// Values from here up to [`LARGE`] are written without a power of ten.
const SMALL: f64 = 1e-3;
/// See [`SMALL`].
const LARGE: f64 = 1e5;

fn parts(value: f64, digits: usize) -> Parts {
    let word = |word: &str| Parts {
        mantissa: word.to_owned(),
        exponent: None,
    };
    if value.is_nan() {
        return word("n/a");
    }
    if value.is_infinite() {
        return word(if value > 0.0 { "∞" } else { "−∞" });
    }
    if value == 0.0 {
        return word("0");
    }
    let decimals = digits.max(1) - 1;
    // Rounding comes first: 99,999.9 to four digits is 10^5.
    let scientific = format!("{value:.decimals$e}");
    let rounded: f64 = scientific.parse().unwrap_or(value);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (SMALL..LARGE).contains(&rounded.abs()) {
        let decimals = (decimals as i32 - exponent).max(0) as usize;
        return Parts {
            mantissa: tidy(&format!("{value:.decimals$}")),
            exponent: None,
        };
    }
    Parts {
        mantissa: tidy(mantissa),
        exponent: Some(exponent),
    }
}

/// Drops zeros at the end of a fraction.
fn trimmed(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// The same with a real minus sign.
fn tidy(text: &str) -> String {
    trimmed(text).replace('-', "−")
}

/// A number with about four significant digits in plain text, for terminals: `3.951`, `1.031e8`.
pub fn short(x: f64) -> String {
    if !x.is_finite() || x == 0.0 || (x.fract() == 0.0 && x.abs() < 1e6) {
        return x.to_string();
    }
    if !(1e-3..1e6).contains(&x.abs()) {
        let text = format!("{x:.3e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    let decimals = (3 - x.abs().log10().floor() as i32).max(0) as usize;
    trimmed(&format!("{x:.decimals$}")).into()
}

/// A whole number in plain text, long round ones as a power of ten, always exact: `12345678`, `1e7`.
pub fn whole(x: u64) -> String {
    if x < 1_000_000 || !x.is_multiple_of(1000) {
        return x.to_string();
    }
    format!("{x:e}")
}

/// The shortest text that reads back as the same number, for CSV files; `inf` and `nan` for values that are not finite.
pub fn csv(x: f64) -> String {
    if x.is_nan() {
        "nan".into()
    } else {
        format!("{x:?}")
    }
}

/// `value` with up to `digits` significant digits as HTML: `3.95`, `1.03 × 10<sup>8</sup>`.
pub fn html(value: f64, digits: usize) -> String {
    let parts = parts(value, digits);
    let raised = |exponent: i32| format!("10<sup>{}</sup>", tidy(&exponent.to_string()));
    match parts.exponent {
        Some(exponent) if parts.mantissa == "1" => raised(exponent),
        Some(exponent) => format!("{} × {}", parts.mantissa, raised(exponent)),
        None => parts.mantissa,
    }
}

/// A whole number with its digits in groups of three: `10,000,000`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `value` with up to `digits` significant digits as a line of text, for figures and pages.
pub fn text(value: f64, digits: usize) -> Text {
    let parts = parts(value, digits);
    match parts.exponent {
        Some(exponent) if parts.mantissa == "1" => power_of_ten(exponent),
        Some(exponent) => {
            Text::plain(format!("{} × ", parts.mantissa)).then(power_of_ten(exponent))
        }
        None => Text::plain(parts.mantissa),
    }
}

/// 10^n with a real superscript.
pub(crate) fn power_of_ten(exponent: i32) -> Text {
    Text::plain("10").superscript(tidy(&exponent.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_before_they_are_written() {
        for (value, expected) in [
            (3.950_556_9, "3.951"),
            (0.033_8, "0.0338"),
            (2987.3, "2987"),
            (51_399.672, "51400"),
            (-0.5, "−0.5"),
            (100.0, "100"),
            (0.0, "0"),
            (99_999.9, "10<sup>5</sup>"),
            (0.000_999_99, "0.001"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "n/a"),
        ] {
            assert_eq!(html(value, 4), expected, "{value:e}");
        }
    }

    #[test]
    fn short_numbers_keep_four_digits() {
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
    fn html_has_a_real_superscript() {
        assert_eq!(html(1.030_815_4e8, 3), "1.03 × 10<sup>8</sup>");
        assert_eq!(html(1e-6, 3), "10<sup>−6</sup>");
        assert_eq!(html(-2.5e-7, 3), "−2.5 × 10<sup>−7</sup>");
        assert_eq!(html(3.950_556_9, 3), "3.95");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1234), "1,234");
        assert_eq!(count(279_360_000_000), "279,360,000,000");
    }

    #[test]
    fn no_value_ever_reads_nan() {
        for value in [
            f64::NAN,
            f64::NEG_INFINITY,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            -f64::MAX,
        ] {
            for digits in [0, 1, 2, 17] {
                assert!(!html(value, digits).contains("NaN") && !html(value, digits).is_empty());
            }
        }
    }
}
