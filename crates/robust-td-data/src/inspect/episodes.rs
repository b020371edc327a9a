//! Tracks the episodes of a log and their ends.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::hash::mix;
use crate::inspect::stats::Lengths;
use crate::inspect::tally::Tally;
use crate::recent::{self, Recent};
use crate::schema::Schema;
use crate::thinned::Thinned;

/// The memory for open episodes, in bytes, unless the length of the files allows less, and that of each in a table that is being enlarged.
const BYTES: u64 = 1 << 30;
const EACH: usize = 256;
/// The maximum number of names of a file that are looked for in the next one.
const REMEMBERED: usize = 1 << 16;

/// An open episode.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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

impl Open {
    fn has_end(&self) -> bool {
        self.terminated || self.truncated
    }

    /// Adds a row; counts those that follow the end.
    fn push(&mut self, row: EpisodeRow, after_end: &mut Tally) {
        if self.has_end() {
            self.after_end += 1;
            // The first one may be the final observation, stored in its own row.
            if self.after_end > 1 {
                after_end.hit(row.place);
            }
        }
        self.rows += 1;
        self.terminated |= row.terminated;
        self.truncated |= row.truncated;
        self.last = row.place;
    }

    /// Adds the rows that continue it in the next part of the log.
    fn extend(&mut self, head: &Head, after_end: &mut Tally) {
        let later = &head.open;
        match self.has_end() {
            true => {
                let [first, second] = head.places;
                let (count, first) = match self.after_end {
                    0 => (later.rows.saturating_sub(1), second),
                    _ => (later.rows, first),
                };
                after_end.merge(Tally {
                    count,
                    first: first.filter(|_| count > 0),
                });
                self.after_end += later.rows;
            }
            false => {
                after_end.merge(head.after_end);
                self.after_end += later.after_end;
            }
        }
        self.rows += later.rows;
        self.terminated |= later.terminated;
        self.truncated |= later.truncated;
        self.last = later.last;
    }
}

/// The first rows of a part of a log, if they continue the episode of the row before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Head {
    /// The name of that episode.
    name: u64,
    /// Whether no row of another episode followed.
    is_open: bool,
    open: Open,
    /// The places of its first two rows.
    places: [Option<(usize, u64)>; 2],
    after_end: Tally,
}

