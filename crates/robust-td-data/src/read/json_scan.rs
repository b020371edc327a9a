//! Scans a JSON line for the values of known columns.
//!
//! Whatever it reads, `serde_json` reads as the same numbers; everything else is left to the full parser.

use std::collections::{HashMap, HashSet};

use memchr::memchr2;

use crate::fault::{FaultKind, shown};
use crate::layout::{Layout, Target};
use crate::row::{Bad, LogRow, refused_number};
use crate::value;

/// Values nested deeper than this are left to the full parser.
const DEPTH: usize = 16;
/// The longest number that is read as the level of a category.
const LONGEST_PLAIN: usize = 18;

/// The result for a line.
#[derive(Debug)]
pub(crate) enum Scanned {
    /// The row is filled.
    Done,
    /// The row is bad.
    Bad(Bad),
    /// The full parser must read it.
    Unsure,
}

/// The columns to look for, in the order in which lines usually have them.
pub(crate) struct Scan {
    names: Vec<Vec<u8>>,
    targets: Vec<Target>,
    absent: HashSet<Vec<u8>>,
    /// The column of each name.
    places: HashMap<Vec<u8>, usize>,
    /// The column that the last line had at each position.
    order: Vec<usize>,
    /// The line in which each column was last seen.
    seen: Vec<u64>,
    line: u64,
    needed: usize,
}

impl Scan {
    pub fn new(layout: &Layout, absent: &[String]) -> Self {
        let bytes = |name: &String| name.as_bytes().to_vec();
        let targets = layout.targets.clone();
        let names: Vec<Vec<u8>> = layout.names.iter().map(bytes).collect();
        let places = names.iter().enumerate().rev();
        Self {
            places: places.map(|(place, name)| (name.clone(), place)).collect(),
            names,
            absent: absent.iter().map(bytes).collect(),
            order: (0..targets.len()).collect(),
            seen: vec![0; targets.len()],
            line: 0,
            needed: targets.iter().filter(|&&t| t != Target::Skip).count(),
            targets,
        }
    }

    /// Reads one line into a row.
    pub fn read(&mut self, line: &[u8], row: &mut LogRow) -> Scanned {
        self.line += 1;
        let mut cursor = Cursor { line, at: 0 };
        match self.read_object(&mut cursor, row) {
            Ok(()) => Scanned::Done,
            Err(other) => other,
        }
    }

    fn read_object(&mut self, cursor: &mut Cursor<'_>, row: &mut LogRow) -> Result<(), Scanned> {
        cursor.expect(b'{')?;
        let mut found = 0;
        for position in 0.. {
            let key = cursor.string()?;
            cursor.expect(b':')?;
            cursor.skip_blanks();
            match self.column(key, position) {
                Some(column) if self.targets[column] != Target::Skip => {
                    if self.seen[column] == self.line {
                        return Err(Scanned::Bad(Bad::at(column, FaultKind::DuplicateField)));
                    }
                    self.seen[column] = self.line;
                    found += 1;
                    cursor.read_value(self.targets[column], column, row)?;
                }
                None if self.absent.contains(key) => return Err(Scanned::Unsure),
                _ => cursor.skip_value(DEPTH)?,
            }
            if !cursor.comma_or(b'}')? {
                break;
            }
        }
        cursor.skip_blanks();
        match cursor.at == cursor.line.len() && found == self.needed {
            true => Ok(()),
            false => Err(Scanned::Unsure),
        }
    }

    #[inline]
    fn column(&mut self, key: &[u8], position: usize) -> Option<usize> {
        if let Some(&hint) = self.order.get(position)
            && self.names[hint] == key
        {
            return Some(hint);
        }
        let column = *self.places.get(key)?;
        if let Some(hint) = self.order.get_mut(position) {
            *hint = column;
        }
        Some(column)
    }
}

struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), Scanned> {
        self.skip_blanks();
        if self.peek() != Some(byte) {
            return Err(Scanned::Unsure);
        }
        self.at += 1;
        Ok(())
    }

    /// Whether another element follows; otherwise the closing byte does.
    #[inline]
    fn comma_or(&mut self, close: u8) -> Result<bool, Scanned> {
        self.skip_blanks();
        let byte = self.peek();
        self.at += 1;
        match byte {
            Some(b',') => Ok(true),
            Some(byte) if byte == close => Ok(false),
            _ => Err(Scanned::Unsure),
        }
    }

    /// A string without escapes.
    #[inline]
    fn string(&mut self) -> Result<&'a [u8], Scanned> {
        self.expect(b'"')?;
        let rest = &self.line[self.at..];
        match memchr2(b'"', b'\\', rest) {
            Some(end) if rest[end] == b'"' => {
                self.at += end + 1;
                Ok(&rest[..end])
            }
            _ => Err(Scanned::Unsure),
        }
    }

    /// A number as JSON writes it; possibly too large to be finite.
    #[inline]
    fn number(&mut self) -> Result<f64, Scanned> {
        let rest = &self.line[self.at..];
        let digits = rest.strip_prefix(b"-").unwrap_or(rest);
        let (value, length) = match digits {
            [b'0', b'0'..=b'9', ..] => return Err(Scanned::Unsure),
            [b'0'..=b'9', ..] => {
                fast_float2::parse_partial::<f64, _>(rest).map_err(|_| Scanned::Unsure)?
            }
            _ => return Err(Scanned::Unsure),
        };
        // `1.` and `1.e5` are numbers elsewhere, but not in JSON.
        let token = &rest[..length];
        let dot = token.iter().position(|&byte| byte == b'.');
        if dot.is_some_and(|dot| !token.get(dot + 1).is_some_and(u8::is_ascii_digit)) {
            return Err(Scanned::Unsure);
        }
        self.at += length;
        Ok(value)
    }

    /// Whether one of Python's words for non-finite numbers follows.
    fn not_finite(&self) -> Option<FaultKind> {
        let rest = &self.line[self.at..];
        let word = ["NaN", "Infinity", "-Infinity"]
            .into_iter()
            .find(|word| rest.starts_with(word.as_bytes()))?;
        let value = word.to_owned();
        Some(FaultKind::NotFinite { value })
    }

    #[inline]
    fn finite(&mut self, column: usize) -> Result<f64, Scanned> {
        let start = self.at;
        match self.number() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(value) => {
                let text = crate::fault::shown(&self.line[start..self.at]);
                Err(Scanned::Bad(Bad::at(column, refused_number(value, text))))
            }
            Err(unsure) => Err(match self.not_finite() {
                Some(kind) => Scanned::Bad(Bad::at(column, kind)),
                None => unsure,
            }),
        }
    }

    #[inline]
    fn read_value(
        &mut self,
        target: Target,
        column: usize,
        row: &mut LogRow,
    ) -> Result<(), Scanned> {
        match target {
            target if target.is_list() => {
                self.expect(b'[')?;
                let list = row.list(target);
                self.skip_blanks();
                if self.peek() == Some(b']') {
                    self.at += 1;
                    return Ok(());
                }
                loop {
                    self.skip_blanks();
                    list.push(self.finite(column)?);
                    if !self.comma_or(b']')? {
                        return Ok(());
                    }
                }
            }
            Target::Terminated | Target::Truncated => {
                let flag = self.flag()?;
                row.set_flag(target, flag);
                Ok(())
            }
            target if target.is_name() => {
                let name = match self.peek() {
                    Some(b'"') => self.string()?,
                    _ => {
                        let start = self.at;
                        self.number()?;
                        &self.line[start..self.at]
                    }
                };
                // Exponents are the only numbers whose text is not their name.
                if name.iter().any(|byte| matches!(byte, b'e' | b'E' | b'.')) {
                    return Err(Scanned::Unsure);
                }
                let id = value::episode(name);
                let id = id.map_err(|kind| Scanned::Bad(Bad::at(column, kind)))?;
                row.set_id(target, id, || shown(name));
                Ok(())
            }
            Target::Level { .. } => {
                let text = match self.peek() {
                    Some(b'"') => self.string()?,
                    _ => {
                        let start = self.at;
                        self.number()?;
                        let token = &self.line[start..self.at];
                        // As text these would be other levels.
                        if token.len() > LONGEST_PLAIN
                            || token.iter().any(|byte| b"eE".contains(byte))
                        {
                            return Err(Scanned::Unsure);
                        }
                        token
                    }
                };
                if !text.is_ascii() && std::str::from_utf8(text).is_err() {
                    return Err(Scanned::Unsure);
                }
                match row.set_level(target, text) {
                    Ok(()) => Ok(()),
                    Err(kind) => match row.miss(target, column, kind) {
                        Ok(()) => Ok(()),
                        Err(bad) => Err(Scanned::Bad(bad)),
                    },
                }
            }
            _ => {
                let value = self.finite(column)?;
                match row.set_number(target, value) {
                    true => Ok(()),
                    false => {
                        let kind = refused_number(value, value.to_string());
                        Err(Scanned::Bad(Bad::at(column, kind)))
                    }
                }
            }
        }
    }

    fn flag(&mut self) -> Result<bool, Scanned> {
        let rest = &self.line[self.at..];
        let words: [(&[u8], bool); 4] = [
            (b"false", false),
            (b"true", true),
            (b"0", false),
            (b"1", true),
        ];
        let (word, flag) = words
            .into_iter()
            .find(|(word, _)| rest.starts_with(word))
            .ok_or(Scanned::Unsure)?;
        self.at += word.len();
        Ok(flag)
    }

    fn skip_value(&mut self, depth: usize) -> Result<(), Scanned> {
        self.skip_blanks();
        let rest = &self.line[self.at..];
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'{' | b'[') if depth == 0 => Err(Scanned::Unsure),
            Some(open @ (b'{' | b'[')) => {
                let close = if open == b'{' { b'}' } else { b']' };
                self.at += 1;
                self.skip_blanks();
                if self.peek() == Some(close) {
                    self.at += 1;
                    return Ok(());
                }
                loop {
                    if open == b'{' {
                        self.string()?;
                        self.expect(b':')?;
                    }
                    self.skip_value(depth - 1)?;
                    if !self.comma_or(close)? {
                        return Ok(());
                    }
                }
            }
            Some(b't' | b'f' | b'n') => {
                let words: [&[u8]; 3] = [b"true", b"false", b"null"];
                let word = words.into_iter().find(|word| rest.starts_with(word));
                self.at += word.ok_or(Scanned::Unsure)?.len();
                Ok(())
            }
            _ => self.number().map(|_| ()),
        }
    }
}
