//! Estimates the correlation time of a stream's scores, to choose blocks that are nearly independent.
//!
//! The score of a transition is s_t = delta_t(theta) phi_t at a fixed theta. For each coordinate, the sum S over a block of
//! length l has variance l V_l. As l grows, V_l goes from V_1, the variance of one score, to the asymptotic variance per step, which
//! determines the error of averages. V_l / V_1 is the correlation time seen at length l; the largest among the coordinates counts.
//! Blocks of [`TIMES`] correlation times miss only a small part of it. Sums are kept for l = 32, 64, 128, ... at once, each the sum
//! of two shorter ones.

use robust_td_simd::{Simd, Vector, Wide};
use serde::{Deserialize, Serialize};

use crate::lanes::WIDTH;
use crate::phi::Features;

/// The shortest block.
const SHORTEST: u64 = 32;
/// The number of correlation times in a block.
const TIMES: f64 = 8.0;
/// The minimum number of blocks for judging a length.
const FEWEST: u64 = 64;

/// The recommended block length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlockLength {
    #[serde(deserialize_with = "crate::count::read")]
    pub samples: u64,
    /// Whether a block holds enough correlation times, as far as the samples show.
    pub enough: bool,
}

/// Sums of scores over blocks of many lengths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Correlation {
    #[serde(deserialize_with = "crate::count::read")]
    count: u64,
    /// Which features were nonzero at least once.
    seen: Vec<bool>,
    /// The number of features never nonzero.
    #[serde(deserialize_with = "crate::count::read")]
    unseen: usize,
    /// For each coordinate, the sum of s_t^2.
    #[serde(with = "crate::exact_float")]
    squares: Vec<f64>,
    /// Sum of s_t over complete blocks.
    #[serde(with = "crate::exact_float")]
    total: Vec<f64>,
    /// Sum of s_t over the incomplete block.
    #[serde(with = "crate::exact_float")]
    open: Vec<f64>,
    levels: Vec<Level>,
}

/// Blocks of one length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Level {
    #[serde(deserialize_with = "crate::count::read")]
    blocks: u64,
    /// For each coordinate, the sum of S^2.
    #[serde(with = "crate::exact_float")]
    squares: Vec<f64>,
    /// The first block of a pair whose second is incomplete.
    #[serde(with = "crate::exact_float")]
    waiting: Vec<f64>,
    waits: bool,
}

impl Correlation {
    /// The state before the first score.
    pub fn new(dimension: usize) -> Self {
        let zeros = vec![0.0; dimension];
        Self {
            count: 0,
            seen: vec![false; dimension],
            unseen: dimension,
            squares: zeros.clone(),
            total: zeros.clone(),
            open: zeros,
            levels: Vec::new(),
        }
    }

    /// An empty state for further scores that keeps the record of nonzero features.
    pub fn renewed(&self) -> Self {
        Self {
            seen: self.seen.clone(),
            unseen: self.unseen,
            ..Self::new(self.total.len())
        }
    }

    /// Which features were nonzero at least once.
    pub fn seen(&self) -> &[bool] {
        &self.seen
    }

    /// Adds the score delta phi.
    #[inline(always)]
    pub fn push<S: Simd>(&mut self, s: S, delta: f64, phi: &Features<'_>) {
        self.count += 1;
        match phi {
            Features::Dense(phi) => {
                let open = self.open.chunks_mut(WIDTH);
                let sums = self.squares.chunks_mut(WIDTH).zip(open);
                for ((squares, open), x) in sums.zip(phi.chunks(WIDTH)) {
                    let score = s.splat16(delta).mul(s.load16_some(x));
                    let square = s.load16_some(squares).add(score.mul(score));
                    square.store_some(squares);
                    s.load16_some(open).add(score).store_some(open);
                }
                if self.unseen > 0 {
                    phi.iter().enumerate().for_each(|(j, x)| self.see(j, *x));
                }
            }
            Features::Sparse { .. } => phi.for_each(|j, x| {
                let score = delta * x;
                self.squares[j] += score * score;
                self.open[j] += score;
                self.see(j, x);
            }),
        }
        if self.count.is_multiple_of(SHORTEST) {
            self.close_block();
        }
    }

    #[inline]
    fn see(&mut self, j: usize, x: f64) {
        if x != 0.0 && !self.seen[j] {
            self.seen[j] = true;
            self.unseen -= 1;
        }
    }

