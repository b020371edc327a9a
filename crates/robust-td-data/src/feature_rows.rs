//! Writes the features of the observations of a log, those of each only once, or finds them in the batch.

use robust_td::features::{FeatureMap, Row};
use robust_td::learner::{Features, Outcome};

use crate::batch::Batch;
use crate::pairing::{Step, StepRows};

/// How many rows of sparse features are written at a time: the CPU works on several of them at once, which it cannot when
/// one is learned from before the next is written.
const AHEAD: usize = 16;

/// Memory for the features of some rows of a batch, and what is asked of the map at each.
#[derive(Debug, Clone, Default)]
pub(crate) struct FeatureRows {
    /// The features of row i of the batch are at i modulo the length, a power of two.
    ring: Vec<Row>,
    /// The first row of the batch that is not written yet.
    written: usize,
    /// The features of an observation and of the next one, where they are not two rows of the batch; `here` says which are
    /// the former.
    pair: [Row; 2],
    here: usize,
    /// The observation whose features the next pair can take over; empty when there is none.
    next_obs: Vec<f64>,
    /// Whether the batch holds the features of its rows.
    ready: bool,
    identity: bool,
    adapts: bool,
}

impl FeatureRows {
    /// Memory for the features of a map.
    pub fn for_map(map: &FeatureMap) -> Self {
        // Two rows are needed at a time. Dense ones may be large, and one keeps the CPU busy.
        let rows = if map.is_sparse() { 2 * AHEAD } else { 2 };
        Self {
            ring: vec![Row::for_map(map); rows],
            written: 0,
            pair: [Row::for_map(map), Row::for_map(map)],
            here: 0,
            next_obs: Vec::new(),
            ready: false,
            identity: map.is_identity(),
            adapts: map.adapts(),
        }
    }

    /// Says that the steps to come are of the rows of this batch from `from` on.
    pub fn start_batch(&mut self, map: &FeatureMap, batch: &Batch, from: usize) {
        self.written = from;
        self.ready = batch.features.are_of(map);
    }

    /// The features of a step of the batch: those of its observation, and what came next.
    #[inline]
    pub fn of<'a>(
        &'a mut self,
        map: &mut FeatureMap,
        batch: &'a Batch,
        step: &Step<'a>,
    ) -> (Features<'a>, Outcome<'a>) {
        if self.identity {
            return (Features::Dense(step.obs), step.outcome);
        }
        let (here, next) = match step.rows {
            Some(StepRows { here, last }) if self.ready => {
                let next = batch.features.of(last);
                let here = match here {
                    Some(here) => batch.features.of(here),
                    None => {
                        map.write(step.obs, &mut self.pair[0]);
                        self.pair[0].features()
                    }
                };
                (here, next)
            }
            Some(StepRows { here, last }) if !self.adapts => {
                self.of_rows(map, batch, step.obs, here, last)
            }
            _ => self.of_pair(map, step),
        };
        let outcome = match step.outcome {
            Outcome::Terminated => Outcome::Terminated,
            Outcome::Truncated(_) => Outcome::Truncated(next),
            _ => Outcome::Continues(next),
        };
        (here, outcome)
    }

    /// Of rows of the batch, written before they are needed.
    #[inline]
    fn of_rows(
        &mut self,
        map: &FeatureMap,
        batch: &Batch,
        obs: &[f64],
        here: Option<usize>,
        last: usize,
    ) -> (Features<'_>, Features<'_>) {
        let length = self.ring.len();
        if last >= self.written {
            // The row before is either written or the first that counts.
            let first = self.written.max(last.saturating_sub(1));
            self.written = batch.len().min(last + length / 2);
            for i in first..self.written {
                map.write(batch.obs(i), &mut self.ring[i & (length - 1)]);
            }
        }
        let here = match here {
            Some(here) => &self.ring[here & (length - 1)],
            None => {
                map.write(obs, &mut self.pair[0]);
                &self.pair[0]
            }
        };
        let next = &self.ring[last & (length - 1)];
        (here.features(), next.features())
    }

    /// Of any two observations, the first of which often is the second of the step before.
    fn of_pair(&mut self, map: &mut FeatureMap, step: &Step<'_>) -> (Features<'_>, Features<'_>) {
        if self.adapts {
            map.observe(step.obs);
        }
        match same_bits(&self.next_obs, step.obs) {
            true => self.here = 1 - self.here,
            false => map.write(step.obs, &mut self.pair[self.here]),
        }
        self.next_obs.clear();
        if let Some(next) = step.next_obs() {
            map.write(next, &mut self.pair[1 - self.here]);
            if !self.adapts {
                self.next_obs.extend_from_slice(next);
            }
        }
        let [here, next] = [self.here, 1 - self.here].map(|k| self.pair[k].features());
        (here, next)
    }
}

#[inline]
fn same_bits(x: &[f64], y: &[f64]) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.to_bits() == y.to_bits())
}
