//! Splits a stream of bytes into lines with one buffer.

use std::io::Read;

use memchr::memchr;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::read::Blocks;
use crate::stored::Seek;

/// The number of bytes read at once, and the initial buffer size.
const CHUNK: usize = 1 << 18;
/// The maximum length of a line; a longer one is taken as damaged.
const LONGEST: usize = 1 << 26;

/// The lines of a text file, numbered from 1.
pub(crate) struct Lines {
    input: Input,
    file: String,
    buffer: Vec<u8>,
    filled: usize,
    ended: bool,
    /// The current piece without its last line feed, and where the next one starts.
    start: usize,
    end: usize,
    next: usize,
    line: u64,
    lines: u64,
    /// The number of bytes before the buffer.
    before: u64,
}

/// Where bytes come from.
enum Input {
    Whole(Box<dyn Read + Send>),
    Blocks(Box<Blocks>),
}

impl Lines {
    pub fn new(file: &str, input: Box<dyn Read + Send>) -> Self {
        Self {
            input: Input::Whole(input),
            file: file.to_owned(),
            buffer: vec![0; CHUNK],
            filled: 0,
            ended: false,
            start: 0,
            end: 0,
            next: 0,
            line: 0,
            lines: 1,
            before: 0,
        }
    }

    /// The lines from a place on.
    pub fn from(file: &str, input: Box<dyn Read + Send>, place: Seek) -> Self {
        Self {
            line: place.line.saturating_sub(1),
            before: place.byte,
            ..Self::new(file, input)
        }
    }

    /// The place after the current piece and this number of rows.
    pub fn place(&self, rows: u64) -> Seek {
        Seek {
            rows,
            byte: self.before + self.next as u64,
            line: self.line + self.lines,
        }
    }

    /// Advances to the next line; false at the end of the file. `row` is the last good row, for errors.
    pub fn advance(&mut self, row: u64) -> Result<bool> {
        self.line += self.lines;
        self.lines = 0;
        self.start = self.next;
        self.end = self.next;
        self.extend(row)
    }

    /// Extends the current piece by the following line; false at the end of the file.
    pub fn extend(&mut self, row: u64) -> Result<bool> {
        let mut scanned = self.next - self.start;
        loop {
            let from = self.start + scanned;
            if let Some(at) = memchr(b'\n', &self.buffer[from..self.filled]) {
                self.end = from + at;
                self.next = self.end + 1;
                self.lines += 1;
                return Ok(true);
            }
            scanned = self.filled - self.start;
            if self.ended {
                let rest = self.filled > self.next;
                self.end = self.filled;
                self.next = self.filled;
                self.lines += u64::from(rest);
                return Ok(rest);
            }
            self.read_more(row)?;
        }
    }

    /// Whether the next line is here already, so that advancing to it does not wait for more input.
    pub fn has_next(&self) -> bool {
        memchr(b'\n', &self.buffer[self.next..self.filled]).is_some()
    }

    /// The current piece without its line end.
    pub fn bytes(&self) -> &[u8] {
        let bytes = &self.buffer[self.start..self.end];
        bytes.strip_suffix(b"\r").unwrap_or(bytes)
    }

    /// What follows the current piece: this many bytes or more, if there are as many.
    pub fn ahead(&mut self, bytes: usize) -> Result<&[u8]> {
        while !self.ended && self.filled - self.next < bytes {
            self.read_more(0)?;
        }
        Ok(&self.buffer[self.next..self.filled])
    }

    /// The number of the first line of the current piece.
    pub fn number(&self) -> u64 {
        self.line
    }

    /// Cuts what follows the current piece into blocks that `start` makes of the input and the bytes that were read already.
    pub fn in_blocks(
        &mut self,
        start: impl FnOnce(Box<dyn Read + Send>, Vec<u8>) -> std::io::Result<Blocks>,
    ) -> Result<()> {
        let whole = Input::Whole(Box::new(std::io::empty()));
        let Input::Whole(input) = std::mem::replace(&mut self.input, whole) else {
            return Ok(());
        };
        let rest = self.buffer[self.next..self.filled].to_vec();
        self.filled = self.next;
        let blocks = start(input, rest).map_err(|source| self.failed(0, source))?;
        self.input = Input::Blocks(Box::new(blocks));
        Ok(())
    }

