//! Pairs rows into transitions.
//!
//! With next observations each row is a transition. Without them, a row's successor is the next row of the same episode:
//!
//! | the row is | with an episode column | without |
//! |---|---|---|
//! | terminated | used at once: nothing follows, the value after it is 0 | the same |
//! | truncated | used if the same episode has a next row, to bootstrap from; then restarts | left out |
//! | neither | used if the same episode has a next row | used with the next row |
//!
//! A row that is both terminated and truncated counts as terminated.
//!
//! Rows of several episodes may be interleaved: the last row of each open episode waits for its successor. What a row of an
//! episode is that has rows before it, but not directly before it:
//!
//! | the episode | the row |
//! |---|---|
//! | has not terminated, in the same file | continues it |
//! | has terminated | starts a new episode that has the same name |
//! | is in an earlier file | starts a new episode: files may use the same names again. Only the episode of an earlier file's last row may continue in the first row of the next |
//! | was closed, because too many were open | starts a new episode |
//!
//! So the transitions are those of the file sorted by episode (in a stable order), except for closed episodes.
//!
//! Skipped bad rows leave a gap, and they may belong to any episode. Rows are not paired across it: the waiting rows of all open
//! episodes have an unknown successor and are left out, and the transition of each after the gap restarts.

mod episodes;
mod step;
mod stretch;
mod waiting;

use std::ops::ControlFlow;

use robust_td_core::learner::{Features, Outcome};
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::recent::Recent;
use crate::schema::Schema;
use episodes::Open;
pub use step::Step;
pub(crate) use step::StepRows;
use stretch::OneByOne;
pub(crate) use stretch::{Count, StepSink, Stretch, plain_until};
use waiting::{RowView, Waiting};

/// The memory for open episodes, in bytes.
const BYTES: u64 = 5 << 28;
/// The same on a stream, whose state is saved.
const STREAM_BYTES: u64 = 3 << 27;

/// The state of pairing between two rows; saved and restored, it resumes with the same transitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pairing {
    /// The episode of the last row, and its state.
    episode: Option<u64>,
    now: Open,
    /// The other open episodes, and the number of them with a waiting row.
    others: Recent<Open>,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    waiting: u64,
    /// The memory for them.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    bytes: u64,
    /// The file of the last row.
    file: usize,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    gaps: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    rows: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    transitions: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    left_out: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    runs: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    changes: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    resumed: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    closed: u64,
    ends: bool,
}

impl Default for Pairing {
    fn default() -> Self {
        Self {
            episode: None,
            now: Open {
                waiting: None,
                restart: true,
                gap: false,
                run: 0,
                gaps: 0,
            },
            others: Recent::default(),
            waiting: 0,
            bytes: BYTES,
            file: 0,
            gaps: 0,
            rows: 0,
            transitions: 0,
            left_out: 0,
            runs: 0,
            changes: 0,
            resumed: 0,
            closed: 0,
            ends: false,
        }
    }
}

impl Pairing {
    /// The state before the first row of a stream, of which fewer open episodes are kept.
    #[must_use]
    pub fn of_stream() -> Self {
        Self {
            bytes: STREAM_BYTES,
            ..Self::default()
        }
    }

