//! Holds a row that waits for its successor.

use robust_td_core::learner::Outcome;
use serde::{Deserialize, Serialize};

use super::{Pairing, Step, StepRows};
use crate::actions::{Choices, SavedChoice};
use crate::batch::Batch;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    #[serde(with = "robust_td_core::exact_float")]
    pub(super) obs: Vec<f64>,
    #[serde(with = "robust_td_core::exact_float")]
    pub(super) reward: f64,
    #[serde(with = "robust_td_core::exact_float")]
    pub(super) ratio: f64,
    pub(super) truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) choice: Option<SavedChoice>,
}

/// The parts of a row that a transition uses.
#[derive(Clone, Copy)]
pub(super) struct RowView<'a> {
    pub(super) obs: &'a [f64],
    pub(super) reward: f64,
    pub(super) ratio: f64,
    pub(super) truncated: bool,
    /// Its index in the batch, if it is in the batch, or else its action and policy.
    pub(super) row: Option<usize>,
    pub(super) saved: Option<&'a SavedChoice>,
}

impl<'a> RowView<'a> {
    #[inline(always)]
    pub(super) fn of(batch: &'a Batch, i: usize) -> Self {
        Self {
            obs: batch.obs(i),
            reward: batch.rewards[i],
            ratio: batch.ratios[i],
            truncated: batch.truncated[i],
            row: Some(i),
            saved: None,
        }
    }

    #[inline(always)]
    pub(super) fn step(
        self,
        outcome: Outcome<'a>,
        pairing: &mut Pairing,
        choices: &'a Choices,
        last: usize,
        resumes: bool,
    ) -> Step<'a> {
        Step {
            obs: self.obs,
            reward: self.reward,
            outcome,
            ratio: self.ratio,
            restart: pairing.now.restart,
            after_gap: pairing.now.gap,
            rows: Some(StepRows {
                here: self.row,
                last,
            }),
            row: last,
            choices,
            saved: self.saved,
            run: pairing.run(),
            resumes: resumes && !pairing.now.restart,
        }
    }

    /// A copy of a row of the batch that outlives it.
    pub(super) fn save(self, batch: &Batch) -> Waiting {
        let choice = (self.row.filter(|_| batch.has_choices())).map(|i| batch.choices.get(i));
        Waiting {
            obs: self.obs.to_vec(),
            reward: self.reward,
            ratio: self.ratio,
            truncated: self.truncated,
            choice: choice.map(SavedChoice::of),
        }
    }
}

impl Waiting {
    /// The number of numbers in its vectors.
    pub(super) fn len(&self) -> usize {
        self.obs.len() + self.choice.as_ref().map_or(0, SavedChoice::len)
    }

    pub(super) fn view(&self) -> RowView<'_> {
        RowView {
            obs: &self.obs,
            reward: self.reward,
            ratio: self.ratio,
            truncated: self.truncated,
            row: None,
            saved: self.choice.as_ref(),
        }
    }
}