/// Statistics of the episodes; those of parts of a log can be merged unless episodes are interleaved.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Episodes {
    /// Set where the log does not start here.
    head: Option<Head>,
    /// The episode of the last row, by name.
    open: Option<(u64, Open)>,
    #[serde(skip)]
    others: Recent<Open>,
    #[serde(skip)]
    file: usize,
    /// Whether rows of several episodes are interleaved in this file, and the names of those that had no end in an earlier one where they
    /// are.
    #[serde(skip)]
    interleaved: bool,
    #[serde(skip)]
    unfinished: HashSet<u64>,
    pub lengths: Lengths,
    /// The lengths of some episodes.
    pub sampled_lengths: Thinned,
    pub terminated: u64,
    pub truncated: u64,
    /// Lengths of terminated episodes.
    pub terminated_lengths: Lengths,
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
    /// The statistics of a part of a log, after this row.
    pub fn after(row: EpisodeRow) -> Self {
        Self {
            head: Some(Head {
                name: row.episode,
                is_open: true,
                open: Open {
                    terminated: row.terminated,
                    truncated: row.truncated,
                    ..Open::default()
                },
                places: [None; 2],
                after_end: Tally::default(),
            }),
            ..Self::default()
        }
    }

    /// Whether a row continues the episode of before this part.
    fn continues(&mut self, schema: &Schema, row: EpisodeRow) -> bool {
        let Some(head) = self.head.as_mut().filter(|head| head.is_open) else {
            return false;
        };
        head.is_open = match schema.episode {
            true => head.name == row.episode,
            false => !head.open.has_end(),
        };
        if head.open.rows == 0 {
            // These were the flags of the row before.
            (head.open.terminated, head.open.truncated) = (false, false);
        }
        if head.is_open {
            let place = head.places.iter_mut().find(|place| place.is_none());
            if let Some(place) = place {
                *place = Some(row.place);
            }
            head.open.push(row, &mut head.after_end);
        }
        head.is_open
    }

    /// Ends a part of a log: episodes other than that of the last row do not resume.
    pub fn end_part(&mut self) {
        let others: Vec<Open> = self.others.drain().map(|(_, open)| open).collect();
        others.iter().for_each(|open| self.close(open));
    }

    /// Adds the episodes of the next part of the log, after the end of this one.
    pub fn merge(&mut self, later: Self) {
        let Self {
            head,
            open,
            after_end,
            ..
        } = self;
        if let Some(next) = &later.head {
            let continued = next.open.rows > 0;
            match (&mut *open, &mut *head) {
                (Some((_, open)), _) if continued => open.extend(next, after_end),
                (None, Some(head)) if continued => {
                    let Head {
                        open,
                        places,
                        after_end,
                        ..
                    } = head;
                    for place in next.places.into_iter().flatten() {
                        if let Some(empty) = places.iter_mut().find(|own| own.is_none()) {
                            *empty = Some(place);
                        }
                    }
                    open.extend(next, after_end);
                }
                _ => {}
            }
            if !next.is_open {
                match (open.take(), head) {
                    (Some((_, open)), _) => self.close(&open),
                    (None, Some(head)) => head.is_open = false,
                    (None, None) => {}
                }
            }
        }
        self.open = later.open.or(self.open.take());
        self.lengths.merge(later.lengths);
        self.sampled_lengths.merge(&later.sampled_lengths);
        self.terminated += later.terminated;
        self.truncated += later.truncated;
        self.terminated_lengths.merge(later.terminated_lengths);
        self.without_end.merge(later.without_end);
        self.after_end.merge(later.after_end);
    }

    /// Whether its sizes can be used.
    pub fn fits(&self) -> bool {
        self.sampled_lengths.fits(1)
    }

    /// Adds a row. If its episode resumes after rows of another one, returns the file and number of its row before, and the hash of the
    /// next observation there.
    pub fn add(
        &mut self,
        schema: &Schema,
        row: EpisodeRow,
        next: NextHash<'_>,
    ) -> Option<((usize, u64), u64)> {
        if self.continues(schema, row) {
            return None;
        }
        let goes_on = |(name, open): &(u64, Open)| match schema.episode {
            true => *name == row.episode,
            false => !open.has_end(),
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
        let (_, open) = (self.open).get_or_insert_with(|| (row.episode, Open::default()));
        open.push(row, &mut self.after_end);
        resumed
    }

    /// Whether the episode of the last row has this name, is known from its start, and has no end so far.
    pub fn is_open(&self, schema: &Schema, name: u64) -> bool {
        let is_head = self.head.as_ref().is_some_and(|head| head.is_open);
        let is_here =
            |(own, open): &(u64, Open)| (!schema.episode || *own == name) && !open.has_end();
        !is_head && self.open.as_ref().is_some_and(is_here)
    }

    /// Adds rows of that episode in the same file that do not end it.
    pub fn add_plain(&mut self, rows: u64, last: (usize, u64)) {
        if let Some((_, open)) = &mut self.open {
            open.rows += rows;
            open.last = last;
        }
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
                let bytes = schema.for_episodes.map_or(BYTES, |bytes| bytes.min(BYTES));
                let limit = recent::limit(bytes, EACH);
                let mut others = std::mem::take(&mut self.others);
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
            if remembers && !open.has_end() && self.unfinished.len() < REMEMBERED {
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
        // Whichever is closed first, the same episodes are in the sample.
        let (file, row) = open.last;
        self.sampled_lengths
            .consider(mix(file as u64) ^ row, [&[open.rows as f64]]);
        self.lengths.add(open.rows);
        self.terminated += u64::from(open.terminated);
        self.truncated += u64::from(open.truncated && !open.terminated);
        if open.terminated {
            self.terminated_lengths.add(open.rows);
        }
        if !open.has_end() {
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
