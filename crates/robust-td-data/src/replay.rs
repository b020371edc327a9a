//! Reads a log several times: from its files, or from memory if its rows take little of it.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::ahead::ReadAhead;
use crate::bad_rows::BadRows;
use crate::batch::Batch;
use crate::chunks::PassCounts;
use crate::elsewhere::Engine;
use crate::elsewhere::tasks::Window;
use crate::error::{Error, Result};
use crate::labels::Labels;
use crate::log::Log;
use crate::mark::{Mark, NODE, Places};
use crate::memory;
use crate::monitor::Monitor;
use crate::options::Purpose;
use crate::origin::Origin;
use crate::path_name::path_of;
use crate::reader::Reader;
use crate::reading::{Reading, Version};
use crate::schema::Schema;

/// A log that is read again and again.
pub(crate) struct Replay<'a> {
    log: &'a mut Log,
    /// The number of threads; with more than one, another reads ahead.
    threads: usize,
    kept: Kept,
    /// The number of bytes of rows to keep in memory; known after a pass.
    most: Option<usize>,
    schema: Schema,
    files: Vec<String>,
    bad_rows: BadRows,
    /// The start of the only node that is read.
    mark: Option<Mark>,
    /// The number of the first transition after it.
    end: u64,
    /// What computes the nodes elsewhere, and where they start.
    elsewhere: Option<Elsewhere<'a>>,
}

/// What computes the nodes of a log elsewhere.
pub(crate) struct Elsewhere<'a> {
    pub engine: &'a mut dyn Engine,
    pub places: Arc<Places>,
    /// The files, when they were looked at first.
    pub versions: Arc<[Version]>,
    /// The rows and transitions of a pass.
    pub counts: PassCounts,
}

enum Kept {
    /// Nothing has been read yet.
    Unread,
    /// All rows.
    Rows(Rows),
    /// The rows need too much memory.
    TooMany,
}

/// Rows in memory, which is freed on several threads: the system takes long to take back much of it.
struct Rows {
    batches: Vec<Arc<Batch>>,
    threads: usize,
}

impl Drop for Rows {
    fn drop(&mut self) {
        let each = self.batches.len().div_ceil(self.threads.max(1)).max(1);
        std::thread::scope(|scope| {
            while self.batches.len() > each {
                let part = self.batches.split_off(self.batches.len() - each);
                // Without a thread, it is freed here.
                let _ = std::thread::Builder::new().spawn_scoped(scope, || drop(part));
            }
            self.batches.clear();
        });
    }
}

impl<'a> Replay<'a> {
    /// A log before its first pass; with one thread, the caller's reads.
    pub fn new(log: &'a mut Log, threads: usize) -> Self {
        Self {
            log,
            threads,
            kept: Kept::Unread,
            most: None,
            schema: Schema::default(),
            files: Vec::new(),
            bad_rows: BadRows::default(),
            mark: None,
            end: u64::MAX,
            elsewhere: None,
        }
    }

    /// One node of a log.
    pub fn of_node(log: &'a mut Log, mark: Mark, threads: usize) -> Self {
        Self::of_transitions(log, mark, mark.start.saturating_add(NODE), threads)
    }

    /// The transitions of a log from a mark up to, but not including, the one with the number `end`.
    pub fn of_transitions(log: &'a mut Log, mark: Mark, end: u64, threads: usize) -> Self {
        log.read_from(mark.file, mark.row);
        Self {
            mark: Some(mark),
            end,
            // Only this pass is made.
            kept: Kept::TooMany,
            ..Self::new(log, threads)
        }
    }

    /// Some rows of a log.
    pub fn of_window(log: &'a mut Log, window: Window, threads: usize) -> Self {
        log.read_from(window.file, window.row);
        Self {
            kept: Kept::TooMany,
            ..Self::new(log, threads)
        }
    }

    /// A log whose nodes are computed elsewhere.
    pub fn elsewhere(log: &'a mut Log, threads: usize, engine: &'a mut dyn Engine) -> Self {
        Self {
            elsewhere: Some(Elsewhere {
                engine,
                places: Arc::default(),
                versions: Arc::default(),
                counts: PassCounts::default(),
            }),
            ..Self::new(log, threads)
        }
    }

