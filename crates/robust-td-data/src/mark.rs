//! Marks the places where the nodes of a log start, so that any machine can read one of them.
//!
//! A mark holds no rows. The state of pairing at a row depends on the two rows before it and on a few counts, unless episodes are interleaved: a
//! reader that starts two rows earlier has it.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::blocks::{BLOCK, Index};
use crate::fold::FAN;
use crate::pairing::Pairing;
use crate::schema::Schema;
use crate::solved::gather::DENSE_CHUNK;
use crate::stored::Seek;

/// The number of transitions in a node, and of rows in a part of the first pass.
pub(crate) const NODE: u64 = FAN * DENSE_CHUNK;
/// The number of rows that determine the state of pairing.
pub(crate) const LEAD: u64 = 2;

/// A place from which a node can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    /// A file, and the number of a row there, from 1; if there is none, it is the first of the next file.
    pub file: usize,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub row: u64,
    /// The number of rows from there that only lead to the others.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub lead: u64,
    /// The number of transitions that rows up to these complete, and of episodes that start with them.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub before: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub runs: u64,
    /// The number of transitions before the node.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub start: u64,
}

impl Mark {
    /// The first row of a batch that is not before the mark.
    pub fn first(&self, batch: &Batch) -> usize {
        match batch.file.cmp(&self.file) {
            std::cmp::Ordering::Less => batch.len(),
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Equal => batch.rows.partition_point(|row| *row < self.row),
        }
    }
}

/// The way from a mark to its node.
#[derive(Debug)]
pub(crate) struct Approach {
    lead: u64,
    skip: u64,
    mark: Mark,
}

impl Approach {
    pub fn new(mark: Mark) -> Self {
        Self {
            lead: mark.lead,
            skip: mark.start.saturating_sub(mark.before),
            mark,
        }
    }

    /// Pairs the rows of a batch from index `from` up to the node; returns the index of its first row, or none if it starts after the batch.
    pub fn advance(
        &mut self,
        pairing: &mut Pairing,
        schema: &Schema,
        batch: &Batch,
        mut from: usize,
    ) -> Option<usize> {
        if self.lead > 0 {
            let end = batch.len().min(from + self.lead as usize);
            let rows = batch.copied(from..end);
            pairing.push(schema, &rows, 0, |_| ControlFlow::Continue(()));
            self.lead -= (end - from) as u64;
            let Mark { before, runs, .. } = self.mark;
            pairing.counted(before, before, runs);
            from = end;
        }
        if self.skip > 0 && from < batch.len() {
            let skip = &mut self.skip;
            from = pairing.push(schema, batch, from, |_| {
                *skip -= 1;
                match *skip {
                    0 => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            });
        }
        (self.lead == 0 && self.skip == 0).then_some(from)
    }
}

/// The marks of a log that is being read.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    marks: Vec<(Mark, usize)>,
    /// The number of transitions up to the next one.
    left: u64,
    /// The places of the last two rows.
    last: Vec<(usize, u64)>,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            marks: vec![(Mark::default(), 0)],
            left: NODE,
            last: Vec::new(),
        }
    }
}

impl Marks {
    /// Pairs the rows of a batch, and marks where nodes start.
    pub fn follow(&mut self, pairing: &mut Pairing, schema: &Schema, batch: &Batch) {
        let mut from = 0;
        while from < batch.len() || (from == 0 && batch.gap_after) {
            let left = &mut self.left;
            let (mut here, mut on, mut begun) = (0, None, 0);
            from = pairing.push(schema, batch, from, |step| {
                *left -= 1;
                // The last row may complete two transitions, the second because it terminates.
                if on != Some(step.row) {
                    (here, begun) = (0, 0);
                }
                on = Some(step.row);
                here += 1;
                begun += u64::from(step.starts_episode());
                match *left {
                    0 => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            });
            if self.left > 0 {
                break;
            }
            self.left = NODE;
            // Logs of interleaved rows are not read in parts.
            if pairing.resumed() == 0 {
                // Before the row that completes the last transition.
                let row = on.unwrap_or(0);
                let before = (row.saturating_sub(LEAD as usize)..row).map(|i| place(batch, i));
                let missing = (LEAD as usize).saturating_sub(row).min(self.last.len());
                let earlier = self.last[self.last.len() - missing..].iter().copied();
                let lead: Vec<(usize, u64)> = earlier.chain(before).collect();
                let (file, number) = lead.first().copied().unwrap_or_else(|| place(batch, row));
                let mark = Mark {
                    file,
                    row: number,
                    lead: lead.len() as u64,
                    before: pairing.transitions() - here,
                    runs: pairing.runs() - begun,
                    start: pairing.transitions(),
                };
                self.marks.push((mark, batch.file));
            }
        }
        self.last.extend(
            (batch.len().saturating_sub(LEAD as usize)..batch.len()).map(|i| place(batch, i)),
        );
        let extra = self.last.len().saturating_sub(LEAD as usize);
        self.last.drain(..extra);
    }

    /// The starts of the nodes of a log with this number of transitions, and the files where they start.
    pub fn finish(mut self, transitions: u64) -> Vec<(Mark, usize)> {
        self.marks.retain(|(mark, _)| mark.start < transitions);
        self.marks
    }
}

fn place(batch: &Batch, i: usize) -> (usize, u64) {
    (batch.file, batch.rows[i])
}

/// Where the rows of files are, in numbers of the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileRows {
    /// The number of rows before each file, and of all.
    before: Vec<u64>,
    /// Places in each file, in order, if it is text.
    seeks: Vec<Vec<Seek>>,
}

