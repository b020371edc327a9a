//! Samples whole episodes of a log, so that values can be shown along them.

use robust_td_core::features::{FeatureMap, Row};
use robust_td_core::learner::{LinearValue, Outcome};
use serde::{Deserialize, Serialize};

use crate::chunks::{Placed, Run};
use crate::hash::mix;

/// The number of episodes.
const EPISODES: usize = 6;
/// The maximum number of rows that are kept of an episode, and of numbers in their observations.
const ROWS: usize = 2000;
const NUMBERS: usize = 100_000;

/// An episode, or the first rows of a long one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EpisodeSample {
    /// Its number in the log, from 0.
    pub number: u64,
    /// The predicted values of its rows.
    pub values: Vec<f64>,
    /// The rewards of its rows.
    pub rewards: Vec<f64>,
    /// Whether it terminates after these rows.
    pub terminated: bool,
    /// Whether it ends after these rows; otherwise more rows follow, or observation stopped.
    pub whole: bool,
    /// Whether rows have importance ratios, or the policy was not followed: the rewards are then not those of the policy.
    pub weighted: bool,
}

impl EpisodeSample {
    /// The discounted sums of the rewards from each row on. Where the episode does not terminate, the predicted value of the last row
    /// replaces what follows, and that row has no sum.
    #[must_use]
    pub fn returns(&self, discount: f64) -> Vec<f64> {
        let (mut sum, rows) = match (self.terminated, self.values.last()) {
            (false, Some(last)) => (*last, self.rewards.len().saturating_sub(1)),
            _ => (0.0, self.rewards.len()),
        };
        let mut returns: Vec<f64> = self.rewards[..rows]
            .iter()
            .rev()
            .map(|reward| {
                sum = reward + discount * sum;
                sum
            })
            .collect();
        returns.reverse();
        returns
    }
}

/// Some episodes, chosen by the hash of their number: the same however the log is cut.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Traces {
    /// By hash, smallest first.
    traces: Vec<Trace>,
    /// The run of the last transition, and its place in the list if it is chosen.
    last: Option<(u64, Option<usize>)>,
}

/// The rows of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Trace {
    hash: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    run: u64,
    /// Whether its first row does not follow the row before it.
    restarts: bool,
    /// The observations, one after the other.
    observations: Vec<f64>,
    rewards: Vec<f64>,
    terminated: bool,
    /// Whether it ended.
    ended: bool,
    /// Whether no more rows are added.
    closed: bool,
    weighted: bool,
}

impl Traces {
    /// Adds a transition if its run is chosen.
    #[inline]
    pub fn consider(&mut self, placed: &Placed<'_>) {
        let chosen = match self.last {
            Some((run, chosen)) if run == placed.run => chosen,
            _ => self.choose(placed.run, placed.restarts),
        };
        if let Some(i) = chosen {
            self.traces[i].add(placed);
        }
    }

    /// The same for several transitions.
    pub fn consider_run(&mut self, run: &Run<'_>) {
        let chosen = match self.last {
            Some((last, chosen)) if last == run.episode => chosen,
            _ => self.choose(run.episode, false),
        };
        if let Some(i) = chosen {
            self.traces[i].add_run(run);
        }
    }

    /// The place of another run among the chosen ones.
    fn choose(&mut self, run: u64, restarts: bool) -> Option<usize> {
        let hash = mix(!run);
        let place = self.traces.partition_point(|trace| trace.hash < hash);
        // A run that was chosen before resumes.
        if self.traces.get(place).is_some_and(|trace| trace.run == run) {
            self.last = Some((run, Some(place)));
            return Some(place);
        }
        let chosen = (place < EPISODES).then_some(place);
        if chosen.is_some() {
            self.traces.insert(
                place,
                Trace {
                    hash,
                    run,
                    restarts,
                    ..Trace::default()
                },
            );
            self.traces.truncate(EPISODES);
        }
        self.last = Some((run, chosen));
        chosen
    }

    /// Whether its rows have observations of this length.
    pub fn fits(&self, inputs: usize) -> bool {
        let fits = |trace: &Trace| {
            Some(trace.observations.len()) == trace.rewards.len().checked_mul(inputs)
        };
        self.traces.len() <= EPISODES && self.traces.iter().all(fits)
    }

