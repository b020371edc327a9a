//! Describes one transition of a log, in raw observations.

use robust_td_core::learner::{Features, Outcome};

use crate::actions::{Choice, Choices, SavedChoice};

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
    /// Whether no transition of the log leads here, so that eligibility traces start from zero.
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
    /// The actions and policies of the batch, and those of the observation if it was in the previous batch.
    pub(super) choices: &'a Choices,
    pub(super) saved: Option<&'a SavedChoice>,
    /// The number of its episode, from 0 in the order of their first transitions. After a gap that of the episode before it,
    /// unless it is known to be another one.
    pub run: u64,
    /// Whether a transition leads here, but that of another episode came between.
    pub resumes: bool,
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

    /// The action, and the policy here and at the next observation, if the log has them.
    pub(crate) fn choice(&self) -> Choice<'a> {
        let Some(StepRows { here, last }) = self.rows else {
            return self.choices.get(self.row);
        };
        let mut choice = match here {
            Some(here) => self.choices.get(here),
            None => self.saved.map_or(Choice::default(), SavedChoice::view),
        };
        if self.outcome.next_features().is_some() {
            choice.next = self.choices.get(last).own;
        }
        choice
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
