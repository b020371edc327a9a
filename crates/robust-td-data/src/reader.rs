//! Streams batches of validated rows from a list of inputs.

use std::path::PathBuf;

use crate::bad_rows::BadRows;
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprints;
use crate::kept::Keep;
use crate::labels::Labels;
use crate::layout::{Layout, Wanted};
use crate::memory;
use crate::monitor::Monitor;
use crate::observed::Observed;
use crate::options::{ReadOptions, Selection};
use crate::read::arrow::ArrowRows;
use crate::read::csv::CsvRows;
use crate::read::ndjson::NdjsonRows;
use crate::read::{parquet, table};
use crate::reading::fixed;
use crate::row::Ledger;
use crate::schema::Schema;
use crate::source::{Format, Opened, Opening, Source};
use crate::stored::{Seek, Stores};

/// Reads a log in one pass, in memory that does not depend on its size.
///
/// ```
/// use robust_td_data::{Batch, Compression, Format, ReadOptions, Reader, Source};
///
/// let text = "obs_0,obs_1,reward,terminated\n1,2,0.5,false\n3,4,1.5,true\n";
/// let source = Source::stream("log", Format::Csv, Compression::None, text.as_bytes())?;
/// let mut reader = Reader::open(vec![source], ReadOptions::default())?;
/// let mut batch = Batch::default();
/// while reader.read(&mut batch)? {
///     assert_eq!(batch.obs(1), [3.0, 4.0]);
///     assert_eq!(batch.rewards(), [0.5, 1.5]);
/// }
/// # Ok::<(), robust_td_data::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    names: Vec<String>,
    waiting: std::vec::IntoIter<Source>,
    current: Option<Rows>,
    wanted: Wanted,
    schema: Schema,
    ledger: Ledger,
    monitor: Monitor,
    /// For decoding.
    threads: usize,
    file: usize,
    fingerprints: Fingerprints,
    /// The last row of the current file so far.
    row: u64,
    /// The path of the current file, unless it is a stream or a table.
    path: Option<PathBuf>,
    /// The file that is opened first, and the first row there that is needed.
    from: (usize, u64),
    /// A place in that file, before that row.
    seek: Option<Seek>,
    /// The length of all files, if they are on this machine.
    stored: Option<u64>,
    /// Whether the current file is text that can be read again.
    seeks: bool,
    stores: Stores,
}

/// The length of a text file from which on threads are worth starting.
const SMALLEST: u64 = 1 << 20;

enum Rows {
    Csv(Box<CsvRows>),
    Ndjson(Box<NdjsonRows>),
    Arrow(Box<ArrowRows>),
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Rows").field(self.layout()).finish()
    }
}

impl Rows {
    fn open(
        source: Source,
        opening: Opening<'_>,
        wanted: &Wanted,
        ledger: &mut Ledger,
        (threads, first_row, seek): (usize, u64, Option<Seek>),
    ) -> Result<(Self, bool)> {
        let batch_rows = ledger.batch_rows;
        let (name, format) = (source.name().to_owned(), source.format());
        let length = source.path().and_then(|path| path.metadata().ok());
        let length = length.map_or(0, |found| found.len());
        let (input, stored) = match source.open(opening)? {
            Opened::File(file) => {
                let size = (batch_rows, threads, first_row);
                let rows = parquet::open(&name, file, wanted, size)?;
                return Ok((Self::Arrow(Box::new(rows)), false));
            }
            Opened::Table(rows) => {
                let rows = table::open(&name, rows, wanted, batch_rows)?;
                return Ok((Self::Arrow(Box::new(rows)), false));
            }
            Opened::Text(input, stored) => (input, stored),
        };
        let mut rows = match format {
            Format::Ndjson => {
                Self::Ndjson(Box::new(NdjsonRows::open(&name, input, wanted, ledger)?))
            }
            _ => {
                // What is read before a jump is not used.
                let threads = match seek.is_none() && length >= SMALLEST {
                    true => threads,
                    false => 1,
                };
                Self::Csv(Box::new(CsvRows::open(&name, input, wanted, threads)?))
            }
        };
        if let (Some(place), Some(stored)) = (seek, &stored) {
            let input = stored
                .read_from(place.byte, opening.monitor)
                .map_err(|source| Error::Open { file: name, source })?;
            opening.monitor.check()?;
            match &mut rows {
                Self::Csv(rows) => rows.jump(input, place),
                Self::Ndjson(rows) => rows.jump(input, place),
                Self::Arrow(_) => {}
            }
        }
        Ok((rows, stored.is_some()))
    }

