//! Computes the features of each observation of a log once, or finds them in the batch.

use std::ops::Range;

use robust_td_core::features::{FeatureMap, Row, Rows};
use robust_td_core::learner::{Features, Outcome};

use crate::batch::Batch;
use crate::pairing::{Step, StepRows};

/// The number of rows computed at a time. The CPU overlaps several rows, which it cannot do when learning
/// from one must precede computing the next.
const TOGETHER: usize = 64;
/// The maximum number of dense features computed at a time, so that they stay in the cache.
const MOST_TOGETHER: usize = 1 << 18;
/// With fewer rows at a time, each is computed when it is needed.
const FEWEST_TOGETHER: usize = 8;

/// Buffers for the features of some rows of a batch, and the properties of the map.
#[derive(Debug, Clone, Default)]
pub(crate) struct FeatureRows {
    /// The features of the rows `start..end` of the batch.
    rows: Rows,
    start: usize,
    end: usize,
    /// Those of next observations of a stretch.
    next_rows: Rows,
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
    /// The number of rows computed at a time; 0 if each is computed when it is needed.
    together: usize,
}

impl FeatureRows {
    /// Buffers for the features of a map.
    pub fn for_map(map: &FeatureMap) -> Self {
        let together = match map.is_sparse() {
            true => TOGETHER,
            false => TOGETHER.min(MOST_TOGETHER / map.outputs().max(1)),
        };
        let many = !map.is_identity() && !map.adapts() && together >= FEWEST_TOGETHER;
        Self {
            pair: [Row::for_map(map), Row::for_map(map)],
            identity: map.is_identity(),
            adapts: map.adapts(),
            together: if many { together } else { 0 },
            ..Self::default()
        }
    }

    /// Announces that the following steps belong to this batch.
    pub fn start_batch(&mut self, map: &FeatureMap, batch: &Batch) {
        (self.start, self.end) = (0, 0);
        self.ready = batch.features.are_of(map);
    }

    /// The maximum number of transitions of a stretch whose features are computed at a time; 0 if they are not dense vectors that depend on one
    /// observation only.
    pub fn most_together(&self, map: &FeatureMap) -> usize {
        match map.is_sparse() || self.adapts {
            true => 0,
            false if self.identity => TOGETHER,
            false => self.together,
        }
    }

    /// The features of these rows of a batch and of their next observations, each row by row.
    pub fn of_stretch<'a>(
        &'a mut self,
        map: &FeatureMap,
        batch: &'a Batch,
        rows: Range<usize>,
    ) -> (&'a [f64], &'a [f64]) {
        let d = batch.dimension();
        let (here, next) = (rows.start * d..rows.end * d, &batch.next_obs);
        if self.identity {
            return match next.is_empty() {
                true => (
                    &batch.obs[here.clone()],
                    &batch.obs[here.start + d..here.end + d],
                ),
                false => (&batch.obs[here.clone()], &next[here]),
            };
        }
        (self.start, self.end) = (0, 0);
        if next.is_empty() {
            map.write_rows(&batch.obs[here.start..here.end + d], &mut self.rows);
            let (all, outputs) = (self.rows.dense(), map.outputs());
            return (&all[..rows.len() * outputs], &all[outputs..]);
        }
        map.write_rows(&batch.obs[here.clone()], &mut self.rows);
        map.write_rows(&next[here], &mut self.next_rows);
        (self.rows.dense(), self.next_rows.dense())
    }

    /// The features of a step of the batch: those of its observation, and its outcome.
    #[inline(always)]
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
            Some(rows) if self.together > 0 => self.of_rows(map, batch, step.obs, rows),
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
            self.end = batch.len().min(self.start + self.together);
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
