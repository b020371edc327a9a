//! Measures the answers of all lanes on samples that they have not learned from yet.
//!
//! Time is cut into pairs of blocks. At the start of a pair the answers are copied; the first block is a gap, in which the
//! chain forgets, and over the second the residuals delta phi of the copies are summed. Then the next pair begins: no sample is
//! withheld from learning, and none is measured with an answer that has learned from it. The residual of a lane,
//!
//! ```text
//! sqrt( sum_j (mean of delta phi_j)^2 / (mean of phi_j^2) ),
//! ```
//!
//! estimates |E[delta phi]| with every feature scaled to mean square 1: it is 0 at the TD fixed point and does not
//! depend on the units of the features.

use serde::{Deserialize, Serialize};

use crate::lanes::{Change, Lanes, Line, Measure};

/// The longest block.
const LONGEST: u64 = 256;
/// Blocks of a run, when they are shorter.
const BLOCKS: u64 = 64;

/// Residuals of one line of lanes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Judge {
    /// Steps of a block.
    block: u64,
    /// Steps since this pair of blocks began.
    place: u64,
    measured: u64,
    /// Copies of the answers, and their sums of delta phi.
    measure: Measure,
    /// The sums of phi_j^2 over the same samples.
    #[serde(with = "crate::exact_float")]
    feature_squares: Vec<f64>,
}

impl Judge {
    /// For a run of so many steps.
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

    /// Whether the parts fit a dimension.
    pub fn fits(&self, dimension: usize) -> bool {
        let Measure { theta, sums } = &self.measure;
        (1..=LONGEST).contains(&self.block)
            && self.place < 2 * self.block
            && [theta.len(), sums.len()] == [dimension; 2]
            && self.feature_squares.len() == dimension
    }

    /// Forgets what was measured.
    pub fn restart(&mut self) {
        self.measure.sums.fill(Line::default());
        self.feature_squares.fill(0.0);
        (self.place, self.measured) = (0, 0);
    }

    /// Looks at a transition before the lanes do; what is to be measured is to be done.
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

    /// Whether a pair of blocks is just complete.
    pub fn has_measured(&self) -> bool {
        self.place == 0 && self.measured > 0
    }

    /// The residual of a lane; none before the first measurement.
    pub fn residual(&self, lane: usize) -> Option<f64> {
        let square = |(sum, &square): (&Line, &f64)| {
            // A feature that is always zero says nothing.
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
