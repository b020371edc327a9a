//! Pairs rows into transitions.
//!
//! With next observations each row is a transition. Without them, a row's successor is the row directly after it, if
//! that belongs to the same episode:
//!
//! | the row is | with an episode column | without |
//! |---|---|---|
//! | terminated | used at once: nothing follows, the value after it is 0 | the same |
//! | truncated | used if the same episode has a next row, from which is bootstrapped; then it starts anew | left out |
//! | neither | used if the same episode has a next row | used with the next row |
//!
//! A row that is both terminated and truncated is terminated. Episodes go on from one file to the next.
//!
//! Bad rows that were skipped leave a hole. Nothing is paired across it: the row before waits for a
//! successor that is not known, so it is left out, and the transition after the hole restarts.
//!
//! Rows of several episodes must not be mixed: a row whose episode goes on later, after rows of another one, has no
//! successor directly after it, and is left out. [`Inspector`](crate::Inspector) finds such logs.

use std::ops::ControlFlow;

use robust_td_core::learner::{Features, Outcome};
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::schema::Schema;

/// One transition, in raw observations.
///
/// The order of the fields is kept in memory: with the reward next to the ratio both would be loaded at once, and the CPU would have to wait
/// until both are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Step<'a> {
    /// The reward on the way.
    pub reward: f64,
    /// The observation of the state that was left.
    pub obs: &'a [f64],
    /// What came next; its features are the raw next observation.
    pub outcome: Outcome<'a>,
    /// The importance ratio of the action; 1 where the log has none.
    pub ratio: f64,
    /// Whether the transition before does not lead here, so that eligibility traces start from zero.
    ///
    /// True for the first transition of the log, of an episode, and after a hole. It cannot be told from the outcome of
    /// the transition before, which may have been the last of an episode that simply stops.
    pub restart: bool,
    /// The rows of the batch that `obs` and the next observation are of, where the latter is that of another row.
    pub(crate) rows: Option<StepRows>,
}

/// Rows of the batch at hand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StepRows {
    /// The row that the transition leaves; none if it was in the batch before.
    pub here: Option<usize>,
    /// The last row that the transition needs: the next one, or where nothing follows the one that it leaves.
    pub last: usize,
}

impl<'a> Step<'a> {
    /// The observation to bootstrap from, if anything follows.
    #[must_use]
    pub fn next_obs(&self) -> Option<&'a [f64]> {
        match self.outcome.next_features() {
            Some(Features::Dense(next)) => Some(next),
            _ => None,
        }
    }
}

/// What pairing knows between two rows; saved and restored, it goes on with the same transitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pairing {
    /// A row that waits for its successor.
    waiting: Option<Waiting>,
    /// The episode of the last row.
    episode: Option<u64>,
    restart: bool,
    rows: u64,
    transitions: u64,
    left_out: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Waiting {
    obs: Vec<f64>,
    reward: f64,
    ratio: f64,
    truncated: bool,
}

impl Default for Pairing {
    fn default() -> Self {
        Self {
            waiting: None,
            episode: None,
            restart: true,
            rows: 0,
            transitions: 0,
            left_out: 0,
        }
    }
}

