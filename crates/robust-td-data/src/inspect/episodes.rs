//! Tracks the episodes of a log and their ends.

use std::collections::HashSet;

use crate::inspect::stats::Running;
use crate::inspect::tally::Tally;
use crate::schema::Schema;
use crate::thinned::Thinned;

/// The maximum number of finished episodes of a file that are remembered, to detect one that resumes later.
const REMEMBERED: usize = 1 << 20;

/// The current episode.
#[derive(Debug, Clone)]
struct Open {
    episode: u64,
    rows: u64,
    terminated: bool,
    truncated: bool,
    after_end: u64,
    /// File and number of its last row.
    last: (usize, u64),
}

/// Statistics of the episodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Episodes {
    open: Option<Open>,
    /// The finished episodes of the current file; another file may use the same names again.
    finished: HashSet<u64>,
    file: usize,
    pub lengths: Running,
    /// The lengths of some episodes.
    pub sampled_lengths: Thinned,
    pub terminated: u64,
    pub truncated: u64,
    /// Lengths of terminated episodes.
    pub terminated_lengths: Running,
    /// Episodes that stop without a flag, at their last row.
    pub without_end: Tally,
    /// Rows that follow the end of their own episode.
    pub after_end: Tally,
    /// Episodes that resume after another one began.
    pub reopened: Tally,
}

/// The part of a row that matters for episodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EpisodeRow {
    pub episode: u64,
    pub terminated: bool,
    pub truncated: bool,
    pub place: (usize, u64),
}

impl Episodes {
    pub fn add(&mut self, schema: &Schema, row: EpisodeRow) {
        let goes_on = |open: &Open| match schema.episode {
            true => open.episode == row.episode,
            false => !open.terminated && !open.truncated,
        };
        if !self.open.as_ref().is_some_and(goes_on) {
            self.close();
            if row.place.0 != self.file {
                self.file = row.place.0;
                self.finished.clear();
            }
            if schema.episode && self.finished.contains(&row.episode) {
                self.reopened.hit(row.place);
            }
        }
        let open = self.open.get_or_insert(Open {
            episode: row.episode,
            rows: 0,
            terminated: false,
            truncated: false,
            after_end: 0,
            last: row.place,
        });
        if open.terminated || open.truncated {
            open.after_end += 1;
            // The first one may be the final observation, stored in its own row.
            if open.after_end > 1 {
                self.after_end.hit(row.place);
            }
        }
        open.rows += 1;
        open.terminated |= row.terminated;
        open.truncated |= row.truncated;
        open.last = row.place;
    }

    /// Ends the current episode.
    pub fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        self.sampled_lengths
            .consider(self.lengths.count(), [&[open.rows as f64]]);
        self.lengths.add(open.rows as f64);
        self.terminated += u64::from(open.terminated);
        self.truncated += u64::from(open.truncated && !open.terminated);
        if open.terminated {
            self.terminated_lengths.add(open.rows as f64);
        }
        if !open.terminated && !open.truncated {
            self.without_end.hit(open.last);
        }
        if self.finished.len() < REMEMBERED {
            self.finished.insert(open.episode);
        }
    }
}
