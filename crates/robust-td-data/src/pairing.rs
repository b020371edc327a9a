//! Pairs rows into transitions.
//!
//! With next observations each row is a transition. Without them, a row's successor is the row directly after it, if
//! that belongs to the same episode:
//!
//! | the row is | with an episode column | without |
//! |---|---|---|
//! | terminated | used at once: nothing follows, the value after it is 0 | the same |
//! | truncated | used if the same episode has a next row, to bootstrap from; then restarts | left out |
//! | neither | used if the same episode has a next row | used with the next row |
//!
//! A row that is both terminated and truncated counts as terminated. Episodes may continue from one file to
//! the next.
//!
//! Skipped bad rows leave a gap. Rows are not paired across it: the row before the gap has an unknown
//! successor and is left out, and the transition after the gap restarts.
//!
//! Rows of several episodes must not be interleaved: a row whose episode resumes later, after rows of another
//! one, has no successor directly after it and is left out. [`Inspector`](crate::Inspector) finds such logs.

use std::ops::ControlFlow;

use robust_td_core::learner::{Features, Outcome};
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::choices::{Choice, SavedChoice};
use crate::schema::Schema;

/// One transition, in raw observations.
///
/// The field order is fixed: with the reward next to the ratio, the CPU would load both at once and have to
/// wait until both are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Step<'a> {
    /// The reward of the transition.
    pub reward: f64,
    /// The observation before the transition.
    pub obs: &'a [f64],
    /// The outcome; its features are the raw next observation.
    pub outcome: Outcome<'a>,
    /// The importance ratio of the action; 1 if the log has none.
    pub ratio: f64,
    /// Whether the previous transition does not lead here, so that eligibility traces start from zero.
    ///
    /// True for the first transition of the log, of an episode, and after a gap. The outcome of the previous
    /// transition does not determine it: its episode may have stopped without a flag.
    pub restart: bool,
    /// Whether it restarts after a gap, so that its row may not be the first of its episode.
    pub after_gap: bool,
    /// The batch rows of `obs` and of the next observation, if the latter is another row.
    pub(crate) rows: Option<StepRows>,
    /// A batch row of the same episode and cluster.
    pub(crate) row: usize,
    /// The action, and the policy here and at the next observation, if the log has them.
    pub(crate) choice: Choice<'a>,
}

/// Rows of the current batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StepRows {
    /// The row that the transition leaves; `None` if it was in the previous batch.
    pub here: Option<usize>,
    /// The last row that the transition needs: the next one, or the row itself if nothing follows.
    pub last: usize,
}

impl<'a> Step<'a> {
    /// Whether its row is the first of an episode, as far as the log shows.
    #[must_use]
    pub fn starts_episode(&self) -> bool {
        self.restart && !self.after_gap
    }

    /// The observation to bootstrap from, if anything follows.
    #[must_use]
    pub fn next_obs(&self) -> Option<&'a [f64]> {
        match self.outcome.next_features() {
            Some(Features::Dense(next)) => Some(next),
            _ => None,
        }
    }
}

/// The state of pairing between two rows; saved and restored, it resumes with the same transitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pairing {
    /// A row waiting for its successor.
    waiting: Option<Waiting>,
    /// The episode of the last row.
    episode: Option<u64>,
    restart: bool,
    /// Whether it restarts because of a gap.
    gap: bool,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<SavedChoice>,
}

impl Default for Pairing {
    fn default() -> Self {
        Self {
            waiting: None,
            episode: None,
            restart: true,
            gap: false,
            rows: 0,
            transitions: 0,
            left_out: 0,
        }
    }
}

impl Pairing {
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

    /// The number of rows left out because nothing follows them, excluding a last row that is still waiting.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The number of rows without a transition if the log ends here: with the transitions, these are all rows.
    #[must_use]
    pub fn without_transition(&self) -> u64 {
        self.left_out + u64::from(self.is_waiting())
    }

    /// Whether the last row waits for a successor.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
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

    /// Rows that contain their next observation.
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
            self.gap |= batch.gaps[i];
            let step = Step {
                obs: batch.obs(i),
                reward: batch.rewards[i],
                outcome,
                ratio: batch.ratios[i],
                restart: self.restart || self.gap || episode != self.episode,
                after_gap: std::mem::take(&mut self.gap),
                rows: None,
                row: i,
                choice: batch.choices.get(i),
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
                // A gap before the row that was left out is in the past.
                self.gap = batch.gaps[i] || (self.gap && last.is_none());
                self.restart = true;
            } else if let Some(last) = last {
                let next = Features::Dense(row.obs);
                let outcome = match last.truncated {
                    true => Outcome::Truncated(next),
                    false => Outcome::Continues(next),
                };
                let mut step = last.step(outcome, (self.restart, self.gap), i);
                step.choice.next = row.choice.own;
                self.transitions += 1;
                self.restart = last.truncated;
                self.gap = false;
                if visit(step).is_break() {
                    return i;
                }
            }
            self.episode = episode;
            self.rows += 1;
            if batch.terminated[i] {
                let step = row.step(Outcome::Terminated, (self.restart, self.gap), i);
                self.transitions += 1;
                self.restart = true;
                self.gap = false;
                if visit(step).is_break() {
                    return i + 1;
                }
            } else if row.truncated && !schema.episode {
                self.left_out += 1;
                self.restart = true;
                self.gap = false;
            } else {
                before = Some(row);
            }
        }
        self.waiting = before.map(RowView::save);
        batch.len()
    }

    /// Whether observations of the given length can follow.
    pub(crate) fn fits(&self, inputs: usize) -> bool {
        (self.waiting.as_ref()).is_none_or(|waiting| waiting.obs.len() == inputs)
    }

    /// Declares that the next row does not follow the last one, as at the start of another pass.
    pub fn start_anew(&mut self) {
        self.break_off();
        self.episode = None;
        self.gap = false;
    }

    /// Drops the waiting row: its successor was bad.
    fn break_off(&mut self) {
        self.left_out += u64::from(self.waiting.take().is_some());
        self.restart = true;
        self.gap = true;
    }
}

/// The parts of a row that a transition uses.
#[derive(Clone, Copy)]
struct RowView<'a> {
    obs: &'a [f64],
    reward: f64,
    ratio: f64,
    truncated: bool,
    choice: Choice<'a>,
    /// Its index in the batch, if it is in the batch.
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
            choice: batch.choices.get(i),
            row: Some(i),
        }
    }

    #[inline]
    fn step(self, outcome: Outcome<'a>, restart: (bool, bool), last: usize) -> Step<'a> {
        Step {
            obs: self.obs,
            reward: self.reward,
            outcome,
            ratio: self.ratio,
            restart: restart.0,
            after_gap: restart.1,
            rows: Some(StepRows {
                here: self.row,
                last,
            }),
            row: last,
            choice: self.choice,
        }
    }

    fn save(self) -> Waiting {
        Waiting {
            obs: self.obs.to_vec(),
            reward: self.reward,
            ratio: self.ratio,
            truncated: self.truncated,
            choice: (self.choice != Choice::default()).then(|| SavedChoice::of(self.choice)),
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
            choice: (self.choice.as_ref()).map_or(Choice::default(), SavedChoice::view),
            row: None,
        }
    }
}
