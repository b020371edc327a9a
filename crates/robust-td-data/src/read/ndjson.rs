//! Reads rows from lines of JSON objects.
//!
//! The fields of the first good line are the columns: every later line must have those with a role, once, in any
//! order, and no other field that could have one. Other fields are ignored. Only the next observation of a terminated row may
//! be null or missing.
//!
//! # Performance
//! Lines are read by a small scanner that understands what logs usually contain. Where it is not sure, the
//! line is parsed again by `serde_json`, which decides whether it is valid JSON and reports errors.

use std::io::Read;

use serde_json::{Map, Value};

use crate::bad_rows::BadRows;
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::fault::{Fault, FaultKind, shown};
use crate::kept::Cells;
use crate::layout::{CellKind, Column, Layout, Target, Wanted};
use crate::lines::Lines;
use crate::read::json_scan::{Scan, Scanned};
use crate::row::{Bad, Ledger, LogRow, Place, refused_number};
use crate::stored::Seek;
use crate::value;

/// The first lines that may lack columns: of a file that has them nowhere not all lines are read.
const MOST_INCOMPLETE: u64 = 1000;

/// The rows of an NDJSON file.
pub(crate) struct NdjsonRows {
    file: String,
    lines: Lines,
    layout: Layout,
    scan: Scan,
    /// Names that would have a role if the first line had them.
    absent: Vec<String>,
    row: LogRow,
    rows: u64,
    ready: bool,
}