    fn layout(&self) -> &Layout {
        match self {
            Self::Csv(rows) => rows.layout(),
            Self::Ndjson(rows) => rows.layout(),
            Self::Arrow(rows) => rows.layout(),
        }
    }

    fn fill(&mut self, batch: &mut Batch, ledger: &mut Ledger) -> Result<bool> {
        match self {
            Self::Csv(rows) => rows.fill(batch, ledger),
            Self::Ndjson(rows) => rows.fill(batch, ledger),
            Self::Arrow(rows) => rows.fill(batch, ledger),
        }
    }
}

impl Reader {
    /// Opens the first input and resolves its columns.
    ///
    /// # Errors
    /// When there is no input, the first cannot be opened, or its columns do not match.
    pub fn open(sources: Vec<Source>, options: ReadOptions) -> Result<Self> {
        Self::open_with(sources, options, Selection::default())
    }

    /// As [`open`](Self::open), for the columns of a log.
    pub(crate) fn open_with(
        sources: Vec<Source>,
        options: ReadOptions,
        selection: Selection,
    ) -> Result<Self> {
        options.dialect.check()?;
        let names = sources.iter().map(|s| s.name().to_owned()).collect();
        let stored = sources.iter().try_fold(0_u64, |sum, source| {
            let length = source.path()?.metadata().ok()?.len();
            Some(sum.saturating_add(length))
        });
        let (first, _) = selection.from;
        let mut waiting = sources.into_iter();
        waiting.by_ref().take(first).for_each(drop);
        let mut reader = Self {
            names,
            stored,
            waiting,
            current: None,
            wanted: Wanted {
                columns: options.columns,
                preset: options.preset,
                purpose: options.purpose,
                dialect: options.dialect,
                observed: selection.observed,
                labels: selection.labels,
                looks_ahead: false,
                keep: selection.keep,
                actions: options.actions,
            },
            schema: Schema::default(),
            ledger: Ledger {
                batch_rows: options.batch_rows.max(1),
                eager: false,
                dimension: options.dimension,
                bad: BadRows::allowing(options.skip_bad_rows),
                gap: false,
            },
            monitor: options.monitor,
            threads: options.threads,
            file: first,
            fingerprints: selection.fingerprints,
            row: 0,
            path: None,
            from: selection.from,
            seek: selection.seek,
            seeks: false,
            stores: selection.stores,
        };
        if !reader.open_next()? {
            return Err(Error::NoInput {
                what: "no input file is given",
            });
        }
        Ok(reader)
    }

