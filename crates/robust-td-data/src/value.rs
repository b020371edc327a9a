//! Parses single values: numbers, flags, episodes and lists of numbers.

use crate::fault::{FaultKind, shown};

/// A finite number, as printed by Rust, Python or JavaScript.
pub(crate) fn number(text: &[u8]) -> Result<f64, FaultKind> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Err(FaultKind::Missing);
    }
    match fast_float2::parse::<f64, _>(text) {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(FaultKind::NotFinite { value: shown(text) }),
        Err(_) => Err(FaultKind::NotANumber { value: shown(text) }),
    }
}

/// A flag: true, false, 1 or 0, also True, TRUE and 1.0.
pub(crate) fn flag(text: &[u8]) -> Result<bool, FaultKind> {
    match text.trim_ascii() {
        b"true" | b"True" | b"TRUE" | b"1" | b"1.0" => Ok(true),
        b"false" | b"False" | b"FALSE" | b"0" | b"0.0" => Ok(false),
        b"" => Err(FaultKind::Missing),
        other => Err(FaultKind::NotAFlag {
            value: shown(other),
        }),
    }
}

/// A flag stored as a number.
pub(crate) fn numeric_flag(value: f64) -> Result<bool, FaultKind> {
    if value == 1.0 {
        Ok(true)
    } else if value == 0.0 {
        Ok(false)
    } else {
        Err(FaultKind::NotAFlag {
            value: value.to_string(),
        })
    }
}

/// An episode by its name: integers are compared as numbers (`3` equals `3.0`), others as text.
pub(crate) fn episode(text: &[u8]) -> Result<u64, FaultKind> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Err(FaultKind::Missing);
    }
    if text.eq_ignore_ascii_case(b"nan") {
        return Err(FaultKind::NotAnEpisode { value: shown(text) });
    }
    let (whole, fraction) = match memchr::memchr(b'.', text) {
        Some(dot) => (&text[..dot], &text[dot + 1..]),
        None => (text, &text[..0]),
    };
    let whole = std::str::from_utf8(whole).ok();
    match whole.and_then(|digits| digits.parse::<i64>().ok()) {
        Some(number) if fraction.iter().all(|&digit| digit == b'0') => Ok(whole_episode(number)),
        _ => Ok(named_episode(text)),
    }
}

/// An episode stored as an integer.
pub(crate) fn whole_episode(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_else(|_| named_episode(number.to_string().as_bytes()))
}

/// An episode stored as a floating-point number.
pub(crate) fn numeric_episode(value: f64) -> Result<u64, FaultKind> {
    if !value.is_finite() {
        return Err(FaultKind::NotAnEpisode {
            value: value.to_string(),
        });
    }
    // The text of an integer below 2^63 is that number, so this agrees with text formats.
    episode(value.to_string().as_bytes())
}

/// FNV-1a with a final mix and the highest bit set: equal names give equal numbers, distinct from those of
/// integer episodes. Saved with a learner's state, so it must never change.
fn named_episode(name: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in name {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (hash ^ (hash >> 32)) | (1 << 63)
}

/// Numbers in brackets, separated by commas or blanks: `[1, 2.5]`, or `[1.  2.5]` as NumPy prints it.
pub(crate) fn list(text: &[u8], out: &mut Vec<f64>) -> Result<(), FaultKind> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Err(FaultKind::Missing);
    }
    let not_a_list = || FaultKind::NotAList { value: shown(text) };
    let inner = text
        .strip_prefix(b"[")
        .and_then(|rest| rest.strip_suffix(b"]"))
        .ok_or_else(not_a_list)?
        .trim_ascii();
    if inner.is_empty() {
        return Ok(());
    }
    for part in inner.split(|&byte| byte == b',') {
        let part = part.trim_ascii();
        if part.is_empty() {
            return Err(not_a_list());
        }
        for entry in part.split(u8::is_ascii_whitespace) {
            if !entry.is_empty() {
                out.push(number(entry)?);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_is_the_same_in_every_format() {
        assert_eq!(episode(b"3"), Ok(3));
        assert_eq!(episode(b" 3.0 "), Ok(3));
        assert_eq!(numeric_episode(3.0), Ok(3));
        assert_eq!(episode(b"-3.0"), Ok(whole_episode(-3)));
        assert_eq!(episode(b"1.5"), numeric_episode(1.5));
        // Hexadecimal names may look like numbers that are too large.
        assert!(episode(b"12e99999").is_ok_and(|id| id >> 63 == 1));
        assert_ne!(episode(b"a"), episode(b"b"));
        assert!(numeric_episode(f64::NAN).is_err() && episode(b"NaN").is_err());
    }

    #[test]
    fn lists_are_read_as_json_and_as_numpy_print_them() {
        for text in [
            "[1, 2.5,-3]",
            "[1. 2.5 -3.]",
            " [ 1 , 2.5 , -3 ] ",
            "[1.\n 2.5 -3]",
        ] {
            let mut out = Vec::new();
            assert_eq!(list(text.as_bytes(), &mut out), Ok(()), "{text}");
            assert_eq!(out, [1.0, 2.5, -3.0], "{text}");
        }
        for text in [
            "1, 2",
            "[1, 2",
            "[1,,2]",
            "[1, x]",
            "[[1], [2]]",
            "[1, nan]",
            "",
        ] {
            assert!(list(text.as_bytes(), &mut Vec::new()).is_err(), "{text}");
        }
    }
}
