//! Reads rows from CSV text.
//!
//! RFC 4180: a header, fields separated by commas, optionally in double quotes, within which commas and line
//! feeds are plain text and `""` is a quote. Blank lines are ignored. A list is a cell such as `"[1.5, 2]"`.
//!
//! # Performance
//! Numbers are parsed in place; a field is extracted only when that fails, so that a message can show it.

use std::borrow::Cow;
use std::io::Read;

use memchr::{memchr, memmem};

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::fault::FaultKind;
use crate::layout::{CellKind, Column, Layout, Target, Wanted};
use crate::lines::Lines;
use crate::row::{Bad, Ledger, LogRow, Place, refused_number};
use crate::value;

/// The rows of a CSV file.
pub(crate) struct CsvRows {
    file: String,
    lines: Lines,
    layout: Layout,
    row: LogRow,
    rows: u64,
    /// Whether the current record is still to be consumed: the first one is read before the rows.
    ready: bool,
}

impl CsvRows {
    pub fn open(file: &str, input: Box<dyn Read + Send>, wanted: &Wanted) -> Result<Self> {
        let mut lines = Lines::new(file, input);
        if !next_record(&mut lines, 0)? {
            return Err(Error::Empty {
                file: file.to_owned(),
            });
        }
        let header = all_fields(&mut lines, file)?;
        if !next_record(&mut lines, 0)? {
            return Err(Error::NoRows {
                file: file.to_owned(),
            });
        }
        // The first record shows which columns are lists; if it is malformed, reading it later reports the
        // error.
        let first = all_fields(&mut lines, file).unwrap_or_default();
        let columns: Vec<Column> = header
            .into_iter()
            .enumerate()
            .map(|(index, name)| Column {
                name,
                kind: match first.get(index) {
                    Some(cell) if cell.trim_start().starts_with('[') => CellKind::List,
                    _ => CellKind::Scalar,
                },
            })
            .collect();
        let layout = Layout::resolve(file, &columns, wanted)?;
        Ok(Self {
            file: file.to_owned(),
            row: LogRow::of(&layout),
            lines,
            layout,
            rows: 0,
            ready: true,
        })
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Adds rows until the batch is full; false when the file has no more.
    pub fn fill(&mut self, batch: &mut Batch, ledger: &mut Ledger) -> Result<bool> {
        while batch.len() < ledger.batch_rows {
            if !self.ready && !next_record(&mut self.lines, self.rows)? {
                return Ok(false);
            }
            self.ready = false;
            let read = loop {
                match read_record(self.lines.bytes(), &self.layout.targets, &mut self.row) {
                    Err(Stop::Open) if self.lines.extend(self.rows)? => {}
                    Err(Stop::Open) => break Err(Bad::row(unclosed())),
                    Err(Stop::Bad(bad)) => break Err(bad),
                    Ok(()) => break Ok(()),
                }
            };
            self.rows += 1;
            let place = Place {
                file: &self.file,
                row: self.rows,
                line: Some(self.lines.number()),
            };
            ledger.enter(batch, &self.row, &self.layout, place, read)?;
        }
        Ok(true)
    }
}

/// Advances to the next line that is not blank.
fn next_record(lines: &mut Lines, row: u64) -> Result<bool> {
    while lines.advance(row)? {
        if !lines.bytes().trim_ascii().is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The texts of all fields of the current record, completing it if necessary.
fn all_fields(lines: &mut Lines, file: &str) -> Result<Vec<String>> {
    let refuse = |line, kind| Error::Header {
        file: file.to_owned(),
        line,
        kind,
    };
    'record: loop {
        let bytes = lines.bytes();
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let (mut texts, mut at) = (Vec::new(), Some(0));
        while let Some(from) = at {
            match Field::cut(bytes, from) {
                Ok(field) => {
                    let text = String::from_utf8_lossy(&field.text(bytes))
                        .trim()
                        .to_owned();
                    texts.push(text);
                    at = field.next;
                }
                Err(Stop::Open) if lines.extend(0)? => continue 'record,
                Err(Stop::Open) => return Err(refuse(lines.number(), unclosed())),
                Err(Stop::Bad(bad)) => return Err(refuse(lines.number(), bad.kind)),
            }
        }
        return Ok(texts);
    }
}

/// Why a record cannot be read.
enum Stop {
    /// A quoted field continues after the end of the line.
    Open,
    Bad(Bad),
}

fn unclosed() -> FaultKind {
    FaultKind::Syntax {
        message: "unclosed quote".to_owned(),
    }
}

/// A field without its quotes: `bytes[start..end]`.
struct Field {
    start: usize,
    end: usize,
    quoted: bool,
    /// Where the next field starts, if there is one.
    next: Option<usize>,
}

impl Field {
    #[inline]
    fn cut(bytes: &[u8], from: usize) -> std::result::Result<Self, Stop> {
        if bytes.get(from) == Some(&b'"') {
            return Self::cut_quoted(bytes, from);
        }
        let comma = memchr(b',', &bytes[from..]).map(|at| from + at);
        Ok(Self {
            start: from,
            end: comma.unwrap_or(bytes.len()),
            quoted: false,
            next: comma.map(|at| at + 1),
        })
    }

    fn cut_quoted(bytes: &[u8], from: usize) -> std::result::Result<Self, Stop> {
        let start = from + 1;
        let mut at = start;
        loop {
            let end = at + memchr(b'"', &bytes[at..]).ok_or(Stop::Open)?;
            let next = match bytes.get(end + 1) {
                Some(b'"') => {
                    at = end + 2;
                    continue;
                }
                Some(b',') => Some(end + 2),
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

    fn text<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
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

/// Reads one record into a row.
#[inline]
fn read_record(
    bytes: &[u8],
    targets: &[Target],
    row: &mut LogRow,
) -> std::result::Result<(), Stop> {
    read_fields(bytes, targets, row).map_err(|stop| explain(bytes, targets.len(), stop))
}

#[inline]
fn read_fields(
    bytes: &[u8],
    targets: &[Target],
    row: &mut LogRow,
) -> std::result::Result<(), Stop> {
    let mut at = Some(0);
    for (column, &target) in targets.iter().enumerate() {
        let Some(from) = at else {
            return Err(miscounted(targets.len(), column));
        };
        at = match target {
            Target::Skip => Field::cut(bytes, from)?.next,
            Target::Obs(_) | Target::NextObs(_) | Target::Reward | Target::Ratio => {
                match fast_float2::parse_partial::<f64, _>(&bytes[from..]) {
                    Ok((value, length))
                        if ends(bytes, from + length) && row.set_number(target, value) =>
                    {
                        Some(from + length + 1).filter(|&next| next <= bytes.len())
                    }
                    _ => read_cell(bytes, from, column, target, row)?,
                }
            }
            _ => read_cell(bytes, from, column, target, row)?,
        };
    }
    match at {
        None => Ok(()),
        Some(_) => Err(miscounted(targets.len(), targets.len() + 1)),
    }
}

/// Whether a field ends here.
#[inline]
fn ends(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|&byte| byte == b',')
}

/// Extracts and parses a field; returns where the next one starts.
fn read_cell(
    bytes: &[u8],
    from: usize,
    column: usize,
    target: Target,
    row: &mut LogRow,
) -> std::result::Result<Option<usize>, Stop> {
    let field = Field::cut(bytes, from)?;
    let text = field.text(bytes);
    let read = match target {
        Target::Terminated | Target::Truncated => {
            value::flag(&text).map(|flag| row.set_flag(target, flag))
        }
        Target::Episode | Target::Cluster => value::episode(&text).map(|id| row.set_id(target, id)),
        Target::ObsList | Target::NextObsList => value::list(&text, row.list(target)),
        _ => value::number(&text).and_then(|number| match row.set_number(target, number) {
            true => Ok(()),
            false => Err(refused_number(number, crate::fault::shown(&text))),
        }),
    };
    match read {
        Ok(()) => Ok(field.next),
        Err(kind) => Err(Stop::Bad(Bad::at(column, kind))),
    }
}

fn miscounted(expected: usize, found: usize) -> Stop {
    Stop::Bad(Bad::row(FaultKind::FieldCount { expected, found }))
}

/// Finds the cause of a failure: a record that continues, or a field too many or too few, shifts all others.
#[cold]
fn explain(bytes: &[u8], expected: usize, stop: Stop) -> Stop {
    let (mut found, mut at) = (0, Some(0));
    while let Some(from) = at {
        match Field::cut(bytes, from) {
            Ok(field) => at = field.next,
            Err(other) => return other,
        }
        found += 1;
    }
    match found == expected {
        true => stop,
        false => miscounted(expected, found),
    }
}
