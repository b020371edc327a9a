//! Tracks a learner's temporal-difference errors and its residual on blocks not learned from yet.

use robust_td_core::learner::{Learner, Transition};
use robust_td_core::online::TdErrorSums;
use serde::{Deserialize, Serialize};

/// The minimum number of samples in a block that is measured before it is learned from.
const BLOCK: u64 = 64;
/// One block in this number is measured.
const EVERY: u64 = 8;

/// The samples per block for a dimension: long enough that copying the answer costs little per sample.
fn block(dimension: usize) -> u64 {
    BLOCK.max(dimension as u64 / EVERY)
}

/// The errors so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diagnostics {
    /// Samples since the start of the last measured block, and the number of measured blocks started.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    place: u64,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    blocks: u64,
    td_errors: TdErrors,
    snapshot: Floats,
    older: Residual,
    younger: Residual,
}

/// Numbers that need not be finite.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Floats(#[serde(with = "robust_td_core::exact_float")] Vec<f64>);

/// The temporal-difference errors delta_t, each at the iterate of step t.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TdErrors {
    #[serde(deserialize_with = "robust_td_core::count::read")]
    count: u64,
    #[serde(with = "robust_td_core::exact_float")]
    sum: f64,
    #[serde(with = "robust_td_core::exact_float")]
    sum_of_squares: f64,
    #[serde(with = "robust_td_core::exact_float")]
    largest: f64,
}

impl TdErrors {
    /// Their mean; 0 when there are none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// The root of their mean square.
    #[must_use]
    pub fn rms(&self) -> f64 {
        (self.sum_of_squares / self.count.max(1) as f64).sqrt()
    }

    /// The largest absolute value.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// Errors with these sums.
    pub(crate) fn of(count: u64, sums: &TdErrorSums) -> Self {
        Self {
            count,
            sum: sums.sum,
            sum_of_squares: sums.squares,
            largest: sums.largest,
        }
    }

    /// Adds the errors of other transitions.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
        self.largest = self.largest.max(other.largest);
    }

    #[inline]
    pub(crate) fn record(&mut self, delta: f64) {
        self.count += 1;
        self.sum += delta;
        self.sum_of_squares += delta * delta;
        // The negated comparison keeps NaN.
        if !(delta.abs() <= self.largest) {
            self.largest = delta.abs();
        }
    }
}

/// The sum of delta phi over measured blocks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Residual {
    #[serde(deserialize_with = "robust_td_core::count::read")]
    count: u64,
    sum: Floats,
}

impl Residual {
    fn restart(&mut self, dimension: usize) {
        self.count = 0;
        self.sum.0.clear();
        self.sum.0.resize(dimension, 0.0);
    }

    #[inline]
    fn add(&mut self, g: f64, transition: &Transition<'_>) {
        self.count += 1;
        transition.features.axpy(g, &mut self.sum.0);
    }

    fn norm(&self) -> Option<f64> {
        let squares = self.sum.0.iter().map(|x| x * x).sum::<f64>();
        (self.count > 0).then(|| squares.sqrt() / self.count as f64)
    }
}

impl Diagnostics {
    /// Measures a transition before the learner learns from it.
    #[inline]
    pub fn watch(&mut self, learner: &impl Learner, transition: &Transition<'_>) {
        let block = block(learner.dimension());
        if self.place < block {
            if self.place == 0 {
                self.start_block(learner);
            }
            let delta = transition.td_error(&self.snapshot.0, learner.discount());
            let g = transition.ratio * delta;
            self.older.add(g, transition);
            self.younger.add(g, transition);
        }
        self.place += 1;
        if self.place == block * EVERY {
            self.place = 0;
        }
    }

    /// Records a temporal-difference error of the learner.
    #[inline]
    pub fn record(&mut self, td_error: f64) {
        self.td_errors.record(td_error);
    }

    /// Stores the answer with which a block is measured.
    fn start_block(&mut self, learner: &impl Learner) {
        self.snapshot.0 = learner.output();
        if self.blocks == 0 {
            self.older.restart(learner.dimension());
            self.younger.restart(learner.dimension());
        } else if self.blocks.is_power_of_two() {
            std::mem::swap(&mut self.older, &mut self.younger);
            self.younger.restart(learner.dimension());
        }
        self.blocks += 1;
    }

    /// Whether the buffers match this dimension.
    pub(crate) fn fit(&self, dimension: usize) -> bool {
        let parts = [&self.snapshot, &self.older.sum, &self.younger.sum];
        let length = if self.blocks == 0 { 0 } else { dimension };
        self.place < block(dimension) * EVERY && parts.iter().all(|part| part.0.len() == length)
    }

    /// The temporal-difference errors.
    #[must_use]
    pub fn td_errors(&self) -> &TdErrors {
        &self.td_errors
    }

    /// |mean of delta phi| over blocks of the later part of the stream, each with the answer before the block was
    /// learned from. It tends to |E[delta phi]|, which is 0 at the TD fixed point.
    ///
    /// One block in eight is measured. A block has 64 samples, or an eighth of the number of features if that is more. The
    /// blocks cover at least the later half of the stream.
    #[must_use]
    pub fn residual(&self) -> Option<f64> {
        self.older.norm()
    }
}
