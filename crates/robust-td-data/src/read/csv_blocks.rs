//! Parses blocks of lines of a CSV file on several threads, ahead of their use.
//!
//! A block that has anything but plain records (a quote, a comment, a blank line, a bad cell) is not parsed here: its bytes are read line by
//! line, as without threads. So rows, messages and line numbers do not depend on the number of threads.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use memchr::{memchr, memchr_iter, memrchr};

use crate::batch::Batch;
use crate::layout::{Layout, Target};
use crate::read::csv::{Style, read_fields};
use crate::read::csv_header::{Comments, is_blank};
use crate::row::LogRow;

/// The number of bytes in a block, or a little more.
const BLOCK: usize = 1 << 18;
/// The maximum number of threads, which bounds the memory of blocks under way.
const MOST_THREADS: usize = 8;
/// The number of blocks per thread that are under way.
const AHEAD: usize = 2;

/// Lines that were read, and their rows if all are plain records.
pub(crate) struct Block {
    pub bytes: Vec<u8>,
    pub rows: Option<Batch>,
}

/// Parses blocks of plain records.
pub(crate) struct Parser {
    style: Style,
    comments: Comments,
    targets: Vec<Target>,
    row: LogRow,
}

impl Parser {
    /// `None` if records must be read one after the other: they have lists, categories or policies, or are copied.
    pub(super) fn of(layout: &Layout, style: Style, comments: Comments) -> Option<Self> {
        let row = LogRow::of(layout);
        let suits = layout.targets.iter().all(|target| target.is_independent())
            && layout.dimension == Some(row.obs.len())
            && layout.kept.is_empty()
            && !row.obs.is_empty()
            && !row.choice.is_given();
        suits.then(|| Self {
            style,
            comments,
            targets: layout.targets.clone(),
            row,
        })
    }

    /// The rows of whole lines, without their numbers; `None` if one is not a plain record.
    fn rows(&self, bytes: &[u8]) -> Option<Batch> {
        if memchr(b'"', bytes).is_some() {
            return None;
        }
        let (mut row, mut batch) = (self.row.clone(), Batch::default());
        batch.reserve(memchr_iter(b'\n', bytes).count() + 1, &row);
        let mut from = 0;
        while from < bytes.len() {
            let end = memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |at| from + at);
            let line = &bytes[from..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let separator = self.style.separator;
            if is_blank(line, separator) || self.comments.is(line, separator) {
                return None;
            }
            read_fields(line, &self.style, &self.targets, &mut row).ok()?;
            if !row.is_whole() {
                return None;
            }
            batch.push(&row, 0, false);
            from = end + 1;
        }
        Some(batch)
    }
}

/// Bytes, and whether they are whole lines.
type Piece = (Vec<u8>, bool);
type Job = (Piece, SyncSender<Block>);

/// The rest of a file in blocks of lines, some of them under way.
pub(crate) struct Blocks {
    input: Box<dyn Read + Send>,
    /// What follows the last line end of the blocks so far.
    rest: Vec<u8>,
    ended: bool,
    jobs: SyncSender<Job>,
    under_way: VecDeque<io::Result<Receiver<Block>>>,
    most: usize,
    /// Bytes that are read line by line.
    pending: Cursor<Vec<u8>>,
    /// Why the input could not be read further than the last block.
    failure: Option<io::Error>,
}

impl Blocks {
    /// Starts the threads.
    pub fn start(
        input: Box<dyn Read + Send>,
        rest: Vec<u8>,
        parser: Parser,
        threads: usize,
    ) -> io::Result<Self> {
        let threads = threads.min(MOST_THREADS);
        let most = AHEAD * threads;
        let (jobs, waiting) = sync_channel::<Job>(most);
        let waiting = Arc::new((Mutex::new(waiting), parser));
        for _ in 0..threads {
            let waiting = waiting.clone();
            std::thread::Builder::new()
                .name("lines".to_owned())
                .spawn(move || parse_all(&waiting.0, &waiting.1))?;
        }
        Ok(Self {
            input,
            rest,
            ended: false,
            jobs,
            under_way: VecDeque::new(),
            most,
            pending: Cursor::default(),
            failure: None,
        })
    }

    /// Whether no byte is to be read line by line.
    pub fn is_between(&self) -> bool {
        self.pending.position() == self.pending.get_ref().len() as u64
    }

    /// The next block; none at the end.
    pub fn next(&mut self) -> io::Result<Option<Block>> {
        while !self.ended && self.under_way.len() < self.most {
            let job = self
                .read_block()
                .map(|block| block.map(|bytes| self.submit(bytes)));
            match job {
                Ok(None) => self.ended = true,
                Ok(Some(job)) => self.under_way.push_back(job),
                Err(error) => {
                    self.ended = true;
                    self.under_way.push_back(Err(error));
                }
            }
        }
        let Some(first) = self.under_way.pop_front() else {
            return Ok(None);
        };
        first?.recv().map(Some).map_err(|_| stopped())
    }

    /// Leaves a block to be read line by line.
    pub fn put_back(&mut self, bytes: Vec<u8>) {
        self.pending = Cursor::new(bytes);
    }

    fn submit(&self, read: Piece) -> io::Result<Receiver<Block>> {
        let (sender, receiver) = sync_channel(1);
        self.jobs.send((read, sender)).map_err(|_| stopped())?;
        Ok(receiver)
    }

    /// Reads whole lines, or part of a very long one; none at the end.
    fn read_block(&mut self) -> io::Result<Option<Piece>> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            let before = bytes.len();
            let more = BLOCK.saturating_sub(before).max(BLOCK / 4) as u64;
            let count = match (&mut self.input).take(more).read_to_end(&mut bytes) {
                Ok(count) => count,
                Err(error) if bytes.is_empty() => return Err(error),
                Err(error) => {
                    // The rows before it come first.
                    self.failure = Some(error);
                    return Ok(Some((bytes, false)));
                }
            };
            if count == 0 {
                return Ok((!bytes.is_empty()).then_some((bytes, true)));
            }
            let end = memrchr(b'\n', &bytes[before..]).map(|at| before + at + 1);
            let end = end.or_else(|| memrchr(b'\n', &bytes[..before]).map(|at| at + 1));
            match end {
                Some(end) => {
                    self.rest = bytes.split_off(end);
                    return Ok(Some((bytes, true)));
                }
                // Its length is checked where lines are read.
                None if bytes.len() >= 4 * BLOCK => return Ok(Some((bytes, false))),
                None => {}
            }
        }
    }
}

impl Read for Blocks {
    /// Bytes to be read line by line: those put back, or those of the next block.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.is_between() {
            let next = self.next()?;
            self.pending = Cursor::new(next.map_or(Vec::new(), |block| block.bytes));
        }
        self.pending.read(out)
    }
}

fn stopped() -> io::Error {
    io::Error::other("parsing stopped before the end of the file")
}

/// Parses until there are no more blocks.
fn parse_all(waiting: &Mutex<Receiver<Job>>, parser: &Parser) {
    loop {
        let next = waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(((bytes, is_whole), sender)) = next else {
            return;
        };
        let rows = is_whole.then(|| parser.rows(&bytes)).flatten();
        // The receiver is gone if reading was stopped.
        let _ = sender.send(Block { bytes, rows });
    }
}
