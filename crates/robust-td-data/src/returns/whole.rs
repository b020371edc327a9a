//! Adds up the returns of whole episodes from their first rows.

use std::collections::BTreeMap;

use robust_td_core::support::{Support, leverage};
use serde::{Deserialize, Serialize};

use super::CompleteReturns;
use super::ratio::Share;
use super::sums::Row;
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
    #[serde(deserialize_with = "robust_td_core::count::read")]
    run: u64,
    others: Recent<Part>,
    /// The moments of the complete ones.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    episodes: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
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
pub(super) struct Part {
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

    /// Adds a row of the episode that it turned to.
    pub(super) fn row(&mut self, row: &Row, discount: f64) {
        if row.restarts {
            self.restart(row.starts);
        }
        self.add(row.reward, discount, row.cluster);
        if row.ends {
            self.end(row.terminated);
        }
    }

    /// Continues the open episode with later rows of it, which may end it.
    pub(super) fn extend(&mut self, later: &Part, ended: Option<bool>) {
        self.now.extend(later);
        if let Some(complete) = ended {
            self.end(complete);
        }
    }

    /// Ends all episodes but the last: no row of theirs follows.
    pub(super) fn end_others(&mut self) {
        let others = self.others.drain();
        others.for_each(|(_, part)| self.end_part(&part, false));
    }

    /// Adds the episodes of a later part of the log, of which the last stays open.
    pub(super) fn absorb(&mut self, later: Self) {
        self.end(false);
        self.end_others();
        (self.now, self.run) = (later.now, later.run);
        self.cut += later.cut;
        for (cluster, share) in later.clusters {
            self.clusters.entry(cluster).or_default().add(share);
        }
        if later.episodes == 0 {
            return;
        }
        // Central moments of two parts (Pebay, 2008).
        let (a, b) = (self.episodes as f64, later.episodes as f64);
        let (n, away) = (a + b, later.mean - self.mean);
        let (step, both) = (away / n, away * away * a * b / n);
        self.fourth += later.fourth
            + both * step * step * (a * a - a * b + b * b)
            + 6.0 * step * step * (a * a * later.spread + b * b * self.spread)
            + 4.0 * step * (a * later.third - b * self.third);
        self.third +=
            later.third + both * step * (a - b) + 3.0 * step * (a * later.spread - b * self.spread);
        self.spread += later.spread + both;
        self.mean += step * b;
        self.episodes += later.episodes;
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
        self.now.add(reward, discount, cluster);
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
        let (mut effective, mut squares) = (units as f64, self.spread);
        if !self.clusters.is_empty() {
            units = self.clusters.len() as u64;
            (powers, squares) = ([0.0; 3], 0.0);
            let (n, m) = (self.episodes as f64, units as f64);
            let sizes: Vec<f64> = self.clusters.values().map(|share| share.count).collect();
            effective = Support::of_sizes(&sizes, m, n).effective;
            for Share { sum, count } in self.clusters.values() {
                // Relative to units of one size.
                let bend = leverage(count / n) / leverage(1.0 / m);
                let away = sum - self.mean * count;
                squares += away * away;
                let away = bend * away;
                let square = away * away;
                powers[0] += square;
                powers[1] += square * away;
                powers[2] += square * square;
            }
        }
        let [spread, third, fourth] = powers;
        let deviation = (squares / (units as f64 - 1.0)).sqrt();
        (self.episodes > 0).then_some(CompleteReturns {
            episodes: self.episodes,
            units,
            effective,
            mean: self.mean,
            // Units may have several episodes.
            deviation: match deviation.is_finite() && units > 1 {
                true => deviation * units as f64 / self.episodes as f64,
                false => 0.0,
            },
            spread,
            third,
            fourth,
            cut: self.cut,
        })
    }
}

impl Part {
    /// Rows that continue an episode of before them.
    pub fn continued() -> Self {
        Self {
            weight: 1.0,
            ..Self::default()
        }
    }

    /// Adds a row.
    pub fn add(&mut self, reward: f64, discount: f64, cluster: Option<u64>) {
        self.cluster = cluster;
        self.sum += self.weight * reward;
        self.weight *= discount;
    }

    /// Adds later rows of the same episode.
    pub fn extend(&mut self, later: &Self) {
        self.sum += self.weight * later.sum;
        self.weight *= later.weight;
        self.cluster = later.cluster;
    }

    /// Whether what would follow does not matter.
    fn is_complete(&self) -> bool {
        self.weight < NEGLIGIBLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Episodes of one row, whose returns are given with their clusters.
    fn returns(of: impl IntoIterator<Item = (f64, u64)>) -> CompleteReturns {
        let mut whole = Whole::default();
        for (reward, cluster) in of {
            whole.restart(true);
            whole.add(reward, 1.0, Some(cluster));
            whole.end(true);
        }
        whole.finish().unwrap()
    }

    #[test]
    fn clusters_of_different_sizes_count_as_fewer() {
        let even = returns((0..60).map(|k| ((k * 7 % 11) as f64, k % 10)));
        assert!((even.effective - 10.0).abs() < 1e-9, "{even:?}");
        // One cluster has 27 of the 60 episodes, six have 4 and three have 3.
        let uneven = returns((0..60).map(|k| ((k * 7 % 11) as f64, (k % 18).min(9))));
        let effective = 3600.0 / (27.0 * 27.0 + 6.0 * 16.0 + 3.0 * 9.0);
        assert!((uneven.effective - effective).abs() < 1e-9, "{uneven:?}");
        // Its leverage is in the powers, not in the deviation.
        let [mut squares, mut bent] = [0.0; 2];
        for cluster in 0..10 {
            let own = (0..60).filter(|k| (k % 18).min(9) == cluster);
            let away = own.clone().map(|k| (k * 7 % 11) as f64 - uneven.mean);
            let away = away.sum::<f64>();
            squares += away * away;
            bent += (away * 0.9 / (1.0 - own.count() as f64 / 60.0)).powi(2);
        }
        let deviation = (squares / 9.0).sqrt() * 10.0 / 60.0;
        assert!((uneven.deviation / deviation - 1.0).abs() < 1e-12);
        assert!((uneven.spread / bent - 1.0).abs() < 1e-12 && bent > 1.01 * squares);
    }
}
