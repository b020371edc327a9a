//! Turns from one episode to another, and closes episodes at the ends of files and at gaps.

use serde::{Deserialize, Serialize};

use super::Pairing;
use super::waiting::Waiting;
use crate::batch::Batch;
use crate::recent::{self, Noted};
use crate::schema::Schema;

/// The memory of an open episode beside its observation, in a table that is being enlarged.
const EACH: usize = 384;

/// The state of an open episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Open {
    /// A row waiting for its successor.
    pub waiting: Option<Waiting>,
    pub restart: bool,
    /// Whether it restarts because of a gap.
    pub gap: bool,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub run: u64,
    /// The number of gaps in the log before its last row.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub gaps: u64,
}

/// Open episodes that a fork needs.
#[derive(Debug)]
pub(crate) struct NotedEpisodes(Noted<Open>);

impl Pairing {
    /// Turns to the episode of row i, from another one whose last row may wait. If it resumes, returns the row that waits there.
    pub(super) fn change(
        &mut self,
        schema: &Schema,
        (batch, i): (&Batch, usize),
        episode: Option<u64>,
        waiting: Option<Waiting>,
    ) -> Option<Option<Waiting>> {
        self.changes += 1;
        // A gap before a row that waits is in the past.
        let gap = batch.gaps[i] || (self.now.gap && waiting.is_none());
        let is_open = waiting.is_some() || !self.now.restart || self.now.gap;
        if let Some(before) = self.episode.filter(|_| is_open) {
            let each = EACH + 8 * waiting.as_ref().map_or(0, Waiting::len);
            let bytes = self.bytes.min(schema.for_episodes.unwrap_or(u64::MAX));
            let (limit, now) = (recent::limit(bytes, each), self.now.clone());
            self.waiting += u64::from(waiting.is_some());
            let open = Open {
                waiting,
                gaps: self.gaps,
                ..now
            };
            let Self {
                others,
                waiting,
                left_out,
                closed,
                ..
            } = self;
            others.put(before, open, limit, |old| {
                *closed += 1;
                *waiting -= u64::from(old.waiting.is_some());
                *left_out += u64::from(old.waiting.is_some());
            });
        }
        self.gaps += u64::from(batch.gaps[i]);
        self.episode = episode;
        let Some(mut open) = episode.and_then(|episode| self.others.take(episode)) else {
            self.now.restart = true;
            self.now.gap = gap;
            self.now.run = self.runs.saturating_sub(1);
            return None;
        };
        self.resumed += 1;
        let waiting = open.waiting.take();
        self.waiting -= u64::from(waiting.is_some());
        self.now = open;
        if self.now.gaps != self.gaps {
            self.left_out += u64::from(waiting.is_some());
            (self.now.restart, self.now.gap) = (true, true);
        }
        match self.now.restart && waiting.is_none() || self.now.gaps != self.gaps {
            true => None,
            false => Some(waiting),
        }
    }

    /// A copy without the open episodes, which pairs the rows that follow as this one does once it has what this one
    /// [notes](Self::noted) meanwhile.
    pub(crate) fn fork(&mut self) -> Self {
        Self {
            others: self.others.fork(),
            episode: self.episode,
            now: self.now.clone(),
            ..*self
        }
    }

    /// The open episodes that resumed since the fork.
    pub(crate) fn noted(&mut self) -> NotedEpisodes {
        NotedEpisodes(self.others.noted())
    }

    /// Adds what was noted to a fork.
    pub(crate) fn load(&mut self, noted: NotedEpisodes) {
        self.others.load(noted.0);
    }

    /// Declares that the next row is in another file.
    pub(crate) fn expect_file(&mut self) {
        self.file = usize::MAX;
    }

    /// Closes the open episodes of a file; that of the last row only if it does not go on.
    pub(super) fn end_file(&mut self, goes_on: bool) {
        self.left_out += std::mem::take(&mut self.waiting);
        self.others.drain().for_each(drop);
        if !goes_on {
            let waiting = self.now.waiting.take().is_some();
            self.left_out += u64::from(waiting);
            self.now.gap &= !waiting;
            self.now.restart = true;
        }
    }

    /// Declares that the next row does not follow the last one, as at the start of another pass.
    pub fn start_anew(&mut self) {
        self.end_file(false);
        self.break_off();
        self.episode = None;
        self.now.gap = false;
    }

    /// Drops the waiting rows: their successors may be bad.
    pub(super) fn break_off(&mut self) {
        self.gaps += 1;
        self.left_out += u64::from(self.now.waiting.take().is_some());
        (self.now.restart, self.now.gap) = (true, true);
    }
}