    /// The rows of the next block, if it was parsed and all lines before it are used.
    pub fn next_block(&mut self, row: u64) -> Result<Option<Batch>> {
        let (next, filled) = (self.next, self.filled);
        let Input::Blocks(blocks) = &mut self.input else {
            return Ok(None);
        };
        if next < filled || !blocks.is_between() {
            return Ok(None);
        }
        match blocks.next() {
            Err(source) => Err(self.failed(row, source)),
            Ok(None) => Ok(None),
            Ok(Some(block)) => {
                match &block.rows {
                    // The last line of the block is the current piece.
                    Some(rows) => {
                        self.line += self.lines + rows.len() as u64 - 1;
                        self.lines = 1;
                        self.before += block.bytes.len() as u64;
                    }
                    None => blocks.put_back(block.bytes),
                }
                Ok(block.rows)
            }
        }
    }

    fn failed(&self, row: u64, source: std::io::Error) -> Error {
        Error::Read {
            file: self.file.clone(),
            row,
            source,
        }
    }

    fn read_more(&mut self, row: u64) -> Result<()> {
        if self.start > 0 {
            self.before += self.start as u64;
            self.buffer.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.next -= self.start;
            self.end -= self.start;
            self.start = 0;
        }
        if self.filled == self.buffer.len() {
            if self.filled >= LONGEST {
                return Err(Error::LongLine {
                    file: self.file.clone(),
                    line: self.line,
                    limit: LONGEST,
                });
            }
            self.buffer.resize(2 * self.filled, 0);
        }
        loop {
            let space = &mut self.buffer[self.filled..];
            let read = match &mut self.input {
                Input::Whole(input) => input.read(space),
                Input::Blocks(blocks) => blocks.read(space),
            };
            match read {
                Ok(count) => {
                    self.ended = count == 0;
                    self.filled += count;
                    return Ok(());
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.failed(row, source)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a few bytes at a time, like a pipe.
    struct Trickle(Vec<u8>, usize);

    impl Read for Trickle {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let count = out.len().min(3).min(self.0.len() - self.1);
            out[..count].copy_from_slice(&self.0[self.1..][..count]);
            self.1 += count;
            Ok(count)
        }
    }

    #[test]
    fn lines_are_numbered_and_can_be_joined() {
        let text = b"one\r\n\ntwo\nthree".to_vec();
        let mut lines = Lines::new("x", Box::new(Trickle(text, 0)));
        let mut seen = Vec::new();
        while lines.advance(0).unwrap() {
            seen.push((lines.number(), lines.bytes().to_vec()));
            if lines.bytes() == b"two" {
                assert!(lines.extend(0).unwrap());
                assert_eq!((lines.number(), lines.bytes()), (3, &b"two\nthree"[..]));
                assert!(!lines.extend(0).unwrap());
                assert_eq!(lines.bytes(), b"two\nthree");
            }
        }
        let expected = [
            (1, b"one".to_vec()),
            (2, b"".to_vec()),
            (3, b"two".to_vec()),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn lines_are_read_on_from_a_place() {
        let text = b"one\n\ntwo\nthree\nfour".to_vec();
        let mut lines = Lines::new("x", Box::new(Trickle(text.clone(), 0)));
        let mut rest = Vec::new();
        while lines.advance(0).unwrap() {
            let place = lines.place(7);
            let at = place.byte as usize;
            let mut later = Lines::from("x", Box::new(Trickle(text.clone(), at)), place);
            if later.advance(0).unwrap() {
                rest.push((place.rows, later.number(), later.bytes().to_vec()));
            }
        }
        let expected = [
            (7, 2, &b""[..]),
            (7, 3, b"two"),
            (7, 4, b"three"),
            (7, 5, b"four"),
        ];
        assert_eq!(
            rest,
            expected.map(|(rows, line, text)| (rows, line, text.to_vec()))
        );
    }
}
