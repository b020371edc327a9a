//! Adds up the returns of whole episodes from their first rows.

use serde::{Deserialize, Serialize};

use super::CompleteReturns;

/// An episode that is cut counts as complete when what would follow is discounted by less than this.
const NEGLIGIBLE: f64 = 1e-3;

/// The return of the current episode from its first row, and the moments of the complete ones.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Whole {
    started: bool,
    #[serde(with = "robust_td_core::exact_float")]
    weight: f64,
    #[serde(with = "robust_td_core::exact_float")]
    sum: f64,
    episodes: u64,
    cut: u64,
    #[serde(with = "robust_td_core::exact_float")]
    mean: f64,
    #[serde(with = "robust_td_core::exact_float")]
    spread: f64,
}

impl Whole {
    /// Starts a run of rows; one whose first rows are missing is not complete.
    pub fn restart(&mut self, from_the_first_row: bool) {
        self.end(false);
        self.started = from_the_first_row;
        self.weight = 1.0;
        self.sum = 0.0;
    }

    /// Adds a row.
    pub fn add(&mut self, reward: f64, discount: f64) {
        self.sum += self.weight * reward;
        self.weight *= discount;
    }

    /// Ends the episode; returns its return if it is complete.
    pub fn end(&mut self, complete: bool) -> Option<f64> {
        if !std::mem::take(&mut self.started) {
            return None;
        }
        if !(complete || self.weight < NEGLIGIBLE) {
            self.cut += 1;
            return None;
        }
        self.episodes += 1;
        let away = self.sum - self.mean;
        self.mean += away / self.episodes as f64;
        self.spread += away * (self.sum - self.mean);
        Some(self.sum)
    }

    /// The moments at the end of the log, if any episode is complete; episodes are taken as independent of each other.
    pub fn finish(mut self) -> Option<CompleteReturns> {
        self.end(false);
        (self.episodes > 0).then_some(CompleteReturns {
            episodes: self.episodes,
            units: self.episodes,
            mean: self.mean,
            spread: self.spread,
            cut: self.cut,
        })
    }
}
