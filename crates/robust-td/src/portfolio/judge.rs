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

use crate::error::{Error, Result};
use crate::lanes::{Change, Lanes, Line, Measure, WIDTH, flat, lines, with_vectors};

/// The longest block.
const LONGEST: u64 = 256;
/// Blocks of a run, when they are shorter.
const BLOCKS: u64 = 64;

/// Residuals of the lanes of the first lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub(crate) struct Judge {
    /// Steps of a block.
    block: u64,
    seen: u64,
    measured: u64,
    copies: Vec<Line>,
    sums: Vec<Line>,
}

impl Judge {
    /// For so many lines, on a run of so many steps.
    pub fn new(dimension: usize, lines: usize, horizon: u64) -> Self {
        let zeros = vec![Line::default(); dimension * lines];
        Self {
            block: (horizon / BLOCKS).clamp(1, LONGEST),
            seen: 0,
            measured: 0,
            copies: zeros.clone(),
            sums: zeros,
        }
    }

    /// Whether it is for lines of a dimension.
    pub fn fits(&self, dimension: usize, lines: usize) -> bool {
        self.copies.len() == dimension * lines
    }

    /// Forgets what was measured.
    pub fn restart(&mut self) {
        self.sums.fill(Line::default());
        (self.seen, self.measured) = (0, 0);
    }

    /// Looks at a transition before the lanes do; says whether a pair of blocks is now complete.
    #[inline]
    pub fn watch(&mut self, change: &Change<'_>, lanes: &Lanes) -> bool {
        let place = self.seen % (2 * self.block);
        self.seen += 1;
        if place == 0 {
            lanes.write_averages(&mut self.copies);
        }
        if place < self.block {
            return false;
        }
        with_vectors(Measure {
            change,
            dimension: lanes.dimension(),
            theta: &self.copies,
            sums: &mut self.sums,
        });
        self.measured += 1;
        place + 1 == 2 * self.block
    }

    /// The residual of a lane, given the mean squares of the features; none before the first measurement.
    pub fn residual(&self, lane: usize, mean_squares: &[f64]) -> Option<f64> {
        let d = mean_squares.len();
        let sums = &self.sums[lane / WIDTH * d..][..d];
        let square = |(sum, &square): (&Line, &f64)| {
            let mean = sum[lane % WIDTH] / self.measured as f64;
            // A feature that is always zero says nothing.
            if square > 0.0 {
                mean * mean / square
            } else {
                0.0
            }
        };
        let total: f64 = sums.iter().zip(mean_squares).map(square).sum();
        (self.measured > 0).then(|| total.sqrt())
    }
}

/// What is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    block: u64,
    seen: u64,
    measured: u64,
    #[serde(with = "crate::exact_float")]
    copies: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    sums: Vec<f64>,
}

impl From<Judge> for Saved {
    fn from(judge: Judge) -> Self {
        Self {
            block: judge.block,
            seen: judge.seen,
            measured: judge.measured,
            copies: flat(&judge.copies),
            sums: flat(&judge.sums),
        }
    }
}

impl TryFrom<Saved> for Judge {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        let numbers = [saved.copies.len(), saved.sums.len()];
        let whole = numbers[0] == numbers[1] && numbers[0].is_multiple_of(WIDTH);
        if saved.block == 0 || !whole {
            let contradiction = format!("{} copies and {} residuals", numbers[0], numbers[1]);
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            block: saved.block,
            seen: saved.seen,
            measured: saved.measured,
            copies: lines(&saved.copies),
            sums: lines(&saved.sums),
        })
    }
}