    /// Replaces the batch by the next one; false at the end of the log.
    ///
    /// # Errors
    /// When a row is bad and no more may be skipped, or a file cannot be read does not match the others, or reading is cancelled.
    pub fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.clear(self.file);
        self.monitor.check()?;
        loop {
            let Some(rows) = &mut self.current else {
                return Ok(false);
            };
            let more = rows.fill(batch, &mut self.ledger)?;
            self.monitor.add_rows(batch.len());
            self.row = batch.rows.last().copied().unwrap_or(self.row);
            if !more {
                if let Some(path) = &self.path {
                    self.fingerprints
                        .end(&self.names[self.file], path, self.row)?;
                }
                let file = self.file;
                // A batch has rows of one file only; those of the next file go to the next batch.
                if !self.open_next()? {
                    batch.gap_after = self.ledger.gap;
                    return Ok(!batch.is_empty() || batch.gap_after);
                }
                if batch.is_empty() {
                    batch.clear(self.file);
                    continue;
                }
                batch.file = file;
            }
            return Ok(true);
        }
    }

    /// The roles that have columns in the log.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The length of observations once known: immediately for numbered columns, after the first batch for
    /// lists.
    #[must_use]
    pub fn dimension(&self) -> Option<usize> {
        self.ledger.dimension
    }

    /// The maximum number of rows per batch.
    pub(crate) fn batch_rows(&self) -> usize {
        self.ledger.most_rows(self.ledger.dimension)
    }

    /// Whether the current input is a stream.
    pub(crate) fn is_stream(&self) -> bool {
        self.ledger.eager
    }

    /// The texts of categories.
    pub(crate) fn labels(&self) -> &Labels {
        &self.wanted.labels
    }

    /// The number of rows of the current file, if the file says it.
    pub(crate) fn stored_rows(&self) -> Option<u64> {
        match &self.current {
            Some(Rows::Arrow(rows)) => rows.stored(),
            _ => None,
        }
    }

    /// The place after the rows so far, in a text file that can be read from there on.
    pub(crate) fn place(&self) -> Option<Seek> {
        match self.current.as_ref().filter(|_| self.seeks)? {
            Rows::Csv(rows) => rows.place(),
            Rows::Ndjson(rows) => rows.place(),
            Rows::Arrow(_) => None,
        }
    }

    /// The bad rows skipped so far.
    #[must_use]
    pub fn bad_rows(&self) -> &BadRows {
        &self.ledger.bad
    }

    /// What counts the rows and stops the reading.
    pub(crate) fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// The names of the inputs, in the order of [`Batch::file`].
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.names
    }

    fn open_next(&mut self) -> Result<bool> {
        self.current = None;
        let Some(source) = self.waiting.next() else {
            return Ok(false);
        };
        self.file = self.names.len() - self.waiting.len() - 1;
        self.wanted.looks_ahead = !source.is_stream();
        self.ledger.eager = source.is_stream();
        self.row = 0;
        self.path = source.path().map(Into::into);
        let opening = Opening {
            fingerprints: &self.fingerprints,
            monitor: &self.monitor,
            stores: &self.stores,
        };
        // A gap that bad rows leave would be lost with them.
        let first_row = match self.from {
            (file, row) if file == self.file && !self.ledger.bad.may_skip() => row,
            _ => 0,
        };
        let (wanted, ledger) = (&self.wanted, &mut self.ledger);
        let seek = self.seek.filter(|place| place.rows < first_row);
        let size = (self.threads, first_row, seek);
        let (rows, seeks) = Rows::open(source, opening, wanted, ledger, size)?;
        self.seeks = seeks;
        self.check(rows.layout())?;
        self.current = Some(rows);
        Ok(true)
    }

    /// Checks that a file has the same roles and number of features as the files before it.
    fn check(&mut self, layout: &Layout) -> Result<()> {
        let first = match self.file {
            0 => "the model".to_owned(),
            _ => self.names[0].clone(),
        };
        let changed = |found, expected| Error::SchemaChanged {
            file: self.names[self.file].clone(),
            found,
            first,
            expected,
        };
        match (layout.dimension, self.ledger.dimension) {
            (Some(found), Some(expected)) if found != expected => {
                let words = |count| format!("{count} observation columns");
                return Err(changed(words(found), words(expected)));
            }
            (Some(found), None) => self.ledger.dimension = Some(found),
            _ => {}
        }
        if self.file == self.from.0 {
            self.schema = Schema {
                for_episodes: self.stored.map(memory::for_episodes),
                ..layout.schema.clone()
            };
            if self.wanted.keep == Keep::All {
                self.wanted.keep = Keep::Columns(layout.kept_names());
            }
            // What the first file has is what the others must have.
            if let Some(inputs) = fixed(&self.wanted.observed, &self.schema) {
                self.wanted.observed = Observed::Fixed {
                    inputs: inputs.into(),
                    by_name: true,
                };
            }
        } else if let Some((found, expected)) = layout.schema.difference(&self.schema) {
            return Err(changed(found, expected));
        }
        Ok(())
    }
}