    fn close_block(&mut self) {
        let mut sum = std::mem::take(&mut self.open);
        for (total, x) in self.total.iter_mut().zip(&sum) {
            *total += x;
        }
        let mut k = 0;
        loop {
            if k == self.levels.len() {
                self.levels.push(Level {
                    blocks: 0,
                    squares: vec![0.0; sum.len()],
                    waiting: vec![0.0; sum.len()],
                    waits: false,
                });
            }
            let level = &mut self.levels[k];
            level.blocks += 1;
            for (square, x) in level.squares.iter_mut().zip(&sum) {
                *square += x * x;
            }
            level.waits = !level.waits;
            if level.waits {
                std::mem::swap(&mut level.waiting, &mut sum);
                break;
            }
            for (x, first) in sum.iter_mut().zip(&level.waiting) {
                *x += first;
            }
            k += 1;
        }
        sum.fill(0.0);
        self.open = sum;
    }

    /// The shortest length that holds enough correlation times, or the longest with enough blocks to judge.
    pub fn block_length(&self) -> BlockLength {
        let mut samples = SHORTEST;
        for (k, level) in self.levels.iter().enumerate() {
            if level.blocks < FEWEST {
                break;
            }
            samples = SHORTEST << k;
            if samples as f64 >= TIMES * self.correlation_time(level, samples as f64) {
                let enough = true;
                return BlockLength { samples, enough };
            }
        }
        let enough = false;
        BlockLength { samples, enough }
    }

    /// The largest V_l / V_1 among the coordinates.
    fn correlation_time(&self, level: &Level, length: f64) -> f64 {
        let complete = (self.levels[0].blocks * SHORTEST) as f64;
        let coordinates = level.squares.iter().zip(&self.total).zip(&self.squares);
        let times = coordinates.filter(|(_, square)| **square > 0.0);
        let times = times.map(|((sums, total), square)| {
            let mean = total / complete;
            let variance = sums / (level.blocks as f64 * length) - length * mean * mean;
            variance / (square / self.count as f64)
        });
        times.fold(0.0, f64::max)
    }

    /// Whether the buffers match this dimension.
    pub fn fits(&self, dimension: usize) -> bool {
        let parts = [&self.squares, &self.total, &self.open];
        let parts = parts
            .into_iter()
            .chain(self.levels.iter().flat_map(|l| [&l.squares, &l.waiting]));
        let mut lengths = parts.map(Vec::len).chain([self.seen.len()]);
        let unseen = self.seen.iter().filter(|seen| !**seen).count();
        self.unseen == unseen && lengths.all(|length| length == dimension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;
    use robust_td_simd::Portable;

    fn push(correlation: &mut Correlation, x: f64) {
        correlation.push(Portable::PLAIN, x, &Features::Dense(&[1.0]));
    }

    fn length(persistence: f64, steps: u64) -> u64 {
        let mut correlation = Correlation::new(1);
        let (mut stream, mut x) = (Stream::new(3, 0), 0.0);
        for _ in 0..steps {
            x = persistence * x + stream.uniform() - 0.5;
            push(&mut correlation, x);
        }
        correlation.block_length().samples
    }

    /// An autoregression x' = a x + noise has correlation time (1 + a) / (1 - a).
    #[test]
    fn blocks_grow_with_the_correlation_time() {
        assert_eq!(length(0.0, 100_000), 32);
        for (persistence, time) in [(0.9, 19.0), (0.99, 199.0)] {
            let length = length(persistence, 1_000_000) as f64;
            assert!((6.0..=17.0).contains(&(length / time)), "{length}");
        }
    }

    #[test]
    fn few_samples_leave_many_blocks() {
        assert_eq!(length(0.999, 4096), 64);
        assert_eq!(length(0.9, 10), SHORTEST);
    }

    #[test]
    fn blocks_that_are_too_short_are_told() {
        for (persistence, steps, enough) in [
            (0.0, 4096, true),
            (0.9, 100_000, true),
            (0.9, 1000, false),
            (0.999, 100_000, false),
        ] {
            let mut correlation = Correlation::new(1);
            let (mut stream, mut x) = (Stream::new(3, 0), 0.0);
            for _ in 0..steps {
                x = persistence * x + stream.uniform() - 0.5;
                push(&mut correlation, x);
            }
            assert_eq!(correlation.block_length().enough, enough, "{persistence}");
        }
    }
}
