//! Reads rows from CSV text.
//!
//! RFC 4180: a header, fields separated by commas or by the separator that the header shows, optionally in double quotes,
//! within which separators and line feeds are plain text and `""` is a quote. Blank lines and comments are ignored. A list is
//! a cell such as `"[1.5, 2]"`.
//!
//! # Performance
//! Numbers are parsed in place; a field is extracted only when that fails, so that a message can show it.

use std::io::Read;

use crate::actions::ChoiceCell;
use crate::batch::Batch;
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::fault::{FaultKind, is_odd, is_word};
use crate::kept::Cells;
use crate::layout::{CellKind, Column, Layout, Target, Wanted};
use crate::lines::Lines;
use crate::read::csv_blocks::{Blocks, Parser};
use crate::read::csv_field::{Field, Stop, count, texts, unclosed};
use crate::read::csv_header::{Comments, Header, next_record};
use crate::read::decimal;
use crate::role::Role;
use crate::row::{Bad, Ledger, LogRow, Place, refused_number};
use crate::stored::Seek;
use crate::value;

/// The number of bytes and of records in which columns of text are recognised.
const AHEAD: usize = 1 << 16;
const LOOKED_AT: usize = 100;
/// A number is short if a separator is among the bytes from `SHORTEST` to `SHORT`.
const SHORTEST: usize = 1;
const SHORT: usize = 13;

/// The rows of a CSV file.
pub(crate) struct CsvRows {
    file: String,
    lines: Lines,
    style: Style,
    comments: Comments,
    layout: Layout,
    kept_names: Vec<String>,
    row: LogRow,
    rows: u64,
    /// Whether the current record is still to be consumed: the first one is read before the rows.
    ready: bool,
    /// Rows that were parsed ahead, and the number that were used.
    parsed: (Batch, usize),
}

/// What separates fields, and how numbers are written.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub separator: u8,
    dialect: Dialect,
}

