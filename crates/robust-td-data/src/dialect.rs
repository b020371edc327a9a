//! Reads numbers as CSV files of other languages write them: decimal commas, thousands separators.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::fault::{FaultKind, shown};
use crate::option_error::{OptionError, OptionName};
use crate::value;

/// The longest number in a dialect, in bytes.
const LONGEST: usize = 128;

/// How numbers are written in CSV; by default with a decimal point and without a thousands separator.
///
/// Separators of fields are recognised from the header. Lists such as `[1.5, 2]` are always in plain notation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// The decimal sign: a point, the default, or a comma.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// The sign between groups of three digits: a point, a comma, a space (also one that does not break), an apostrophe (also a
    /// curved one) or an underscore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
}

impl Dialect {
    /// Whether nothing is set.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The options that set it, with their values.
    #[must_use]
    pub fn options(&self) -> Vec<(OptionName, char)> {
        let thousands = self.thousands.map(|sign| (OptionName::Thousands, sign));
        let decimal = match (self.decimal, thousands.is_some()) {
            (None, true) => None,
            _ => Some((OptionName::Decimal, self.decimal_sign())),
        };
        decimal.into_iter().chain(thousands).collect()
    }

    /// The decimal sign.
    pub(crate) fn decimal_sign(&self) -> char {
        self.decimal.unwrap_or('.')
    }

    /// Whether numbers may contain this sign.
    pub(crate) fn uses(&self, sign: char) -> bool {
        self.decimal_sign() == sign || self.thousands == Some(sign)
    }

    /// Whether numbers are in plain notation.
    pub(crate) fn is_plain(&self) -> bool {
        self.decimal_sign() == '.' && self.thousands.is_none()
    }

    /// Checks both signs.
    pub(crate) fn check(&self) -> Result<()> {
        let range = |option, sign: char, expected: &str| OptionError::Range {
            option,
            value: format!("{sign:?}"),
            expected: expected.to_owned(),
        };
        let decimal = self.decimal_sign();
        if !matches!(decimal, '.' | ',') {
            let expected = "a point or a comma";
            return Err(range(OptionName::Decimal, decimal, expected).into());
        }
        match self.thousands {
            None => Ok(()),
            Some(sign) if spellings(sign).is_empty() => {
                let expected = "a point, a comma, a space, an apostrophe or an underscore";
                Err(range(OptionName::Thousands, sign, expected).into())
            }
            Some(sign) if sign == decimal => Err(OptionError::Needs {
                option: OptionName::Thousands,
                other: OptionName::Decimal,
                value: if sign == '.' { "," } else { "." },
                why: format!("{sign:?} cannot be the decimal sign too"),
            }
            .into()),
            Some(_) => Ok(()),
        }
    }

    /// The notations in which a text is a number; those with thousands separators only if it has one.
    pub(crate) fn guesses(text: &str) -> impl Iterator<Item = Self> {
        [None, Some(','), Some('.'), Some(' '), Some('\'')]
            .into_iter()
            .flat_map(|thousands| [None, Some(',')].map(|decimal| Self { decimal, thousands }))
            .filter(|dialect| dialect.check().is_ok())
            .filter(move |dialect| {
                let signs = dialect.thousands.map(spellings);
                signs.is_none_or(|signs| signs.iter().any(|sign| text.contains(sign)))
                    && dialect.with_plain(text.as_bytes(), |plain| {
                        plain.is_some_and(|plain| value::number(plain).is_ok())
                    })
            })
    }

    /// A finite number; true and false are 1 and 0.
    pub(crate) fn number(&self, text: &[u8]) -> std::result::Result<f64, FaultKind> {
        let read = match self.is_plain() {
            true => value::number(text),
            false => self.with_plain(text, |plain| match plain {
                Some(plain) => value::number(plain),
                None => Err(FaultKind::NotANumber {
                    value: shown(text.trim_ascii()),
                }),
            }),
        };
        match read {
            Err(FaultKind::NotANumber { .. }) => match value::flag(text) {
                Ok(flag) => Ok(f64::from(u8::from(flag))),
                Err(_) => Err(FaultKind::NotANumber {
                    value: shown(text.trim_ascii()),
                }),
            },
            read => read,
        }
    }

    /// A flag.
    pub(crate) fn flag(&self, text: &[u8]) -> std::result::Result<bool, FaultKind> {
        match self.is_plain() {
            true => value::flag(text),
            false => self.with_plain(text, |plain| value::flag(plain.unwrap_or(text))),
        }
    }

    /// An episode or a cluster: a number of the dialect, or a name.
    pub(crate) fn episode(&self, text: &[u8]) -> std::result::Result<u64, FaultKind> {
        match self.is_plain() {
            true => value::episode(text),
            false => self.with_plain(text, |plain| value::episode(plain.unwrap_or(text))),
        }
    }

    /// Calls `read` with the plain notation of a text; `None` if it is not a number of this dialect.
    fn with_plain<T>(&self, text: &[u8], read: impl FnOnce(Option<&[u8]>) -> T) -> T {
        let text = text.trim_ascii();
        let mut plain = [0; LONGEST];
        match self.write_plain(text, &mut plain) {
            Some(length) => read(Some(&plain[..length])),
            None => read(None),
        }
    }

