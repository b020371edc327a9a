//! Tracks the episodes of a log and their ends.

use std::collections::HashSet;

use crate::hash::mix;
use crate::inspect::stats::Running;
use crate::inspect::tally::Tally;
use crate::recent::{self, Recent};
use crate::schema::Schema;
use crate::thinned::Thinned;

/// The memory for open episodes, in bytes, and that of each.
const BYTES: u64 = 1 << 29;
const EACH: usize = 144;
/// The maximum number of names of a file that are looked for in the next one.
const REMEMBERED: usize = 1 << 16;

/// An open episode.
#[derive(Debug, Clone)]
struct Open {
    rows: u64,
    terminated: bool,
    truncated: bool,
    after_end: u64,
    /// File and number of its last row.
    last: (usize, u64),
    /// The hash of its last next observation.
    next: Option<u64>,
}

/// Statistics of the episodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Episodes {
    /// The episode of the last row, by name.
    open: Option<(u64, Open)>,
    others: Recent<Open>,
    file: usize,
    /// Whether rows of several episodes are interleaved in this file, and the names of those that had no end in an earlier one where they
    /// are.
    interleaved: bool,
    unfinished: HashSet<u64>,
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
    /// Names of unfinished episodes that occur again in the next file.
    pub across_files: Tally,
}

/// The part of a row that matters for episodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EpisodeRow {
    pub episode: u64,
    pub terminated: bool,
    pub truncated: bool,
    pub place: (usize, u64),
}

/// The row before, when the episode changes: the hash of its next observation.
type NextHash<'a> = &'a dyn Fn() -> Option<u64>;

impl Episodes {
    /// Adds a row. If its episode resumes after rows of another one, returns the file and number of its row before, and the hash of the
    /// next observation there.
    pub fn add(
        &mut self,
        schema: &Schema,
        row: EpisodeRow,
        next: NextHash<'_>,
    ) -> Option<((usize, u64), u64)> {
        let goes_on = |(name, open): &(u64, Open)| match schema.episode {
            true => *name == row.episode,
            false => !open.terminated && !open.truncated,
        };
        let mut resumed = None;
        let goes_on = self.open.as_ref().is_some_and(goes_on);
        if row.place.0 != self.file {
            self.end_file(!goes_on);
            self.file = row.place.0;
        }
        if !goes_on {
            resumed = self.change(schema, row, next);
        }
        let (_, open) = self.open.get_or_insert((
            row.episode,
            Open {
                rows: 0,
                terminated: false,
                truncated: false,
                after_end: 0,
                last: row.place,
                next: None,
            },
        ));
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
        resumed
    }

    /// Turns to another episode. One that has terminated is closed; the others may resume in the same file.
    fn change(
        &mut self,
        schema: &Schema,
        row: EpisodeRow,
        next: NextHash<'_>,
    ) -> Option<((usize, u64), u64)> {
        match self.open.take() {
            Some((name, mut open)) if schema.episode && !open.terminated => {
                if !open.truncated {
                    open.next = next();
                }
                let (mut others, limit) =
                    (std::mem::take(&mut self.others), recent::limit(BYTES, EACH));
                others.put(name, open, limit, |old| self.close(&old));
                self.others = others;
            }
            Some((_, open)) => self.close(&open),
            None => (),
        }
        if self.unfinished.remove(&row.episode) {
            self.across_files.hit(row.place);
        }
        let open = self.others.take(row.episode)?;
        self.interleaved = true;
        let before = open.next.map(|next| (open.last, next));
        self.open = Some((row.episode, open));
        before
    }

    /// Closes the episodes of a file, that of the last row only if asked.
    fn end_file(&mut self, all: bool) {
        self.unfinished.clear();
        let remembers = std::mem::take(&mut self.interleaved);
        let last = self.open.take_if(|_| all);
        let mut all: Vec<(u64, Open)> = self.others.drain().chain(last).collect();
        // In the order of their last rows.
        all.sort_by_key(|(_, open)| open.last);
        for (name, open) in all {
            let has_end = open.terminated || open.truncated;
            if remembers && !has_end && self.unfinished.len() < REMEMBERED {
                self.unfinished.insert(name);
            }
            self.close(&open);
        }
    }

    /// Ends all episodes.
    pub fn finish(&mut self) {
        self.end_file(true);
    }

    /// Ends an episode.
    fn close(&mut self, open: &Open) {
        self.sampled_lengths
            .consider(self.lengths.count(), [&[open.rows as f64]]);
        self.lengths.add(open.rows as f64);
        self.terminated += u64::from(open.terminated);
        self.truncated += u64::from(open.truncated && !open.terminated);
        if open.terminated {
            self.terminated_lengths.add(open.rows as f64);
        }
        if !open.terminated && !open.truncated {
            self.without_end.hit_before(open.last);
        }
    }
}

/// A number that stands for an observation.
pub(super) fn hash(observation: &[f64]) -> u64 {
    // The sum makes -0 and 0 the same.
    let bits = observation.iter().map(|x| (x + 0.0).to_bits());
    bits.fold(0, |hash, bits| mix(hash ^ bits))
}