    /// The start of the only node that is read.
    pub fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref()
    }

    /// The number of the first transition after it.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// What computes the nodes elsewhere, and how to read them there; known after a pass.
    pub fn parts(&mut self) -> Option<(&mut Elsewhere<'a>, Reading)> {
        let reading = self.log.reading(&self.files, &self.schema);
        let found = self.elsewhere.as_mut()?;
        if found.versions.is_empty() {
            let versions = self.files.iter().map(|file| self.log.version(file));
            found.versions = versions.collect();
        }
        Some((found, reading))
    }

    /// Whether nodes are computed elsewhere.
    pub fn is_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// Whether the first pass is made there, too: where bad rows are skipped, rows cannot be counted before they are read.
    pub fn surveys_elsewhere(&self) -> bool {
        self.is_elsewhere() && !self.log.skips()
    }

    /// Looks at the first rows; returns the length of observations.
    ///
    /// # Errors
    /// Those of reading, and a log without rows.
    pub fn look(&mut self) -> Result<usize> {
        let mut reader = self.log.open_with(Purpose::Evaluate, 1)?;
        self.schema = reader.schema().clone();
        self.files = reader.files().to_vec();
        let mut batch = Batch::default();
        while batch.is_empty() {
            if !reader.read(&mut batch)? {
                return Err(Error::NoInput {
                    what: "the files contain no usable rows",
                });
            }
        }
        Ok(batch.dimension)
    }

    /// Rows that were read already.
    pub fn of_rows(log: &'a mut Log, rows: Vec<Arc<Batch>>, reader: &ReadAhead) -> Self {
        Self {
            log,
            threads: 1,
            kept: Kept::Rows(Rows {
                batches: rows,
                threads: 1,
            }),
            most: None,
            schema: reader.schema().clone(),
            files: reader.files().to_vec(),
            bad_rows: reader.bad_rows().clone(),
            mark: None,
            end: u64::MAX,
            elsewhere: None,
        }
    }

    /// The number of threads for work on its parts.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The number of threads, up to `threads`, for which chunks of this number of values fit in memory, one in work and one waiting, as far as
    /// that is known.
    pub fn threads_for(&self, values: u64, threads: usize) -> usize {
        let bytes = values.saturating_mul(8 * 2).max(1);
        self.most.map_or(threads, |most| {
            threads.min((most as u64 / bytes).max(1) as usize)
        })
    }

    /// The number of bytes of rows to keep in memory.
    fn memory_for_rows(&mut self) -> usize {
        match self.most {
            Some(most) => most,
            None => *self.most.insert(memory::for_rows(self.stored())),
        }
    }

    /// The length of the files in bytes, as they are stored, if the log is one of files; known after a pass.
    pub fn stored(&self) -> Option<u64> {
        let files = Some(&self.files).filter(|files| !files.is_empty())?;
        files.iter().try_fold(0_u64, |sum, file| {
            let length = std::fs::metadata(path_of(file)).ok()?.len();
            Some(sum.saturating_add(length))
        })
    }

    /// The roles that have columns; known after a pass.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The texts of categories; known after a pass.
    pub fn labels(&self) -> &Labels {
        self.log.labels()
    }

    /// The columns of observations of the given length; known after a pass.
    pub fn columns(&self, inputs: usize) -> Vec<String> {
        (0..inputs)
            .map(|k| self.schema.feature_name(k, inputs))
            .collect()
    }

    /// The names of the inputs; known after a pass.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The files that were read, and how; known after a pass.
    pub fn origin(&self) -> Origin {
        self.log.origin(&self.files)
    }

    /// What counts the rows and stops the work.
    pub fn monitor(&self) -> &Monitor {
        self.log.monitored()
    }

    /// The bad rows that were skipped; known after a pass.
    pub fn bad_rows(&self) -> &BadRows {
        &self.bad_rows
    }

    /// Passes all batches to `visit`, in order, until it breaks.
    ///
    /// # Errors
    /// Those of reading and of `visit`.
    pub fn for_each(
        &mut self,
        mut visit: impl FnMut(&Schema, &Arc<Batch>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        if let Kept::Rows(rows) = &self.kept {
            for batch in &rows.batches {
                self.log.monitored().check()?;
                self.log.monitored().add_rows(batch.len());
                if visit(&self.schema, batch)?.is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let reader = self.log.open_with(Purpose::Evaluate, self.threads)?;
        let mut reader = match self.threads > 1 {
            true => Batches::Ahead(Box::new(ReadAhead::start(reader)?)),
            false => Batches::Here(Box::new(reader)),
        };
        self.schema = reader.schema().clone();
        self.files = reader.files().to_vec();
        let mut keeping = matches!(self.kept, Kept::Unread).then(|| (Vec::new(), 0));
        let most = self.memory_for_rows();
        let mut batch = Batch::default();
        while reader.read(&mut batch)? {
            let shared = Arc::new(std::mem::take(&mut batch));
            if visit(&self.schema, &shared)?.is_break() {
                return Ok(());
            }
            if let Some((batches, bytes)) = &mut keeping {
                *bytes += shared.bytes();
                batches.push(shared);
                if *bytes > most {
                    keeping = None;
                }
            }
        }
        self.bad_rows = reader.bad_rows().clone();
        self.kept = match keeping {
            Some((batches, _)) => Kept::Rows(Rows {
                batches,
                threads: self.threads,
            }),
            None => Kept::TooMany,
        };
        Ok(())
    }
}

/// A reader on this thread or another.
enum Batches {
    Here(Box<Reader>),
    Ahead(Box<ReadAhead>),
}

impl Batches {
    fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        match self {
            Self::Here(reader) => reader.read(batch),
            Self::Ahead(reader) => reader.read(batch),
        }
    }

    fn schema(&self) -> &Schema {
        match self {
            Self::Here(reader) => reader.schema(),
            Self::Ahead(reader) => reader.schema(),
        }
    }

    fn files(&self) -> &[String] {
        match self {
            Self::Here(reader) => reader.files(),
            Self::Ahead(reader) => reader.files(),
        }
    }

    fn bad_rows(&self) -> &BadRows {
        match self {
            Self::Here(reader) => reader.bad_rows(),
            Self::Ahead(reader) => reader.bad_rows(),
        }
    }
}
