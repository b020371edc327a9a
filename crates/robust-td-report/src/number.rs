//! Typesets numbers for figures and pages: 3.95, 1.03 × 10⁸ with a real superscript.

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

/// Drops zeros at the end of a fraction and sets a real minus sign.
fn tidy(text: &str) -> String {
    let trimmed = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    };
    trimmed.replace('-', "−")
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
pub fn grouped(value: u64) -> String {
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
    fn html_has_a_real_superscript() {
        assert_eq!(html(1.030_815_4e8, 3), "1.03 × 10<sup>8</sup>");
        assert_eq!(html(1e-6, 3), "10<sup>−6</sup>");
        assert_eq!(html(-2.5e-7, 3), "−2.5 × 10<sup>−7</sup>");
        assert_eq!(html(3.950_556_9, 3), "3.95");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234), "1,234");
        assert_eq!(grouped(279_360_000_000), "279,360,000,000");
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
