//! Finds the header of a CSV file, what separates its fields, and its first record.
//!
//! Commas, semicolons, tabs and pipes may separate fields. The separator is the first of them, in this order, that occurs in the
//! header outside quotes and cuts the first record into as many fields; if none does, the first that occurs. A line
//! `sep=;` before the header, as Excel knows it, decides otherwise.
//!
//! Lines that start with `#` are comments. Two are not: one directly before a first line of values with as many fields is the
//! header (`#obs_0,reward`), and where the first column names episodes or clusters, a line with as many fields as the
//! header is a row.

use crate::error::{Error, Result};
use crate::lines::Lines;
use crate::read::csv_field::{Stop, count, texts, unclosed};

/// What may separate fields, the preferred one first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The header of a CSV file; the current line is that of the first record.
pub(crate) struct Header {
    pub names: Vec<String>,
    pub separator: u8,
    /// The texts of the first record; empty if it is malformed.
    pub first: Vec<String>,
    pub comments: Comments,
}

/// What a line that starts with `#` is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comments {
    /// The number of columns, if the first one has names that may start with `#`.
    named: Option<usize>,
}

impl Comments {
    /// Whether a line is a comment.
    #[inline]
    pub(crate) fn is(self, bytes: &[u8], separator: u8) -> bool {
        bytes.first() == Some(&b'#') && !self.is_row(bytes, separator)
    }

    #[cold]
    fn is_row(self, bytes: &[u8], separator: u8) -> bool {
        self.named
            .is_some_and(|columns| count(bytes, separator).is_ok_and(|found| found == columns))
    }
}

/// Advances to the next line that is neither blank nor a comment.
#[inline]
pub(crate) fn next_record(
    lines: &mut Lines,
    row: u64,
    separator: u8,
    comments: Comments,
) -> Result<bool> {
    while lines.advance(row)? {
        let bytes = lines.bytes();
        if !is_blank(bytes, separator) && !comments.is(bytes, separator) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a line has no field; one of tabs may have some.
#[inline]
pub(crate) fn is_blank(bytes: &[u8], separator: u8) -> bool {
    (bytes.iter()).all(|&byte| byte.is_ascii_whitespace() && byte != separator)
}

/// A separator, and the names that it gives.
type Cut = (u8, Vec<String>);

impl Header {
    /// Reads up to the first record; `single` separates the fields if the header has one, and `is_name` says whether the cells of
    /// a column are names.
    pub fn read(
        lines: &mut Lines,
        file: &str,
        single: u8,
        is_name: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let (mut comment, mut separators) = (None::<Vec<u8>>, &SEPARATORS[..]);
        loop {
            if !lines.advance(0)? {
                let file = file.to_owned();
                return Err(match comment {
                    None => Error::Empty { file },
                    Some(_) => Error::NoRows { file },
                });
            }
            let bytes = without_mark(lines.bytes());
            if let Some(text) = bytes.strip_prefix(b"#") {
                // A tab would separate fields.
                let blanks = text.iter().take_while(|&&byte| byte == b' ').count();
                comment = Some(text[blanks..].to_vec());
            } else if let Some(told) = told_separator(bytes) {
                separators = told;
            } else if !bytes.trim_ascii().is_empty() {
                break;
            }
        }
        if let Some((separator, names)) = comment.and_then(|text| {
            let cuts = cut_header(&text, separators, single).ok()?;
            let bytes = lines.bytes();
            cuts.into_iter()
                .find(|(separator, names)| is_data(bytes, *separator, names.len()))
        }) {
            return Self::of(lines, names, separator, is_name);
        }
        let cuts = loop {
            match cut_header(without_mark(lines.bytes()), separators, single) {
                Ok(cuts) => break cuts,
                Err(Stop::Open) if lines.extend(0)? => {}
                Err(stop) => {
                    return Err(Error::Header {
                        file: file.to_owned(),
                        line: lines.number(),
                        kind: match stop {
                            Stop::Open => unclosed(),
                            Stop::Bad(bad) => bad.kind,
                        },
                    });
                }
            }
        };
        let named = |names: &[String]| Comments {
            named: (names.first().is_some_and(|name| is_name(name))).then_some(names.len()),
        };
        while lines.advance(0)? {
            let bytes = lines.bytes();
            let is_row = |(separator, names): &&Cut| {
                !is_blank(bytes, *separator) && !named(names).is(bytes, *separator)
            };
            if !cuts.iter().any(|cut| is_row(&cut)) {
                continue;
            }
            let fits = |(separator, names): &&Cut| {
                count(bytes, *separator).is_ok_and(|found| found == names.len())
            };
            let best = cuts.iter().find(fits).or(cuts.first());
            if let Some((separator, names)) = best.cloned() {
                return Self::of(lines, names, separator, is_name);
            }
        }
        Err(Error::NoRows {
            file: file.to_owned(),
        })
    }

    /// The header before the current line.
    fn of(
        lines: &mut Lines,
        names: Vec<String>,
        separator: u8,
        is_name: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let first = loop {
            match texts(lines.bytes(), separator) {
                Ok(first) => break first,
                Err(Stop::Open) if lines.extend(0)? => {}
                // Reading it as a row reports the error.
                Err(_) => break Vec::new(),
            }
        };
        let has_names = names.first().is_some_and(|name| is_name(name));
        Ok(Self {
            comments: Comments {
                named: has_names.then_some(names.len()),
            },
            names,
            separator,
            first,
        })
    }
}

/// The separators that occur in a header, with the names that they give; if none does, `single` with the only name.
fn cut_header(bytes: &[u8], separators: &[u8], single: u8) -> std::result::Result<Vec<Cut>, Stop> {
    let (mut cuts, mut stop) = (Vec::new(), None);
    for &separator in separators {
        match texts(bytes, separator) {
            Ok(names) if names.len() > 1 => cuts.push((separator, names)),
            Ok(_) => {}
            Err(found) => {
                stop.get_or_insert(found);
            }
        }
    }
    match stop {
        _ if !cuts.is_empty() => Ok(cuts),
        Some(stop) => Err(stop),
        None => Ok(vec![(single, texts(bytes, single)?)]),
    }
}

/// Whether a line has this many fields and a number among them.
fn is_data(bytes: &[u8], separator: u8, columns: usize) -> bool {
    let is_number = |text: &String| {
        let text = text.trim_start_matches(['-', '+', '.', ',', '[']);
        text.starts_with(|first: char| first.is_ascii_digit())
    };
    texts(bytes, separator)
        .is_ok_and(|fields| fields.len() == columns && fields.iter().any(is_number))
}

/// The separator of a line such as `sep=;`.
fn told_separator(bytes: &[u8]) -> Option<&'static [u8]> {
    let (&sign, word) = bytes.split_last()?;
    let at = SEPARATORS.iter().position(|&other| other == sign)?;
    word.eq_ignore_ascii_case(b"sep=")
        .then(|| &SEPARATORS[at..=at])
}

/// The bytes after a byte order mark.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