impl Pairing {
    /// How many rows were taken in.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many transitions came of them.
    #[must_use]
    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// How many rows were left out because nothing follows them; the last row of the log is not among them as long
    /// as it waits.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether the last row waits for a successor.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Takes in the rows of a batch from `from` on and gives out the transitions that they complete.
    ///
    /// Stops when `visit` breaks, and returns the index of the first row that was not taken in; going on from there
    /// continues as if there was no stop. (A row whose observation completed the last transition is not taken in by
    /// that: it is the first one of what remains.)
    pub fn push(
        &mut self,
        schema: &Schema,
        batch: &Batch,
        from: usize,
        mut visit: impl FnMut(Step<'_>) -> ControlFlow<()>,
    ) -> usize {
        let stop = match schema.next_obs {
            true => self.push_complete(schema, batch, from, &mut visit),
            false => self.push_successors(schema, batch, from, &mut visit),
        };
        if stop == batch.len() && batch.gap_after {
            self.break_off();
        }
        stop
    }

    /// Rows that hold their next observation.
    fn push_complete(
        &mut self,
        schema: &Schema,
        batch: &Batch,
        from: usize,
        visit: &mut impl FnMut(Step<'_>) -> ControlFlow<()>,
    ) -> usize {
        for i in from..batch.len() {
            let episode = schema.episode.then(|| batch.episodes[i]);
            let next = Features::Dense(&batch.next_obs[i * batch.dimension..][..batch.dimension]);
            let outcome = match (batch.terminated[i], batch.truncated[i]) {
                (true, _) => Outcome::Terminated,
                (false, true) => Outcome::Truncated(next),
                (false, false) => Outcome::Continues(next),
            };
            let step = Step {
                obs: batch.obs(i),
                reward: batch.rewards[i],
                outcome,
                ratio: batch.ratios[i],
                restart: self.restart || batch.gaps[i] || episode != self.episode,
                rows: None,
            };
            self.episode = episode;
            self.restart = outcome.ends_episode();
            self.rows += 1;
            self.transitions += 1;
            if visit(step).is_break() {
                return i + 1;
            }
        }
        batch.len()
    }

    /// Rows whose next observation is that of the next row.
    fn push_successors(
        &mut self,
        schema: &Schema,
        batch: &Batch,
        from: usize,
        visit: &mut impl FnMut(Step<'_>) -> ControlFlow<()>,
    ) -> usize {
        let saved = self.waiting.take();
        let mut before = saved.as_ref().map(Waiting::view);
        for i in from..batch.len() {
            let episode = schema.episode.then(|| batch.episodes[i]);
            let row = RowView::of(batch, i);
            let last = before.take();
            if batch.gaps[i] || episode != self.episode {
                self.left_out += u64::from(last.is_some());
                self.restart = true;
            } else if let Some(last) = last {
                let next = Features::Dense(row.obs);
                let outcome = match last.truncated {
                    true => Outcome::Truncated(next),
                    false => Outcome::Continues(next),
                };
                let step = last.step(outcome, self.restart, i);
                self.transitions += 1;
                self.restart = last.truncated;
                if visit(step).is_break() {
                    return i;
                }
            }
            self.episode = episode;
            self.rows += 1;
            if batch.terminated[i] {
                let step = row.step(Outcome::Terminated, self.restart, i);
                self.transitions += 1;
                self.restart = true;
                if visit(step).is_break() {
                    return i + 1;
                }
            } else if row.truncated && !schema.episode {
                self.left_out += 1;
                self.restart = true;
            } else {
                before = Some(row);
            }
        }
        self.waiting = before.map(RowView::save);
        batch.len()
    }

    /// Whether observations of a length can follow.
    pub(crate) fn fits(&self, inputs: usize) -> bool {
        (self.waiting.as_ref()).is_none_or(|waiting| waiting.obs.len() == inputs)
    }

    /// Says that the next row does not follow the last one, as at the start of another pass.
    pub fn start_anew(&mut self) {
        self.break_off();
        self.episode = None;
    }

    /// Forgets the row that waits: what followed it was bad.
    fn break_off(&mut self) {
        self.left_out += u64::from(self.waiting.take().is_some());
        self.restart = true;
    }
}

/// What a transition takes from the row that it leaves.
#[derive(Clone, Copy)]
struct RowView<'a> {
    obs: &'a [f64],
    reward: f64,
    ratio: f64,
    truncated: bool,
    /// Which row of the batch it is, if it is one.
    row: Option<usize>,
}

impl<'a> RowView<'a> {
    #[inline]
    fn of(batch: &'a Batch, i: usize) -> Self {
        Self {
            obs: batch.obs(i),
            reward: batch.rewards[i],
            ratio: batch.ratios[i],
            truncated: batch.truncated[i],
            row: Some(i),
        }
    }

    #[inline]
    fn step(self, outcome: Outcome<'a>, restart: bool, last: usize) -> Step<'a> {
        Step {
            obs: self.obs,
            reward: self.reward,
            outcome,
            ratio: self.ratio,
            restart,
            rows: Some(StepRows {
                here: self.row,
                last,
            }),
        }
    }

    fn save(self) -> Waiting {
        Waiting {
            obs: self.obs.to_vec(),
            reward: self.reward,
            ratio: self.ratio,
            truncated: self.truncated,
        }
    }
}

impl Waiting {
    fn view(&self) -> RowView<'_> {
        RowView {
            obs: &self.obs,
            reward: self.reward,
            ratio: self.ratio,
            truncated: self.truncated,
            row: None,
        }
    }
}
