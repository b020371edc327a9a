//! Adds up the returns of whole episodes from their first rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CompleteReturns;
use super::ratio::{Share, Squares};

/// An episode that is cut counts as complete when what would follow is discounted by less than this.
const NEGLIGIBLE: f64 = 1e-3;

/// The return of the current episode from its first row, and the moments of the complete ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
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
    /// The cluster of the last row, and what each adds; none where episodes are independent of each other.
    cluster: Option<u64>,
    clusters: BTreeMap<u64, Share>,
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
    pub fn add(&mut self, reward: f64, discount: f64, cluster: Option<u64>) {
        self.cluster = cluster;
        self.sum += self.weight * reward;
        self.weight *= discount;
    }

    /// Ends the episode.
    pub fn end(&mut self, complete: bool) {
        if !std::mem::take(&mut self.started) {
            return;
        }
        if !(complete || self.weight < NEGLIGIBLE) {
            self.cut += 1;
            return;
        }
        self.episodes += 1;
        let away = self.sum - self.mean;
        self.mean += away / self.episodes as f64;
        self.spread += away * (self.sum - self.mean);
        if let Some(cluster) = self.cluster {
            let (sum, count) = (self.sum, 1.0);
            let shares = self.clusters.entry(cluster).or_default();
            shares.add(Share { sum, count });
        }
    }

    /// The moments at the end of the log, if any episode is complete.
    pub fn finish(mut self) -> Option<CompleteReturns> {
        self.end(false);
        let mut by_cluster = Squares::default();
        self.clusters
            .values()
            .for_each(|share| by_cluster.add(*share));
        let (units, spread) = match by_cluster.units {
            0 => (self.episodes, self.spread),
            clusters => (clusters, by_cluster.around(self.mean)),
        };
        (self.episodes > 0).then_some(CompleteReturns {
            episodes: self.episodes,
            units,
            mean: self.mean,
            spread,
            cut: self.cut,
        })
    }
}