    /// Writes the plain notation of a number; the thousands separator must separate groups of three digits.
    fn write_plain(&self, text: &[u8], plain: &mut [u8; LONGEST]) -> Option<usize> {
        if text.len() > LONGEST {
            return None;
        }
        let decimal = self.decimal_sign();
        let signs = self.thousands.map_or(&[][..], spellings);
        // The digits of the current group, and whether a separator precedes it.
        let (mut digits, mut grouped, mut whole) = (0, false, true);
        let (mut at, mut length) = (0, 0);
        while let Some(&byte) = text.get(at) {
            let sign = signs
                .iter()
                .find(|sign| text[at..].starts_with(sign.as_bytes()));
            if let Some(sign) = sign.filter(|_| whole) {
                if !(if grouped {
                    digits == 3
                } else {
                    (1..=3).contains(&digits)
                }) {
                    return None;
                }
                (digits, grouped) = (0, true);
                at += sign.len();
                continue;
            }
            plain[length] = match byte {
                b'0'..=b'9' => {
                    digits += 1;
                    byte
                }
                _ if whole && char::from(byte) == decimal => {
                    whole = false;
                    if grouped && digits != 3 {
                        return None;
                    }
                    b'.'
                }
                b'.' | b',' => return None,
                b'e' | b'E' => {
                    if whole && grouped && digits != 3 {
                        return None;
                    }
                    whole = false;
                    byte
                }
                _ => byte,
            };
            length += 1;
            at += 1;
        }
        (!(whole && grouped && digits != 3)).then_some(length)
    }
}

/// How a thousands separator may be written; none for other signs.
fn spellings(sign: char) -> &'static [&'static str] {
    match sign {
        '.' => &["."],
        ',' => &[","],
        '_' => &["_"],
        ' ' | '\u{a0}' | '\u{202f}' => &[" ", "\u{a0}", "\u{202f}"],
        '\'' | '\u{2019}' => &["'", "\u{2019}"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(decimal: char, thousands: Option<char>, text: &str) -> Option<f64> {
        let dialect = Dialect {
            decimal: Some(decimal),
            thousands,
        };
        dialect.check().unwrap();
        dialect.number(text.as_bytes()).ok()
    }

    #[test]
    fn numbers_are_read_in_their_dialect_and_no_other() {
        let cases = [
            (',', None, "1,5", Some(1.5)),
            (',', None, " -,5e-3 ", Some(-0.0005)),
            (',', None, "15", Some(15.0)),
            (',', None, "1.5", None),
            (',', None, "1,5,0", None),
            (',', Some('.'), "1.234.567,25", Some(1_234_567.25)),
            (',', Some('.'), "-1.234", Some(-1234.0)),
            (',', Some('.'), "1234,5", Some(1234.5)),
            // A decimal point is not a thousands separator.
            (',', Some('.'), "1.5", None),
            (',', Some('.'), "1.23e4", None),
            (',', Some('.'), "1234.567", None),
            (',', Some('.'), ".123", None),
            (',', Some('.'), "1.234,5.0", None),
            (',', Some(' '), "12\u{202f}345,5", Some(12_345.5)),
            (',', Some(' '), "12\u{a0}345", Some(12_345.0)),
            ('.', Some('\''), "1\u{2019}000.5", Some(1000.5)),
            ('.', Some(','), "1,000,000", Some(1e6)),
            ('.', Some(','), "1,00", None),
            (',', None, "True", Some(1.0)),
            (',', None, "", None),
            (',', None, "inf", None),
            (',', None, "x", None),
        ];
        for (decimal, thousands, text, expected) in cases {
            assert_eq!(read(decimal, thousands, text), expected, "{text}");
        }
    }

    #[test]
    fn a_notation_is_guessed_from_a_number() {
        let guesses = |text| Dialect::guesses(text).collect::<Vec<_>>();
        let of = |decimal, thousands| Dialect { decimal, thousands };
        assert_eq!(guesses("1,5"), [of(Some(','), None)]);
        assert_eq!(guesses("1.234,5"), [of(Some(','), Some('.'))]);
        assert_eq!(guesses("1 234,5"), [of(Some(','), Some(' '))]);
        assert_eq!(
            guesses("1'234"),
            [of(None, Some('\'')), of(Some(','), Some('\''))]
        );
        // One number may be two.
        assert_eq!(guesses("1,234"), [of(Some(','), None), of(None, Some(','))]);
        assert_eq!(guesses("n/a"), []);
    }

    #[test]
    fn signs_must_be_known_and_differ() {
        let check = |decimal, thousands| Dialect { decimal, thousands }.check();
        assert!(check(None, None).is_ok() && check(Some(','), Some('.')).is_ok());
        let words = |result: Result<()>| result.unwrap_err().to_string();
        assert_eq!(
            words(check(None, Some('.'))),
            "thousands needs decimal = ,: '.' cannot be the decimal sign too"
        );
        assert_eq!(
            words(check(Some(';'), None)),
            "decimal is ';', but must be a point or a comma"
        );
        assert!(words(check(None, Some('x'))).contains("an apostrophe"));
    }
}
