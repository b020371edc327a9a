//! Parses short decimal numbers such as `-12.345`, the most common cells of logs.
//!
//! With at most 15 digits the number without its point is an integer below 2^53 and the power of ten that it is divided by is exact, so that
//! one division rounds correctly (Clinger, "How to read floating point numbers accurately", 1990).

/// The maximum number of digits.
const DIGITS: usize = 15;

/// Exact powers of ten.
static POWERS: [f64; DIGITS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// The number before the first byte that is part of none, and its length; `None` if it is of another kind.
#[inline(always)]
pub(crate) fn parse(bytes: &[u8]) -> Option<(f64, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    let mut number = 0;
    let point = digits(bytes, start, &mut number)?;
    let (end, decimals) = match bytes.get(point) {
        Some(b'.') => {
            let end = digits(bytes, point + 1, &mut number)?;
            (end, end - point - 1)
        }
        _ => (point, 0),
    };
    let count = point - start + decimals;
    let goes_on = matches!(bytes.get(end), Some(b'e' | b'E' | b'.'));
    if count > DIGITS || goes_on {
        return None;
    }
    let value = number as f64 / POWERS[decimals];
    Some((if negative { -value } else { value }, end))
}

/// The end of the digits from a place on, if there are any; appends them to a number.
#[inline(always)]
fn digits(bytes: &[u8], from: usize, number: &mut u64) -> Option<usize> {
    let mut at = from;
    while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        // Overflows only where there are too many digits.
        *number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (at > from).then_some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn other_kinds_are_left_to_the_general_parser() {
        for text in [
            "",
            "-",
            ".5",
            "5.",
            "1e3",
            "1.5E3",
            "+1",
            "nan",
            "inf",
            " 1",
            "1.2.3",
            "1234567890123456",
            "0.1234567890123456",
            "0x10",
        ] {
            let found = parse(text.as_bytes());
            // A number that ends before the text does is found by what follows.
            assert!(found.is_none_or(|(_, end)| end < text.len()), "{text}");
        }
        assert_eq!(parse(b"12,7"), Some((12.0, 2)));
        assert_eq!(parse(b"-0.5"), Some((-0.5, 4)));
        assert!(parse(b"-0").is_some_and(|(x, _)| x.to_bits() == (-0.0_f64).to_bits()));
    }

    proptest! {
        #[test]
        fn numbers_have_the_bits_of_the_general_parser(whole in 0_u64..100_000_000, decimals in "[0-9]{1,7}", negative: bool) {
            let sign = if negative { "-" } else { "" };
            for text in [format!("{sign}{whole}.{decimals}"), format!("{sign}{whole}")] {
                let (value, end) = parse(text.as_bytes()).unwrap();
                let expected: f64 = text.parse().unwrap();
                prop_assert_eq!((value.to_bits(), end), (expected.to_bits(), text.len()));
            }
        }
    }
}