impl CsvRows {
    /// The rows of a file, parsed with up to this number of threads beside the caller's.
    pub fn open(
        file: &str,
        input: Box<dyn Read + Send>,
        wanted: &Wanted,
        threads: usize,
    ) -> Result<Self> {
        let mut lines = Lines::new(file, input);
        let dialect = wanted.dialect;
        // The only column of a file may have decimal commas.
        let single = if dialect.uses(',') { b';' } else { b',' };
        let Header {
            names,
            separator,
            first,
            comments,
        } = Header::read(&mut lines, file, single, |name| {
            [Role::Episode, Role::Cluster]
                .iter()
                .any(|&role| wanted.names(role).iter().any(|wanted| wanted == name))
        })?;
        if separator == b',' && dialect.uses(',') && first.len() > names.len() {
            return Err(Error::CommaInNumbers {
                file: file.to_owned(),
            });
        }
        let style = Style { separator, dialect };
        let mut columns: Vec<Column> = names
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
        if wanted.looks_ahead && first.iter().any(|cell| is_odd(cell) || cell.is_empty()) {
            mark_words(&mut columns, &first, lines.ahead(AHEAD)?, separator);
        }
        let layout = Layout::resolve(file, &columns, wanted)?;
        // Streams are not read ahead.
        if threads > 1
            && wanted.looks_ahead
            && let Some(parser) = Parser::of(&layout, style, comments)
        {
            lines.in_blocks(|input, rest| Blocks::start(input, rest, parser, threads))?;
        }
        Ok(Self {
            file: file.to_owned(),
            row: LogRow::of(&layout),
            kept_names: layout.kept_names(),
            lines,
            style,
            comments,
            layout,
            rows: 0,
            ready: true,
            parsed: Default::default(),
        })
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The place after the rows so far; none before the first, or within rows that were parsed ahead.
    pub fn place(&self) -> Option<Seek> {
        let is_between = self.parsed.1 == self.parsed.0.len();
        (!self.ready && is_between).then(|| self.lines.place(self.rows))
    }

    /// Reads on from another place of the same file.
    pub fn jump(&mut self, input: Box<dyn Read + Send>, place: Seek) {
        self.lines = Lines::from(&self.file, input, place);
        (self.rows, self.ready) = (place.rows, false);
        self.parsed = Default::default();
    }

    /// Adds rows until the batch is full; false when the file has no more.
    pub fn fill(&mut self, batch: &mut Batch, ledger: &mut Ledger) -> Result<bool> {
        while batch.len() < ledger.most_rows(ledger.dimension) {
            if ledger.eager && !batch.is_empty() && !self.lines.has_next() {
                return Ok(true);
            }
            if !self.ready && self.fill_parsed(batch, ledger)? {
                continue;
            }
            if !self.ready
                && !next_record(
                    &mut self.lines,
                    self.rows,
                    self.style.separator,
                    self.comments,
                )?
            {
                return Ok(false);
            }
            self.ready = false;
            let read = loop {
                let bytes = self.lines.bytes();
                match read_record(bytes, &self.style, &self.layout.targets, &mut self.row) {
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
            let before = batch.len();
            ledger.enter(batch, &mut self.row, &self.layout, place, read)?;
            if batch.len() > before && !self.layout.kept.is_empty() {
                self.keep(batch);
            }
        }
        Ok(true)
    }

    /// Adds rows that were parsed ahead; false if there are none.
    fn fill_parsed(&mut self, batch: &mut Batch, ledger: &mut Ledger) -> Result<bool> {
        let (rows, used) = &mut self.parsed;
        if *used == rows.len() {
            let Some(next) = self.lines.next_block(self.rows)? else {
                return Ok(false);
            };
            (*rows, *used) = (next, 0);
        }
        let most = ledger.most_rows(ledger.dimension);
        if batch.is_empty() {
            batch.reserve(most, &self.row);
        }
        let (first, space) = (batch.len(), most - batch.len());
        let end = rows.len().min(*used + space);
        batch.append(rows, *used..end, self.rows + 1);
        batch.note_gap(first, std::mem::take(&mut ledger.gap));
        self.rows += (end - *used) as u64;
        *used = end;
        Ok(true)
    }

    /// Copies the cells of the current record.
    fn keep(&self, batch: &mut Batch) {
        let (bytes, mut fields, mut at) = (self.lines.bytes(), Vec::new(), Some(0));
        while let Some(from) = at {
            let Ok(field) = Field::cut(bytes, from, self.style.separator) else {
                break;
            };
            let text = String::from_utf8_lossy(&field.text(bytes)).into_owned();
            fields.push(Some(text).filter(|text| !text.is_empty()));
            at = field.next;
        }
        batch.kept.start(&self.kept_names, Cells::text);
        let cell = |&index: &usize| fields.get(index).cloned().flatten();
        batch.kept.push(self.layout.kept.iter().map(cell));
    }
}

/// Marks the columns that have no numbers in the first records.
fn mark_words(columns: &mut [Column], first: &[String], ahead: &[u8], separator: u8) {
    let mut records = vec![first.to_vec()];
    let mut lines = ahead.split(|&byte| byte == b'\n');
    // The last line may be cut.
    lines.next_back();
    for line in lines.take(LOOKED_AT) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match texts(line, separator) {
            Ok(record) if record.len() == columns.len() => records.push(record),
            // A field with a line feed is not looked at.
            _ => {}
        }
    }
    for (k, column) in columns.iter_mut().enumerate() {
        let cells = records.iter().filter_map(|record| record.get(k));
        let cells: Vec<&String> = cells.filter(|cell| !cell.is_empty()).collect();
        let all = |is: fn(&str) -> bool| !cells.is_empty() && cells.iter().all(|cell| is(cell));
        column.kind = match column.kind {
            CellKind::Scalar if all(is_word) => CellKind::Words,
            CellKind::Scalar if all(is_odd) => CellKind::Odd,
            kind => kind,
        };
    }
}

/// Reads one record into a row.
#[inline]
fn read_record(
    bytes: &[u8],
    style: &Style,
    targets: &[Target],
    row: &mut LogRow,
) -> std::result::Result<(), Stop> {
    read_fields(bytes, style, targets, row)
        .map_err(|stop| explain(bytes, style.separator, targets.len(), stop))
}

#[inline]
pub(super) fn read_fields(
    bytes: &[u8],
    style: &Style,
    targets: &[Target],
    row: &mut LogRow,
) -> std::result::Result<(), Stop> {
    let (separator, plain) = (style.separator, style.dialect.is_plain());
    let mut at = Some(0);
    for (column, &target) in targets.iter().enumerate() {
        let Some(from) = at else {
            return Err(miscounted(targets.len(), column));
        };
        at = match target {
            Target::Skip => Field::cut(bytes, from, separator)?.next,
            Target::Obs(_)
            | Target::NextObs(_)
            | Target::Reward
            | Target::Ratio
            | Target::Choice(ChoiceCell::Weight(..) | ChoiceCell::Propensity)
                if plain =>
            {
                match number(&bytes[from..], separator) {
                    Some((value, length))
                        if ends(bytes, from + length, separator)
                            && row.set_number(target, value) =>
                    {
                        Some(from + length + 1).filter(|&next| next <= bytes.len())
                    }
                    _ => read_cell(bytes, style, from, (column, target), row)?,
                }
            }
            _ => read_cell(bytes, style, from, (column, target), row)?,
        };
    }
    match at {
        None => Ok(()),
        Some(_) => Err(miscounted(targets.len(), targets.len() + 1)),
    }
}

/// The number at the start of some bytes, and its length.
#[inline(always)]
fn number(bytes: &[u8], separator: u8) -> Option<(f64, usize)> {
    // Looking first keeps long numbers from being parsed twice.
    let is_short = match bytes.get(SHORTEST..SHORT) {
        Some(near) => near
            .iter()
            .fold(false, |found, &byte| found | (byte == separator)),
        None => true,
    };
    let short = is_short.then(|| decimal::parse(bytes)).flatten();
    short.or_else(|| fast_float2::parse_partial(bytes).ok())
}

/// Whether a field ends here.
#[inline]
fn ends(bytes: &[u8], at: usize, separator: u8) -> bool {
    bytes.get(at).is_none_or(|&byte| byte == separator)
}

/// Extracts and parses a field; returns where the next one starts.
fn read_cell(
    bytes: &[u8],
    style: &Style,
    from: usize,
    (column, target): (usize, Target),
    row: &mut LogRow,
) -> std::result::Result<Option<usize>, Stop> {
    let (field, dialect) = (Field::cut(bytes, from, style.separator)?, &style.dialect);
    let text = field.text(bytes);
    let read = match target {
        Target::Terminated | Target::Truncated => {
            dialect.flag(&text).map(|flag| row.set_flag(target, flag))
        }
        target if target.is_name() => dialect.episode(&text).map(|id| {
            row.set_id(target, id, || crate::fault::shown(text.trim_ascii()));
        }),
        target if target.is_list() => value::list(&text, row.list(target)),
        Target::Level { .. } => row.set_level(target, &text),
        _ => dialect
            .number(&text)
            .and_then(|number| match row.set_number(target, number) {
                true => Ok(()),
                false => Err(refused_number(number, crate::fault::shown(&text))),
            }),
    };
    match read {
        Ok(()) => Ok(field.next),
        Err(kind) => match row.miss(target, column, kind) {
            Ok(()) => Ok(field.next),
            Err(bad) => Err(Stop::Bad(bad)),
        },
    }
}

fn miscounted(expected: usize, found: usize) -> Stop {
    Stop::Bad(Bad::row(FaultKind::FieldCount { expected, found }))
}

/// Finds the cause of a failure: a record that continues, or a field too many or too few, shifts all others.
#[cold]
fn explain(bytes: &[u8], separator: u8, expected: usize, stop: Stop) -> Stop {
    match count(bytes, separator) {
        Err(other) => other,
        Ok(found) if found == expected => stop,
        Ok(found) => miscounted(expected, found),
    }
}