impl FileRows {
    /// Files with these numbers of rows, and places in them.
    pub fn new(files: Vec<(u64, Vec<Seek>)>) -> Self {
        let mut sum = 0_u64;
        let mut before = vec![0];
        let mut all = Vec::new();
        for (rows, seeks) in files {
            sum = sum.saturating_add(rows);
            before.push(sum);
            all.push(seeks);
        }
        Self { before, seeks: all }
    }

    /// The last place before a row of a file, in numbers from 1.
    pub fn seek(&self, file: usize, row: u64) -> Option<Seek> {
        let seeks = self.seeks.get(file)?;
        let after = seeks.partition_point(|place| place.rows < row);
        seeks.get(after.checked_sub(1)?).copied()
    }

    /// The number of all rows.
    pub fn count(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// The file of a row, in numbers of the log from 0, and its number there from 1.
    pub fn place(&self, row: u64) -> (usize, u64) {
        let file = self.before.partition_point(|before| *before <= row);
        let file = file.saturating_sub(1);
        let before = self.before.get(file).copied().unwrap_or(0);
        (file, row - before + 1)
    }
}

/// Where the nodes of a log start.
#[derive(Debug, Clone)]
pub(crate) enum Places {
    /// Marks, with the files where their nodes start.
    Marked(Vec<(Mark, usize)>),
    /// Found from counts in blocks of rows.
    Counted {
        files: FileRows,
        index: Index,
        transitions: u64,
    },
}

impl Default for Places {
    fn default() -> Self {
        Self::Marked(Vec::new())
    }
}

impl Places {
    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        match self {
            Self::Marked(marks) => marks.len(),
            Self::Counted { transitions, .. } => transitions.div_ceil(NODE) as usize,
        }
    }

    /// The mark of a node, and the last file that it may have rows of; none means the last of all.
    pub fn node(&self, k: usize) -> Option<(Mark, Option<usize>)> {
        match self {
            Self::Marked(marks) => {
                let (mark, _) = marks.get(k)?;
                Some((*mark, marks.get(k + 1).map(|(_, file)| *file)))
            }
            Self::Counted { files, index, .. } if k < self.nodes() => {
                let start = k as u64 * NODE;
                let next = (k + 1 < self.nodes()).then(|| {
                    let end = index.find(start + NODE).row + BLOCK;
                    files.place(end.min(files.count().saturating_sub(1))).0
                });
                Some((self.at(start)?, next))
            }
            Self::Counted { .. } => None,
        }
    }

    /// The last place in a text file before a mark.
    pub fn seek(&self, mark: &Mark) -> Option<Seek> {
        match self {
            Self::Marked(_) => None,
            Self::Counted { files, .. } => files.seek(mark.file, mark.row),
        }
    }

    /// A place from which the transition with this number can be read.
    pub fn at(&self, start: u64) -> Option<Mark> {
        Some(match self {
            Self::Marked(marks) => {
                let (mark, _) = marks.get((start / NODE) as usize)?;
                Mark { start, ..*mark }
            }
            Self::Counted { files, index, .. } => {
                let found = index.find(start);
                let lead = found.row.min(LEAD);
                let (file, row) = files.place(found.row - lead);
                Mark {
                    file,
                    row,
                    lead,
                    before: found.transitions,
                    runs: found.runs,
                    start,
                }
            }
        })
    }

    /// A number of transitions that includes the one with this number, or, with `starts`, the start of the next episode from there on, if there is
    /// one; and the last file that these may have rows of. None means the last of all.
    pub fn reach(&self, until: u64, starts: bool) -> (u64, Option<usize>) {
        match self {
            Self::Counted { files, index, .. } => {
                let found = index.after(until, starts);
                // Files are opened when the one before ends.
                let last = (found.row + BLOCK).min(files.count().saturating_sub(1));
                (found.transitions, Some(files.place(last).0))
            }
            Self::Marked(_) => (u64::MAX, None),
        }
    }
}
