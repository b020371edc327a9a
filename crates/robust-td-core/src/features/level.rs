//! Gives the cells of a category numbers that need no table: equal cells have equal codes in every file and format.
//!
//! A number is its own code, so integers that name categories keep their order. A text has a 52-bit hash below -2^52, where no
//! number of a category lies. Models store these codes, so they must never change.

/// The code of a missing cell.
pub const MISSING: f64 = -9_007_199_254_740_992.0;
/// The maximum length of a text in bytes.
pub const LONGEST: usize = 1024;
/// From here on not every integer is a f64.
const INTEGERS: f64 = 9_007_199_254_740_992.0;
/// 2^52: the codes of texts lie below its negative.
const TEXTS: u64 = 1 << 52;
/// The number of digits that always fit a f64.
const DIGITS: usize = 15;

/// One cell of a category.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level<'a> {
    /// No value.
    Missing,
    /// A number that is its own code; true and false are 1 and 0.
    Number(f64),
    /// Any other text.
    Text(&'a [u8]),
}

impl<'a> Level<'a> {
    /// The level that a text means, without the blanks around it.
    ///
    /// Empty text and `nan` are missing. Numbers are plain decimals: `3` and `3.0` are the same level, but `03` and `3e0` are
    /// texts, as is an integer that is too large for a f64.
    #[must_use]
    pub fn of_text(text: &'a [u8]) -> Self {
        let text = text.trim_ascii();
        match text {
            b"" => Self::Missing,
            b"true" | b"True" | b"TRUE" => Self::Number(1.0),
            b"false" | b"False" | b"FALSE" => Self::Number(0.0),
            text if text.eq_ignore_ascii_case(b"nan") => Self::Missing,
            text => decimal(text).map_or(Self::Text(text), Self::Number),
        }
    }

    /// The level of a number, if it is its own code; a larger one is a text.
    #[must_use]
    pub fn of_number(value: f64) -> Option<Self> {
        if value.is_nan() {
            return Some(Self::Missing);
        }
        in_range(value).then_some(Self::Number(value + 0.0))
    }

    /// The code.
    #[must_use]
    pub fn code(self) -> f64 {
        match self {
            Self::Missing => MISSING,
            Self::Number(value) => value,
            Self::Text(text) => -((TEXTS + (hash(text) & (TEXTS - 1))) as f64),
        }
    }
}

/// Whether a number is its own code.
fn in_range(value: f64) -> bool {
    value > -(TEXTS as f64) && value < INTEGERS
}

/// Whether a code is that of a text.
#[must_use]
pub fn is_text(code: f64) -> bool {
    code <= -(TEXTS as f64) && code > MISSING
}

/// A plain decimal number: no sign but a minus, no exponent, no leading zeros.
fn decimal(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let dot = digits.iter().position(|&byte| byte == b'.');
    let (whole, fraction) = match dot {
        Some(dot) => (&digits[..dot], Some(&digits[dot + 1..])),
        None => (digits, None),
    };
    let plain = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if !plain(whole) || (whole.len() > 1 && whole[0] == b'0') || !fraction.is_none_or(plain) {
        return None;
    }
    if fraction.is_none() && whole.len() <= DIGITS {
        let value = whole
            .iter()
            .fold(0_u64, |sum, digit| 10 * sum + u64::from(digit - b'0'));
        let value = value as f64;
        return Some(if digits.len() < text.len() {
            0.0 - value
        } else {
            value
        });
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    in_range(value).then_some(value + 0.0)
}

/// FNV-1a with a final mix.
fn hash(text: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in text {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_their_own_codes() {
        for (text, code) in [
            ("3", 3.0),
            (" 3.0 ", 3.0),
            ("-0", 0.0),
            ("-7", -7.0),
            ("0.25", 0.25),
            ("True", 1.0),
            ("false", 0.0),
            ("1234567890123456", 1_234_567_890_123_456.0),
        ] {
            assert_eq!(Level::of_text(text.as_bytes()).code(), code, "{text}");
            assert!(Level::of_text(text.as_bytes()).code().is_sign_positive() || code < 0.0);
        }
    }

    #[test]
    fn what_is_no_plain_number_is_text() {
        let texts = [
            "03",
            "3e0",
            "+3",
            "1.",
            ".5",
            "Paris",
            "9007199254740993",
            "1,5",
            "-",
        ];
        let mut codes: Vec<f64> = texts
            .iter()
            .map(|text| {
                let level = Level::of_text(text.as_bytes());
                assert_eq!(level, Level::Text(text.as_bytes()));
                assert!(is_text(level.code()) && level.code().fract() == 0.0);
                level.code()
            })
            .collect();
        codes.sort_by(f64::total_cmp);
        codes.dedup();
        assert_eq!(codes.len(), texts.len());
    }

    #[test]
    fn nothing_is_missing() {
        for text in ["", "  ", "NaN", "nan"] {
            assert_eq!(Level::of_text(text.as_bytes()).code(), MISSING);
        }
        assert_eq!(Level::of_number(f64::NAN), Some(Level::Missing));
        assert_eq!(Level::of_number(-0.0), Some(Level::Number(0.0)));
        assert_eq!(Level::of_number(1e300), None);
        assert!(!is_text(MISSING) && !is_text(3.0));
    }

    #[test]
    fn the_codes_of_saved_models_stay() {
        let code = Level::of_text("Zürich".as_bytes()).code();
        assert_eq!(code, Level::Text("Zürich".as_bytes()).code());
        assert_eq!(Level::Text(b"a").code(), CODE_OF_A);
    }

    const CODE_OF_A: f64 = -6_703_934_705_528_689.0;
}
