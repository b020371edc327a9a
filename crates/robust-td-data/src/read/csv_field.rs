//! Cuts a record of CSV into fields.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use crate::fault::FaultKind;
use crate::row::Bad;

/// Why a record cannot be read.
pub(crate) enum Stop {
    /// A quoted field continues after the end of the line.
    Open,
    Bad(Bad),
}

pub(crate) fn unclosed() -> FaultKind {
    FaultKind::Syntax {
        message: "unclosed quote".to_owned(),
    }
}

/// A field without its quotes: `bytes[start..end]`.
pub(crate) struct Field {
    start: usize,
    end: usize,
    quoted: bool,
    /// Where the next field starts, if there is one.
    pub next: Option<usize>,
}

impl Field {
    #[inline]
    pub fn cut(bytes: &[u8], from: usize, separator: u8) -> std::result::Result<Self, Stop> {
        if bytes.get(from) == Some(&b'"') {
            return Self::cut_quoted(bytes, from, separator);
        }
        let end = memchr(separator, &bytes[from..]).map(|at| from + at);
        Ok(Self {
            start: from,
            end: end.unwrap_or(bytes.len()),
            quoted: false,
            next: end.map(|at| at + 1),
        })
    }

    fn cut_quoted(bytes: &[u8], from: usize, separator: u8) -> std::result::Result<Self, Stop> {
        let start = from + 1;
        let mut at = start;
        loop {
            let end = at + memchr(b'"', &bytes[at..]).ok_or(Stop::Open)?;
            let next = match bytes.get(end + 1) {
                Some(b'"') => {
                    at = end + 2;
                    continue;
                }
                Some(&next) if next == separator => Some(end + 2),
                None => None,
                Some(_) => {
                    let message = "text after a closing quote".to_owned();
                    return Err(Stop::Bad(Bad::row(FaultKind::Syntax { message })));
                }
            };
            return Ok(Self {
                start,
                end,
                quoted: true,
                next,
            });
        }
    }

    /// Its text, with doubled quotes resolved.
    pub fn text<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let text = &bytes[self.start..self.end];
        if !self.quoted || memchr(b'"', text).is_none() {
            return Cow::Borrowed(text);
        }
        let mut plain = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = memmem::find(rest, b"\"\"") {
            plain.extend_from_slice(&rest[..=at]);
            rest = &rest[at + 2..];
        }
        plain.extend_from_slice(rest);
        Cow::Owned(plain)
    }
}

/// The number of fields of a record.
pub(crate) fn count(bytes: &[u8], separator: u8) -> std::result::Result<usize, Stop> {
    let (mut found, mut at) = (0, Some(0));
    while let Some(from) = at {
        at = Field::cut(bytes, from, separator)?.next;
        found += 1;
    }
    Ok(found)
}

/// The texts of all fields of a record, without the blanks around them.
pub(crate) fn texts(bytes: &[u8], separator: u8) -> std::result::Result<Vec<String>, Stop> {
    let (mut texts, mut at) = (Vec::new(), Some(0));
    while let Some(from) = at {
        let field = Field::cut(bytes, from, separator)?;
        let text = String::from_utf8_lossy(&field.text(bytes))
            .trim()
            .to_owned();
        texts.push(text);
        at = field.next;
    }
    Ok(texts)
}
