//! Measures the answers of all lanes on samples they have not learned from yet.
//!
//! Time is divided into pairs of blocks. At the start of a pair the answers are copied. The first block is a gap, in which the
//! chain decorrelates; over the second, the residuals delta phi of the copies are summed. Then the next pair begins. No sample is
//! withheld from learning, and none is measured with an answer that has learned from it. The residual of a lane,
//!
//! ```text
//! sqrt( sum_j (mean of delta phi_j)^2 / (mean of phi_j^2) ),
//! ```
//!
//! estimates |E[delta phi]| with every feature scaled to mean square 1. It is 0 at the TD fixed point and
//! independent of the units of the features.

use serde::{Deserialize, Serialize};

use crate::lanes::{Change, Lanes, Line, Measure};

/// The maximum block length.
const LONGEST: u64 = 256;
/// The number of blocks in a run, if that makes them shorter.
const BLOCKS: u64 = 64;

/// Residuals of one line of lanes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Judge {
    /// The number of steps in a block.
    #[serde(deserialize_with = "crate::count::read")]
    block: u64,
    /// The number of steps since this pair of blocks began.
    #[serde(deserialize_with = "crate::count::read")]
    place: u64,
    #[serde(deserialize_with = "crate::count::read")]
    measured: u64,
    /// Copies of the answers, and their sums of delta phi.
    measure: Measure,
    /// The sums of phi_j^2 over the same samples.
    #[serde(with = "crate::exact_float")]
    feature_squares: Vec<f64>,
}

impl Judge {
    /// The judge for a run of `horizon` steps.
    pub fn new(dimension: usize, horizon: u64) -> Self {
        let zeros = vec![Line::default(); dimension];
        Self {
            block: (horizon / BLOCKS).clamp(1, LONGEST),
            place: 0,
            measured: 0,
            measure: Measure {
                theta: zeros.clone(),
                sums: zeros,
            },
            feature_squares: vec![0.0; dimension],
        }
    }

    /// Whether the buffers match this dimension.
    pub fn fits(&self, dimension: usize) -> bool {
        let Measure { theta, sums } = &self.measure;
        (1..=LONGEST).contains(&self.block)
            && self.place < 2 * self.block
            && [theta.len(), sums.len()] == [dimension; 2]
            && self.feature_squares.len() == dimension
    }

    /// Discards all measurements.
    pub fn restart(&mut self) {
        self.measure.sums.fill(Line::default());
        self.feature_squares.fill(0.0);
        (self.place, self.measured) = (0, 0);
    }

    /// Processes a transition before the lanes learn from it, and returns the measurement to make.
    #[inline(always)]
    pub fn watch(&mut self, change: &Change<'_>, lanes: &mut Lanes) -> Option<&mut Measure> {
        let place = self.place;
        self.place = if place + 1 == 2 * self.block {
            0
        } else {
            place + 1
        };
        if place == 0 {
            lanes.write_averages(&mut self.measure.theta);
        }
        if place < self.block {
            return None;
        }
        self.measured += 1;
        change.phi.add_squares(&mut self.feature_squares);
        Some(&mut self.measure)
    }

    /// Whether a pair of blocks has just been completed.
    pub fn has_measured(&self) -> bool {
        self.place == 0 && self.measured > 0
    }

    /// The residual of a lane; `None` before the first measurement.
    pub fn residual(&self, lane: usize) -> Option<f64> {
        let square = |(sum, &square): (&Line, &f64)| {
            // A feature that is always zero carries no information.
            if square > 0.0 {
                sum[lane].powi(2) / square
            } else {
                0.0
            }
        };
        let total: f64 = (self.measure.sums.iter())
            .zip(&self.feature_squares)
            .map(square)
            .sum();
        (self.measured > 0).then(|| (total / self.measured as f64).sqrt())
    }
}