    /// The state before the first row, with this number of bytes for open episodes.
    #[cfg(test)]
    pub(crate) fn with_memory(bytes: u64) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }

    /// The number of rows consumed.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of transitions produced.
    #[must_use]
    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// The number of rows left out because nothing follows them, excluding those that are still waiting.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The number of rows that wait for a successor, one at most for each open episode.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting + u64::from(self.now.waiting.is_some())
    }

    /// The number of rows without a transition if the log ends here: with the transitions, these are all rows.
    #[must_use]
    pub fn without_transition(&self) -> u64 {
        self.left_out + self.waiting()
    }

    /// The number of episodes, as far as the log shows their first rows.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// The number of times that an episode resumed after rows of another one.
    #[must_use]
    pub fn resumed(&self) -> u64 {
        self.resumed
    }

    /// The number of open episodes that were closed because too many were open.
    #[must_use]
    pub fn closed(&self) -> u64 {
        self.closed
    }

    /// The mean number of rows of an episode that are directly after one another.
    pub(crate) fn rows_together(&self) -> f64 {
        self.rows as f64 / self.changes.max(1) as f64
    }

    /// Whether some row was terminated or truncated.
    pub(crate) fn has_ends(&self) -> bool {
        self.ends
    }

    /// Consumes the rows of a batch from index `from` and yields the transitions that they complete.
    ///
    /// Stops when `visit` breaks, and returns the index of the first row not consumed; resuming there
    /// continues as if there had been no stop. (A row whose observation completed the last transition is not
    /// consumed by that: it is the first remaining one.)
    pub fn push(
        &mut self,
        schema: &Schema,
        batch: &Batch,
        from: usize,
        visit: impl FnMut(Step<'_>) -> ControlFlow<()>,
    ) -> usize {
        self.push_to(schema, batch, from, &mut OneByOne(visit))
    }

    /// As [`push`](Self::push), to a sink, with several transitions at a time where nothing distinguishes them.
    pub(crate) fn push_to(
        &mut self,
        schema: &Schema,
        batch: &Batch,
        from: usize,
        sink: &mut impl StepSink,
    ) -> usize {
        if batch.file != self.file && from < batch.len() {
            let episode = schema.episode.then(|| batch.episodes[from]);
            self.end_file(episode == self.episode);
            self.file = batch.file;
        }
        let stop = match schema.next_obs {
            true => self.push_complete(schema, batch, from, sink),
            false => self.push_successors(schema, batch, from, sink),
        };
        if stop == batch.len() && batch.gap_after {
            self.break_off();
        }
        stop
    }

    /// Rows that contain their next observation.
    fn push_complete(
        &mut self,
        schema: &Schema,
        batch: &Batch,
        from: usize,
        sink: &mut impl StepSink,
    ) -> usize {
        let mut i = from;
        while i < batch.len() {
            let episode = schema.episode.then(|| batch.episodes[i]);
            if episode == self.episode
                && let Some((end, flow)) = self.push_stretch(schema, batch, i, 0, sink)
            {
                i = end;
                if flow.is_break() {
                    return i;
                }
                continue;
            }
            let next = Features::Dense(&batch.next_obs[i * batch.dimension..][..batch.dimension]);
            let outcome = match (batch.terminated[i], batch.truncated[i]) {
                (true, _) => Outcome::Terminated,
                (false, true) => Outcome::Truncated(next),
                (false, false) => Outcome::Continues(next),
            };
            let mut resumes = false;
            if episode != self.episode {
                resumes = self.change(schema, (batch, i), episode, None).is_some();
            } else if batch.gaps[i] {
                self.gaps += 1;
                (self.now.restart, self.now.gap) = (true, true);
            }
            let step = Step {
                obs: batch.obs(i),
                reward: batch.rewards[i],
                outcome,
                ratio: batch.ratios[i],
                restart: self.now.restart,
                after_gap: self.now.gap,
                rows: None,
                row: i,
                choices: &batch.choices,
                saved: None,
                run: self.run(),
                resumes,
            };
            self.now.restart = outcome.ends_episode();
            self.now.gap = false;
            self.ends |= outcome.ends_episode();
            self.rows += 1;
            self.transitions += 1;
            i += 1;
            if sink.step(step).is_break() {
                return i;
            }
        }
        batch.len()
    }

    /// Consumes the rows from `i` on that need not be looked at one by one, if there are any. Their transitions leave the rows
    /// `back` before them. Returns the first row after them, and whether to stop there.
    #[inline]
    fn push_stretch(
        &mut self,
        schema: &Schema,
        batch: &Batch,
        i: usize,
        back: usize,
        sink: &mut impl StepSink,
    ) -> Option<(usize, ControlFlow<()>)> {
        if sink.most() == 0 || self.now.restart {
            return None;
        }
        let end = plain_until(schema, batch, i, sink.most());
        if end == i {
            return None;
        }
        self.rows += (end - i) as u64;
        self.transitions += (end - i) as u64;
        let stretch = Stretch {
            rows: i - back..end - back,
            cluster_row: i,
            run: self.now.run,
        };
        Some((end, sink.stretch(stretch)))
    }

    /// Rows whose next observation is that of the next row.
    fn push_successors(
        &mut self,
        schema: &Schema,
        batch: &Batch,
        from: usize,
        sink: &mut impl StepSink,
    ) -> usize {
        // The row before, of the same episode: in the batch, or from an earlier one.
        let mut held = self.now.waiting.take();
        let mut before = None;
        let mut i = from;
        while i < batch.len() {
            let episode = schema.episode.then(|| batch.episodes[i]);
            if before.is_some()
                && episode == self.episode
                && !batch.truncated[i - 1]
                && let Some((end, flow)) = self.push_stretch(schema, batch, i, 1, sink)
            {
                if flow.is_break() {
                    // The last row is not consumed.
                    self.rows -= 1;
                    return end - 1;
                }
                before = Some(end - 1);
                i = end;
                continue;
            }
            let row = RowView::of(batch, i);
            let mut last = before.take().map(|before| RowView::of(batch, before));
            let mut resumes = false;
            let mut taken = held.take();
            if episode != self.episode {
                let waits = last.map(|last| last.save(batch)).or(taken.take());
                last = None;
                if let Some(resumed) = self.change(schema, (batch, i), episode, waits) {
                    (taken, resumes) = (resumed, true);
                }
            } else if batch.gaps[i] {
                self.left_out += u64::from(last.is_some() || taken.is_some());
                (last, taken) = (None, None);
                self.gaps += 1;
                (self.now.restart, self.now.gap) = (true, true);
            }
            if let Some(last) = last.or(taken.as_ref().map(Waiting::view)) {
                let next = Features::Dense(row.obs);
                let outcome = match last.truncated {
                    true => Outcome::Truncated(next),
                    false => Outcome::Continues(next),
                };
                let step = last.step(outcome, self, &batch.choices, i, resumes);
                self.transitions += 1;
                self.now.restart = last.truncated;
                self.now.gap = false;
                if sink.step(step).is_break() {
                    return i;
                }
            }
            self.rows += 1;
            self.ends |= batch.terminated[i] | row.truncated;
            if batch.terminated[i] {
                let step = row.step(Outcome::Terminated, self, &batch.choices, i, false);
                self.transitions += 1;
                self.now.restart = true;
                self.now.gap = false;
                if sink.step(step).is_break() {
                    return i + 1;
                }
            } else if row.truncated && !schema.episode {
                self.left_out += 1;
                self.now.restart = true;
                self.now.gap = false;
            } else {
                before = Some(i);
            }
            i += 1;
        }
        self.now.waiting = before.map(|i| RowView::of(batch, i).save(batch)).or(held);
        batch.len()
    }

    /// The number of the episode of the next transition.
    #[inline]
    fn run(&mut self) -> u64 {
        if self.now.restart && !self.now.gap {
            self.now.run = self.runs;
            self.runs += 1;
        }
        self.now.run
    }

    /// Sets what was counted before, after the last rows of that were pushed.
    pub(crate) fn counted(&mut self, rows: u64, transitions: u64, runs: u64) {
        self.others.drain().for_each(drop);
        self.waiting = 0;
        (self.rows, self.transitions, self.runs) = (rows, transitions, runs);
        self.left_out = (rows - transitions.min(rows)).saturating_sub(self.waiting());
        (self.changes, self.now.run) = (0, runs.saturating_sub(1));
    }

    /// Whether observations of the given length can follow.
    pub(crate) fn fits(&self, inputs: usize) -> bool {
        let open = self.others.values().chain([&self.now]);
        let mut waiting = open.filter_map(|open| open.waiting.as_ref());
        waiting.all(|waiting| waiting.obs.len() == inputs)
    }
}
