//! The tasks of a pass, made when they are needed.

use std::ops::RangeInclusive;
use std::sync::Arc;

use robust_td_core::sealed::{self, Kind};
use serde::{Deserialize, Serialize};

use super::misfit::misfit;
use crate::batch::Batch;
use crate::error::Result;
use crate::mark::{FileRows, LEAD, Mark, NODE, Places};
use crate::reading::Version;
use crate::stored::Seek;

const TASK: Kind = Kind(b"node    ");
/// The number of files whose rows a task counts.
const FILES: usize = 16;

/// A part of a pass.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Files whose rows are counted.
    Files { first: usize, last: usize },
    /// Rows of the log.
    Rows { window: Window, last: usize },
    /// A node, and the last file that it may have rows of.
    Node { mark: Mark, last: usize },
    /// What one of several learners learns from.
    Shard { shard: Shard, last: usize },
}

/// Consecutive transitions of a log, or the episodes that start with one of these.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Shard {
    /// Its number.
    pub number: u64,
    /// Where its transitions start.
    pub mark: Mark,
    /// The number of the first transition after them.
    pub until: u64,
    /// The number of transitions that are read for them.
    pub end: u64,
}

impl Task {
    /// A task, the versions of its files, and a place in the first of them if that is text.
    ///
    /// # Errors
    /// Bytes that are damaged or of another version or job.
    pub fn open(job: sealed::Job, bytes: &[u8]) -> Result<(Self, Vec<Version>, Option<Seek>)> {
        type All = (Task, Vec<Version>, Option<Seek>);
        let (task, versions, seek): All = sealed::open(TASK, job, bytes)?;
        let whole = match &task {
            Self::Files { .. } => true,
            Self::Rows { window, .. } => {
                let end = window.before.checked_add(window.rows);
                window.lead <= LEAD.min(window.before) && window.rows <= NODE && end.is_some()
            }
            Self::Node { mark, .. } => is_whole(mark),
            Self::Shard { shard, .. } => {
                is_whole(&shard.mark) && shard.mark.start <= shard.until && shard.until <= shard.end
            }
        };
        match whole {
            true => Ok((task, versions, seek)),
            false => Err(misfit("a task has impossible numbers")),
        }
    }

    /// The files that it may read.
    pub fn files(&self) -> RangeInclusive<usize> {
        match self {
            Self::Files { first, last } => *first..=*last,
            Self::Rows { window, last } => window.file..=*last,
            Self::Node { mark, last } => mark.file..=*last,
            Self::Shard { shard, last } => shard.mark.file..=*last,
        }
    }
}

/// Whether the numbers of a mark are possible.
fn is_whole(mark: &Mark) -> bool {
    mark.lead <= LEAD && mark.before <= mark.start
}

/// Consecutive rows of a log.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Window {
    /// The file and the number, from 1, of the first row that is read.
    pub file: usize,
    pub row: u64,
    /// The number of rows from there that are before the window.
    pub lead: u64,
    /// The number of rows of the log before the window.
    pub before: u64,
    /// The number of its rows.
    pub rows: u64,
}

impl Window {
    /// All rows of a log.
    pub const ALL: Self = Self {
        file: 0,
        row: 0,
        lead: 0,
        before: 0,
        rows: u64::MAX,
    };

    /// Takes what it needs of a batch: the rows that lead to it, and its own rows.
    pub fn take(&mut self, batch: &Arc<Batch>) -> (Option<Batch>, Option<Arc<Batch>>) {
        let (mark, length) = (
            Mark {
                file: self.file,
                row: self.row,
                ..Mark::default()
            },
            batch.len(),
        );
        let from = mark.first(batch);
        let start = length.min(from + self.lead as usize);
        let lead = (start > from).then(|| batch.copied(from..start));
        self.lead -= (start - from) as u64;
        let end =
            length.min(start.saturating_add(usize::try_from(self.rows).unwrap_or(usize::MAX)));
        self.rows -= (end - start) as u64;
        let own = match (start, end) {
            (0, end) if end == length => Some(batch.clone()),
            (start, end) if start < end => Some(Arc::new(batch.copied(start..end))),
            _ => None,
        };
        (lead, own)
    }
}

/// The tasks of a job, in order; small, and made when they are needed.
#[derive(Debug, Clone)]
pub struct Tasks {
    job: sealed::Job,
    /// Of all files.
    versions: Arc<[Version]>,
    list: List,
}

#[derive(Debug, Clone)]
pub(crate) enum List {
    Files,
    Rows(Arc<FileRows>),
    Nodes(Arc<Places>),
    Shards(Arc<Places>, Shards),
}

/// How a log is shared among learners.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shards {
    /// The number of learners.
    pub count: u64,
    /// The number of transitions.
    pub transitions: u64,
    /// Whether episodes are not divided.
    pub whole: bool,
}

impl Shards {
    /// The number of the first transition of a shard.
    fn start(&self, number: u64) -> u64 {
        (u128::from(self.transitions) * u128::from(number) / u128::from(self.count)) as u64
    }
}

impl Tasks {
    pub(crate) fn new(job: sealed::Job, versions: Arc<[Version]>, list: List) -> Self {
        Self {
            job,
            versions,
            list,
        }
    }

    /// Their number.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.list {
            List::Files => self.versions.len().div_ceil(FILES),
            List::Rows(files) => files.count().div_ceil(NODE) as usize,
            List::Nodes(places) => places.nodes(),
            List::Shards(_, shards) => shards.count as usize,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a task.
    #[must_use]
    pub fn get(&self, k: usize) -> Option<Vec<u8>> {
        if k >= self.len() {
            return None;
        }
        let task = match &self.list {
            List::Files => Task::Files {
                first: k * FILES,
                last: (self.versions.len() - 1).min((k + 1) * FILES - 1),
            },
            List::Rows(files) => {
                let before = k as u64 * NODE;
                let rows = NODE.min(files.count() - before);
                let lead = before.min(LEAD);
                let (file, row) = files.place(before - lead);
                let (last, _) = files.place(before + rows - 1);
                let window = Window {
                    file,
                    row,
                    lead,
                    before,
                    rows,
                };
                Task::Rows { window, last }
            }
            List::Nodes(places) => {
                let (mark, last) = places.node(k)?;
                let last = last.unwrap_or(self.versions.len().saturating_sub(1));
                Task::Node { mark, last }
            }
            List::Shards(places, shards) => {
                let number = k as u64;
                let (from, until) = (shards.start(number), shards.start(number + 1));
                let (end, last) = match number + 1 == shards.count {
                    true => (shards.transitions, None),
                    false => places.reach(until, shards.whole),
                };
                let shard = Shard {
                    number,
                    mark: places.at(from)?,
                    until,
                    end: end.min(shards.transitions),
                };
                let last = last.unwrap_or(self.versions.len().saturating_sub(1));
                Task::Shard { shard, last }
            }
        };
        let seek = match (&self.list, &task) {
            (List::Rows(files), Task::Rows { window, .. }) => files.seek(window.file, window.row),
            (List::Nodes(places), Task::Node { mark, .. }) => places.seek(mark),
            (List::Shards(places, _), Task::Shard { shard, .. }) => places.seek(&shard.mark),
            _ => None,
        };
        let versions = self.versions.get(task.files()).unwrap_or_default();
        Some(sealed::seal(TASK, self.job, &(task, versions, seek)))
    }
}