impl NdjsonRows {
    /// Reads up to the first object with the columns that are needed; lines before it are bad rows.
    pub fn open(
        file: &str,
        input: Box<dyn Read + Send>,
        wanted: &Wanted,
        ledger: &mut Ledger,
    ) -> Result<Self> {
        let (mut lines, mut rows) = (Lines::new(file, input), 0);
        let mut incomplete = Incomplete::default();
        let layout = loop {
            if !next_object(&mut lines, rows)? {
                return Err(incomplete.error.unwrap_or_else(|| no_rows(file, rows)));
            }
            rows += 1;
            let fault = |column, kind| Fault {
                file: file.to_owned(),
                row: rows,
                line: Some(lines.number()),
                column,
                kind,
            };
            let skipped = match parse(lines.bytes()) {
                Ok(object) => match Layout::resolve(file, &columns(&object), wanted) {
                    Ok(layout) => break layout,
                    Err(error) => {
                        let column = incomplete.add(object.len(), error, &ledger.bad)?;
                        let skipped = ledger.bad.skip(fault(column, FaultKind::MissingField));
                        skipped.map_err(|refused| incomplete.error.take().unwrap_or(refused))
                    }
                },
                Err(bad) => ledger.bad.skip(fault(None, bad.kind)),
            };
            skipped?;
            ledger.gap = true;
        };
        rows -= 1;
        let absent = layout.absent(wanted);
        Ok(Self {
            file: file.to_owned(),
            scan: Scan::new(&layout, &absent),
            row: LogRow::of(&layout),
            absent,
            lines,
            layout,
            rows,
            ready: true,
        })
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The place after the rows so far; none before the first.
    pub fn place(&self) -> Option<Seek> {
        (!self.ready).then(|| self.lines.place(self.rows))
    }

    /// Reads on from another place of the same file.
    pub fn jump(&mut self, input: Box<dyn Read + Send>, place: Seek) {
        self.lines = Lines::from(&self.file, input, place);
        (self.rows, self.ready) = (place.rows, false);
    }

    /// Adds rows until the batch is full; false when the file has no more.
    pub fn fill(&mut self, batch: &mut Batch, ledger: &mut Ledger) -> Result<bool> {
        while batch.len() < ledger.most_rows(ledger.dimension) {
            if ledger.eager && !batch.is_empty() && !self.lines.has_next() {
                return Ok(true);
            }
            if !self.ready && !next_object(&mut self.lines, self.rows)? {
                return Ok(false);
            }
            self.ready = false;
            let line = self.lines.bytes();
            let read = match self.scan.read(line, &mut self.row) {
                Scanned::Done => Ok(()),
                Scanned::Bad(bad) => Err(bad),
                Scanned::Unsure => read_slowly(line, &self.layout, &self.absent, &mut self.row),
            };
            let read = read.map_err(|bad| first_fault(bad, line, &self.layout, ledger.dimension));
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

    /// Copies the fields of the current line.
    fn keep(&self, batch: &mut Batch) {
        let object = parse(self.lines.bytes()).unwrap_or_default();
        let names = self.layout.kept_names();
        batch.kept.start(&names, Cells::text);
        batch
            .kept
            .push(names.iter().map(|name| match object.get(name) {
                None | Some(Value::Null) => None,
                Some(Value::String(text)) => Some(text.clone()),
                Some(value) => Some(value.to_string()),
            }));
    }
}

/// The first objects of a file, if they lack columns.
#[derive(Default)]
struct Incomplete {
    lines: u64,
    /// The number of fields of the object with most of them.
    fields: usize,
    /// What it lacks.
    error: Option<Error>,
}

impl Incomplete {
    /// Adds an object; returns what it lacks, or the error if bad rows are not skipped, or if it is the file that lacks something.
    fn add(&mut self, fields: usize, error: Error, bad: &BadRows) -> Result<Option<String>> {
        let lacking = match &error {
            Error::MissingColumn { wanted, .. } => wanted.clone(),
            Error::MissingInput { name, .. } => name.clone(),
            _ => return Err(error),
        };
        self.lines += 1;
        if self.error.is_none() || fields > self.fields {
            (self.fields, self.error) = (fields, Some(error));
        }
        match self
            .error
            .take_if(|_| !bad.may_skip() || self.lines > MOST_INCOMPLETE)
        {
            Some(error) => Err(error),
            None => Ok(Some(lacking)),
        }
    }
}

/// The error of a file without an object.
fn no_rows(file: &str, rows: u64) -> Error {
    let file = file.to_owned();
    match rows {
        0 => Error::Empty { file },
        _ => Error::NoRows { file },
    }
}

/// The fields of an object as columns.
fn columns(object: &Map<String, Value>) -> Vec<Column> {
    let column = |(name, value): (&String, &Value)| Column {
        name: name.clone(),
        kind: match value {
            Value::Array(_) => CellKind::List,
            Value::String(_) => CellKind::Text,
            _ => CellKind::Scalar,
        },
    };
    object.iter().map(column).collect()
}

/// Advances to the next line that is not blank.
fn next_object(lines: &mut Lines, row: u64) -> Result<bool> {
    while lines.advance(row)? {
        if !lines.bytes().trim_ascii().is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn parse(line: &[u8]) -> std::result::Result<Map<String, Value>, Bad> {
    let message = match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => return Ok(object),
        Ok(_) => format!("{:?} is not a JSON object", shown(line)),
        // Each line is parsed on its own, so the parser's "line 1" would mislead.
        Err(error) => format!(
            "not JSON: {}",
            error
                .to_string()
                .replace(" at line 1 column ", " at character ")
        ),
    };
    Err(Bad::row(FaultKind::Syntax { message }))
}

/// The first error in the fields of a bad line, in the order of roles: a list of another length comes before a missing flag.
#[cold]
fn first_fault(bad: Bad, line: &[u8], layout: &Layout, dimension: Option<usize>) -> Bad {
    if bad.column.is_none() || matches!(bad.kind, FaultKind::DuplicateField) {
        return bad;
    }
    let Ok(object) = parse(line) else {
        return bad;
    };
    let role = |column: &usize| layout.targets[*column].role();
    let mut columns: Vec<usize> = (0..layout.targets.len())
        .filter(|column| role(column).is_some())
        .collect();
    columns.sort_by_key(role);
    let mut row = LogRow::of(layout);
    for column in columns {
        let target = layout.targets[column];
        if let Err(kind) = read_field(&object, &layout.names[column], target, &mut row) {
            match row.miss(target, column, kind) {
                Ok(()) => continue,
                Err(bad) => return bad,
            }
        }
        let found = match target {
            Target::ObsList => row.obs.len(),
            Target::NextObsList => row.next_obs.len(),
            _ => continue,
        };
        if let Some(expected) = dimension.filter(|expected| *expected != found) {
            return Bad::at(column, FaultKind::Ragged { expected, found });
        }
    }
    bad
}

/// Reads a line with the full parser, with which the scanner must agree.
pub(crate) fn read_slowly(
    line: &[u8],
    layout: &Layout,
    absent: &[String],
    row: &mut LogRow,
) -> std::result::Result<(), Bad> {
    let object = parse(line)?;
    if let Some(name) = absent.iter().find(|name| object.contains_key(*name)) {
        let name = name.clone();
        return Err(Bad::row(FaultKind::UnexpectedField { name }));
    }
    for (column, (&target, name)) in layout.targets.iter().zip(&layout.names).enumerate() {
        if target != Target::Skip
            && let Err(kind) = read_field(&object, name, target, row)
        {
            row.miss(target, column, kind)?;
        }
    }
    Ok(())
}

fn read_field(
    object: &Map<String, Value>,
    name: &str,
    target: Target,
    row: &mut LogRow,
) -> std::result::Result<(), FaultKind> {
    match object.get(name) {
        None => Err(FaultKind::MissingField),
        Some(Value::Null) => Err(FaultKind::Missing),
        Some(value) => read_value(value, target, row),
    }
}

fn read_value(
    value: &Value,
    target: Target,
    row: &mut LogRow,
) -> std::result::Result<(), FaultKind> {
    let text = || shown(value.to_string().as_bytes());
    match (target, value) {
        (Target::Terminated | Target::Truncated, _) => {
            let flag = match value {
                Value::Bool(flag) => *flag,
                Value::String(text) => value::flag(text.as_bytes())?,
                Value::Number(number) => value::numeric_flag(number.as_f64().unwrap_or(f64::NAN))?,
                _ => return Err(FaultKind::NotAFlag { value: text() }),
            };
            row.set_flag(target, flag);
        }
        (target, Value::String(text)) if target.is_name() => {
            let id = value::episode(text.as_bytes())?;
            row.set_id(target, id, || shown(text.trim().as_bytes()));
        }
        (target, Value::Number(number)) if target.is_name() => {
            let id = match number.as_i64() {
                Some(whole) => value::whole_episode(whole),
                None => value::numeric_episode(number.as_f64().unwrap_or(f64::NAN))?,
            };
            row.set_id(target, id, text);
        }
        (target, _) if target.is_name() => {
            return Err(FaultKind::NotAnEpisode { value: text() });
        }
        (target, Value::Array(entries)) if target.is_list() => {
            let list = row.list(target);
            for entry in entries {
                list.push(match entry {
                    Value::Null => return Err(FaultKind::Missing),
                    other => finite(other)?,
                });
            }
        }
        (target, _) if target.is_list() => {
            return Err(FaultKind::NotAList { value: text() });
        }
        (Target::Level { .. }, Value::String(text)) => row.set_level(target, text.as_bytes())?,
        (Target::Level { .. }, Value::Bool(_)) => row.set_level(target, text().as_bytes())?,
        (Target::Level { .. }, Value::Number(number)) => match number.as_f64() {
            Some(value) if number.is_f64() => row.set_number_level(target, value)?,
            _ => row.set_level(target, text().as_bytes())?,
        },
        (Target::Level { .. }, _) => return Err(FaultKind::NotALevel { value: text() }),
        _ => {
            let number = finite(value)?;
            if !row.set_number(target, number) {
                return Err(refused_number(number, text()));
            }
        }
    }
    Ok(())
}

/// A finite number; true and false are 1 and 0.
fn finite(value: &Value) -> std::result::Result<f64, FaultKind> {
    let flag = value.as_bool().map(|flag| f64::from(u8::from(flag)));
    match flag.or(value.as_f64()) {
        Some(number) if number.is_finite() => Ok(number),
        Some(number) => Err(FaultKind::NotFinite {
            value: number.to_string(),
        }),
        None => Err(FaultKind::NotANumber {
            value: shown(value.to_string().as_bytes()),
        }),
    }
}
