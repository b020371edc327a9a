//! Adds up the returns of whole episodes from their first rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CompleteReturns;
use super::ratio::Share;
use crate::recent::{self, Recent};

/// An episode that is cut counts as complete when what would follow is discounted by less than this.
const NEGLIGIBLE: f64 = 1e-3;
/// The memory for the returns of other open episodes, in bytes, and that of each.
const BYTES: u64 = 1 << 26;
const EACH: usize = 96;

/// The returns of the open episodes from their first rows, and the moments of the complete ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Whole {
    /// The episode of the last row, and its number.
    now: Part,
    run: u64,
    others: Recent<Part>,
    /// The moments of the complete ones.
    episodes: u64,
    cut: u64,
    #[serde(with = "robust_td_core::exact_float")]
    mean: f64,
    #[serde(with = "robust_td_core::exact_float")]
    spread: f64,
    #[serde(with = "robust_td_core::exact_float")]
    third: f64,
    #[serde(with = "robust_td_core::exact_float")]
    fourth: f64,
    /// What each cluster adds; none where episodes are independent of each other.
    clusters: BTreeMap<u64, Share>,
}

/// The return of an episode so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    started: bool,
    #[serde(with = "robust_td_core::exact_float")]
    weight: f64,
    #[serde(with = "robust_td_core::exact_float")]
    sum: f64,
    /// The cluster of its last row.
    cluster: Option<u64>,
}

impl Whole {
    /// Turns to the episode of this number. Where rows of several are `interleaved`, the one before may resume.
    #[inline]
    pub fn turn(&mut self, run: u64, interleaved: bool) {
        if run != self.run {
            self.change(run, interleaved);
        }
    }

    fn change(&mut self, run: u64, interleaved: bool) {
        let before = std::mem::take(&mut self.now);
        match before.started && (interleaved || !before.is_complete()) {
            true => {
                let (mut others, limit) =
                    (std::mem::take(&mut self.others), recent::limit(BYTES, EACH));
                others.put(self.run, before, limit, |old| self.end_part(&old, false));
                self.others = others;
            }
            false => self.end_part(&before, false),
        }
        self.now = self.others.take(run).unwrap_or_default();
        self.run = run;
    }

    /// Starts a run of rows; one whose first rows are missing is not complete.
    pub fn restart(&mut self, from_the_first_row: bool) {
        self.end(false);
        self.now.started = from_the_first_row;
        self.now.weight = 1.0;
        self.now.sum = 0.0;
    }

    /// Adds a row.
    pub fn add(&mut self, reward: f64, discount: f64, cluster: Option<u64>) {
        self.now.cluster = cluster;
        self.now.sum += self.now.weight * reward;
        self.now.weight *= discount;
    }

    /// Ends the episode.
    pub fn end(&mut self, complete: bool) {
        let part = self.now.clone();
        self.now.started = false;
        self.end_part(&part, complete);
    }

    fn end_part(&mut self, part: &Part, complete: bool) {
        if !part.started {
            return;
        }
        if !(complete || part.is_complete()) {
            self.cut += 1;
            return;
        }
        self.episodes += 1;
        let (n, away) = (self.episodes as f64, part.sum - self.mean);
        // Central moments, one value at a time (Pebay, 2008).
        let step = away / n;
        let grown = away * step * (n - 1.0);
        self.fourth += grown * step * step * (n * n - 3.0 * n + 3.0)
            + 6.0 * step * step * self.spread
            - 4.0 * step * self.third;
        self.third += grown * step * (n - 2.0) - 3.0 * step * self.spread;
        self.mean += step;
        self.spread += away * (part.sum - self.mean);
        if let Some(cluster) = part.cluster {
            let (sum, count) = (part.sum, 1.0);
            let shares = self.clusters.entry(cluster).or_default();
            shares.add(Share { sum, count });
        }
    }

    /// The moments at the end of the log, if any episode is complete.
    pub fn finish(mut self) -> Option<CompleteReturns> {
        self.end(false);
        let others = self.others.drain();
        others.for_each(|(_, part)| self.end_part(&part, false));
        let (mut units, mut powers) = (self.episodes, [self.spread, self.third, self.fourth]);
        if !self.clusters.is_empty() {
            units = self.clusters.len() as u64;
            powers = [0.0; 3];
            for Share { sum, count } in self.clusters.values() {
                let away = sum - self.mean * count;
                let square = away * away;
                powers[0] += square;
                powers[1] += square * away;
                powers[2] += square * square;
            }
        }
        let [spread, third, fourth] = powers;
        (self.episodes > 0).then_some(CompleteReturns {
            episodes: self.episodes,
            units,
            mean: self.mean,
            spread,
            third,
            fourth,
            cut: self.cut,
        })
    }
}

impl Part {
    /// Whether what would follow does not matter.
    fn is_complete(&self) -> bool {
        self.weight < NEGLIGIBLE
    }
}
