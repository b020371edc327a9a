//! Computes the features of each observation of a log once, or finds them in the batch.

use robust_td_core::features::{FeatureMap, Row, Rows};
use robust_td_core::learner::{Features, Outcome};

use crate::batch::Batch;
use crate::pairing::{Step, StepRows};
use crate::written::Written;

/// The number of rows computed at a time. The CPU overlaps several rows, which it cannot do when learning
/// from one must precede computing the next.
const TOGETHER: usize = 64;

/// Buffers for the features of some rows of a batch, and the properties of the map.
#[derive(Debug, Clone, Default)]
pub(crate) struct FeatureRows {
    /// The features of the rows `start..end` of the batch.
    rows: Rows,
    start: usize,
    end: usize,
    /// The features of an observation and of the next one, when they are not two rows of the batch; `here` is
    /// the index of the former.
    pair: [Row; 2],
    here: usize,
    /// The observation whose features the next pair can reuse; empty if none.
    next_obs: Vec<f64>,
    /// Whether the batch contains precomputed features.
    ready: bool,
    identity: bool,
    adapts: bool,
    /// Whether many rows are computed at a time.
    many: bool,
}

impl FeatureRows {
    /// Buffers for the features of a map.
    pub fn for_map(map: &FeatureMap) -> Self {
        Self {
            pair: [Row::for_map(map), Row::for_map(map)],
            identity: map.is_identity(),
            adapts: map.adapts(),
            many: Written::suits(map),
            ..Self::default()
        }
    }

    /// Announces that the following steps belong to this batch.
    pub fn start_batch(&mut self, map: &FeatureMap, batch: &Batch) {
        (self.start, self.end) = (0, 0);
        self.ready = batch.features.are_of(map);
    }

    /// The features of a step of the batch: those of its observation, and its outcome.
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
            Some(rows) if self.many => self.of_rows(map, batch, step.obs, rows),
            _ => self.of_pair(map, step),
        };
        let outcome = match step.outcome {
            Outcome::Terminated => Outcome::Terminated,
            Outcome::Truncated(_) => Outcome::Truncated(next),
            _ => Outcome::Continues(next),
        };
        (here, outcome)
    }

    /// For rows of the batch, computed before they are needed.
    #[inline]
    fn of_rows<'a>(
        &'a mut self,
        map: &FeatureMap,
        batch: &'a Batch,
        obs: &[f64],
        StepRows { here, last }: StepRows,
    ) -> (Features<'a>, Features<'a>) {
        if !self.ready && last >= self.end {
            // The row before may be needed too.
            self.start = last.saturating_sub(1);
            self.end = batch.len().min(self.start + TOGETHER);
            let d = batch.dimension();
            map.write_rows(&batch.obs[self.start * d..self.end * d], &mut self.rows);
        }
        let (rows, start) = match self.ready {
            true => (batch.features.rows(), 0),
            false => (&self.rows, self.start),
        };
        let here = match here {
            Some(here) => rows.features(here - start),
            None => {
                map.write(obs, &mut self.pair[0]);
                self.pair[0].features()
            }
        };
        (here, rows.features(last - start))
    }

    /// For any two observations; the first is often the second of the previous step.
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