    /// Adds the runs of a later part of the log, of which the first may continue an earlier one.
    pub fn merge(&mut self, later: Self) {
        for trace in later.traces {
            match self.traces.iter_mut().find(|own| own.run == trace.run) {
                Some(own) => own.extend(trace),
                None => self.traces.push(trace),
            }
        }
        self.traces.sort_by_key(|trace| trace.hash);
        self.traces.truncate(EPISODES);
        self.last = None;
    }

    /// The episodes with their predicted values, in the order of the log.
    pub fn predictions(self, map: &FeatureMap, value: &LinearValue) -> Vec<EpisodeSample> {
        let inputs = map.inputs().max(1);
        let mut row = Row::for_map(map);
        let mut list: Vec<EpisodeSample> = (self.traces.into_iter())
            .map(|trace| EpisodeSample {
                number: trace.run,
                values: (trace.observations.chunks_exact(inputs))
                    .map(|observation| {
                        map.write(observation, &mut row);
                        value.value(row.features())
                    })
                    .collect(),
                rewards: trace.rewards,
                terminated: trace.terminated,
                whole: trace.ended,
                weighted: trace.weighted,
            })
            .collect();
        list.sort_by_key(|episode| episode.number);
        list
    }
}

/// The maximum number of rows of an episode with observations of this length.
fn most(inputs: usize) -> usize {
    ROWS.min((NUMBERS / inputs.max(1)).max(2))
}

impl Trace {
    fn add(&mut self, placed: &Placed<'_>) {
        let gap = placed.restarts && !self.rewards.is_empty();
        if self.closed || gap || self.is_full(placed.obs.len()) {
            self.closed = true;
            return;
        }
        let transition = &placed.transition;
        self.observations.extend_from_slice(placed.obs);
        self.rewards.push(transition.reward);
        self.weighted |= transition.ratio != 1.0 || placed.choice.is_some();
        if transition.outcome.ends_episode() {
            self.terminated = matches!(transition.outcome, Outcome::Terminated);
            (self.ended, self.closed) = (true, true);
        }
    }

    fn add_run(&mut self, run: &Run<'_>) {
        if self.closed {
            return;
        }
        let inputs = run.obs.len() / run.len().max(1);
        let left = most(inputs).saturating_sub(self.rewards.len());
        let added = run.len().min(left);
        self.closed = added < run.len();
        self.observations
            .extend_from_slice(&run.obs[..added * inputs]);
        self.rewards.extend_from_slice(&run.rewards[..added]);
        self.weighted |= run.ratios[..added].iter().any(|ratio| *ratio != 1.0);
    }

    fn is_full(&self, inputs: usize) -> bool {
        self.rewards.len() >= most(inputs)
    }

    fn extend(&mut self, later: Self) {
        let inputs = later.observations.len() / later.rewards.len().max(1);
        if self.closed || later.restarts {
            self.closed = true;
            return;
        }
        for (i, reward) in later.rewards.into_iter().enumerate() {
            if self.is_full(inputs) {
                self.closed = true;
                return;
            }
            self.observations
                .extend_from_slice(&later.observations[i * inputs..][..inputs]);
            self.rewards.push(reward);
        }
        self.weighted |= later.weighted;
        self.terminated = later.terminated;
        self.ended = later.ended;
        self.closed = later.closed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_are_sums_of_what_follows() {
        let mut episode = EpisodeSample {
            number: 0,
            values: vec![9.0, 5.0, 4.0],
            rewards: vec![1.0, 2.0, 3.0],
            terminated: true,
            whole: true,
            weighted: false,
        };
        assert_eq!(episode.returns(0.5), [1.0 + 1.0 + 0.75, 2.0 + 1.5, 3.0]);
        // What follows the last row is not known: its value stands for it.
        episode.terminated = false;
        assert_eq!(episode.returns(0.5), [1.0 + 1.0 + 1.0, 2.0 + 2.0]);
        episode.values.clear();
        episode.rewards.clear();
        assert!(episode.returns(0.5).is_empty());
    }
}
