//! Collects the rows of each part of an episode, also where episodes are interleaved.

use super::losses::Row;
use crate::recent::{self, Recent};

/// The number of values that the rows of a part may hold.
const MOST_VALUES: u64 = 1 << 24;
/// The memory for the parts of other open episodes, in bytes.
const BYTES: u64 = 1 << 28;

/// Consecutive rows of an episode in one fold, with the predictions of all candidates before and after each.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    pub rows: Vec<Row>,
    pub here: Vec<f64>,
    pub next: Vec<f64>,
}

impl Part {
    /// Its rows from the last to the first, with their predictions.
    pub fn backwards(&self) -> impl Iterator<Item = (&Row, &[f64], &[f64])> {
        let candidates = (self.here.len() / self.rows.len().max(1)).max(1);
        let values = self.here.chunks_exact(candidates);
        let values = values.zip(self.next.chunks_exact(candidates));
        let rows = self.rows.iter().zip(values).rev();
        rows.map(|(row, (here, next))| (row, here, next))
    }
}

/// The parts that have not ended.
#[derive(Debug)]
pub(super) struct Parts {
    now: Part,
    run: u64,
    others: Recent<Part>,
    interleaved: bool,
    longest: usize,
    /// The number of parts that are kept.
    most: u64,
}

impl Parts {
    /// Parts of up to this number of rows, or fewer if they would take too much memory.
    pub fn new(candidates: usize, longest: f64, interleaved: bool) -> Self {
        let values = 2 * candidates as u64 + 8;
        // At discount 1 the cast saturates.
        let longest = (longest.ceil() as u64).clamp(1, MOST_VALUES / values);
        Self {
            now: Part::default(),
            run: 0,
            others: Recent::default(),
            interleaved,
            longest: longest as usize,
            most: recent::limit(BYTES, (8 * values * longest) as usize),
        }
    }

    /// Adds a row; `done` receives the parts that end.
    pub fn add(&mut self, row: Row, [here, next]: [&[f64]; 2], mut done: impl FnMut(&Part)) {
        if self.interleaved && row.run != self.run {
            let before = std::mem::take(&mut self.now);
            if !before.rows.is_empty() {
                self.others
                    .put(self.run, before, self.most, |old| done(&old));
            }
            self.now = self.others.take(row.run).unwrap_or_default();
        }
        self.run = row.run;
        let same = |last: &Row| (last.unit, last.fold) == (row.unit, row.fold);
        if row.restarts || !self.now.rows.last().is_none_or(same) {
            self.end(&mut done);
        }
        self.now.rows.push(row);
        self.now.here.extend_from_slice(here);
        self.now.next.extend_from_slice(next);
        if row.ends || self.now.rows.len() >= self.longest {
            self.end(&mut done);
        }
    }

    fn end(&mut self, done: &mut impl FnMut(&Part)) {
        if !self.now.rows.is_empty() {
            done(&self.now);
            self.now.rows.clear();
            self.now.here.clear();
            self.now.next.clear();
        }
    }

    /// Ends all parts.
    pub fn finish(mut self, mut done: impl FnMut(&Part)) {
        self.end(&mut done);
        self.others.drain().for_each(|(_, part)| done(&part));
    }
}
