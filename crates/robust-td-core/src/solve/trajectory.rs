//! Estimates the sampling error of an answer from one trajectory, whose rows depend on each other over any length of time.
//!
//! Takes the contributions c_k of K consecutive blocks of the log (see [`spread`](super::spread)); they sum to about 0.
//!
//! # Formulas
//! 1. A clock that runs with the variance: v_k is the moving average of (c_k - c_{k-1})^2 / 2 over K/8 blocks, u_k the share of
//!    v up to the middle of block k. e_k = c_k - m, with m the average of c weighted by 1/v. In this clock noise whose
//!    variance changes over time is even.
//! 2. Cosine transforms P_j = 2 (sum_k cos(pi j u_k) e_k)^2, j = 1 .. 32: each estimates the variance of the answer from one
//!    frequency, the lowest from the slowest noise. Their spectrum is flat unless there is slow noise.
//! 3. The variance is V = r (P_1 + ... + P_6) / 6 (equal-weighted cosines, 6 degrees of freedom), where r accounts for
//!    a spectrum that still rises below them.
//! 4. r is the posterior mean of f(0) / mean f(1..6) over 36 spectra f: flat (probability 0.7), or flat plus a
//!    first-order autoregression of 7 time constants and 5 sizes. The weights are Whittle's likelihood of P_1 .. P_32 with the
//!    scale integrated out. The spread of r lowers the degrees of freedom.
//!
//! Where r exceeds 2.2 the slowest noise has a time constant of more than about an eighth of the log, and the data cannot tell its
//! size: not reliable. The interval is at least 0.8 of that of independent blocks, and has the same skewness term.
//!
//! # References
//! Lazarus, Lewis, Stock & Watson, "HAR inference: recommendations for practice", JBES 36, 2018 (equal-weighted cosines, t
//! quantiles); Mueller & Watson, "Measuring uncertainty about long-run predictions", REStud 83, 2016 (low-frequency likelihoods
//! with a posterior over spectra).
//!
//! # Performance
//! O(32 K) per answer, no allocation: several microseconds with K = 128.

use crate::error::{Error, Result};
use crate::solve::spread::{self, Route, Spread, Support};

/// The recommended number of blocks.
pub const BLOCKS: usize = 128;
/// The largest number of blocks.
const LARGEST: usize = 256;
/// The minimum number of blocks for an estimate.
const FEWEST: usize = 32;
/// The cosines that estimate the variance.
const LOWEST: usize = 6;
/// The cosines that judge the spectrum.
const COSINES: usize = 32;
/// The time constants of slow noise, as shares of the trajectory.
const TIMES: [f64; 7] = [
    1.0 / 256.0,
    1.0 / 128.0,
    1.0 / 64.0,
    1.0 / 32.0,
    1.0 / 16.0,
    1.0 / 8.0,
    1.0 / 4.0,
];
/// The sizes of slow noise at frequency 0, relative to fast noise.
const SIZES: [f64; 5] = [0.5, 2.0, 8.0, 32.0, 128.0];
const SPECTRA: usize = 1 + TIMES.len() * SIZES.len();
/// The prior probability of a flat spectrum.
const FLAT: f64 = 0.7;
/// The largest correction for slower noise that the data can tell.
const LARGEST_CORRECTION: f64 = 2.2;
/// The least variance of a block, relative to the mean.
const LEAST_VARIANCE: f64 = 1e-3;

/// Estimates errors from the blocks of one trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    blocks: usize,
    /// 1 / f(j) of all spectra, for each cosine j = 1, 2, ...
    inverse: Vec<[f64; SPECTRA]>,
    /// The logarithm of the prior probability minus half the sum of ln f(j).
    log_weight: [f64; SPECTRA],
    /// f(0) / mean f(1..6).
    correction: [f64; SPECTRA],
}

impl Trajectory {
    /// Prepares for answers with this number of contributions, [`BLOCKS`] where there are as many rows.
    ///
    /// # Errors
    /// When the number is 0 or above 256.
    pub fn new(blocks: usize) -> Result<Self> {
        if !(1..=LARGEST).contains(&blocks) {
            return Err(Error::Parameter {
                name: "blocks",
                value: blocks as f64,
                expected: "from 1 to 256",
            });
        }
        let cosines = COSINES.min(blocks / 4);
        let mut this = Self {
            blocks,
            inverse: vec![[1.0; SPECTRA]; cosines],
            log_weight: [FLAT.ln(); SPECTRA],
            correction: [1.0; SPECTRA],
        };
        if blocks < FEWEST {
            return Ok(this);
        }
        let slow = TIMES.iter().flat_map(|time| SIZES.map(|size| (time, size)));
        for (g, (time, size)) in (1..).zip(slow) {
            let rho = (-1.0 / (time * blocks as f64)).exp();
            let spectrum = |j: usize| {
                let cosine = (std::f64::consts::PI * j as f64 / blocks as f64).cos();
                1.0 + size * (1.0 - rho).powi(2) / (1.0 - 2.0 * rho * cosine + rho * rho)
            };
            let mut logarithms = 0.0;
            for (j, row) in (1..).zip(&mut this.inverse) {
                row[g] = 1.0 / spectrum(j);
                logarithms += spectrum(j).ln();
            }
            let prior = (1.0 - FLAT) / (SPECTRA - 1) as f64;
            this.log_weight[g] = prior.ln() - 0.5 * logarithms;
            let lowest: f64 = (1..=LOWEST).map(spectrum).sum();
            this.correction[g] = (1.0 + size) * LOWEST as f64 / lowest;
        }
        Ok(this)
    }

    /// The number of contributions.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The error of an answer with these contributions, in the order of time; `support.clusters` counts blocks.
    ///
    /// Unreliable with fewer than 32 blocks or 10 rows, or when the slowest noise is too slow for the trajectory.
    ///
    /// # Panics
    /// When the number of contributions is not [`Trajectory::blocks`].
    #[must_use]
    pub fn spread(&self, contributions: &[f64], support: Support) -> Spread {
        assert_eq!(
            contributions.len(),
            self.blocks,
            "one contribution per block"
        );
        if self.blocks < FEWEST || !spread::enough(support) {
            return Spread::UNKNOWN;
        }
        let floor = spread::fast(contributions, support);
        if floor.standard_error == 0.0 {
            return Spread::new(floor, None, spread::enough_rows(support));
        }
        let mut powers = [0.0; COSINES];
        let powers = &mut powers[..self.inverse.len()];
        cosine_powers(contributions, powers);
        let (correction, variation) = self.correction(powers);
        let mean = powers[..LOWEST].iter().sum::<f64>() / LOWEST as f64;
        let Support { clusters, rows } = support;
        let standard_error = (mean * correction * (clusters - 1.0) / clusters).sqrt();
        let freedom = 1.0 / (1.0 / LOWEST as f64 + 0.5 * variation);
        let third = contributions.iter().map(|c| c * c * c).sum();
        let main = Route {
            standard_error,
            freedom: freedom.min(clusters - 1.0).min(0.5 * (rows - 1.0)).max(1.0),
            skewness: spread::skewness(third, standard_error, support),
        };
        let reliable = spread::enough_rows(support) && correction < LARGEST_CORRECTION;
        Spread::new(main, Some(floor), reliable)
    }

    /// The posterior mean of r and its squared coefficient of variation.
    fn correction(&self, powers: &[f64]) -> (f64, f64) {
        let mut scales = [0.0; SPECTRA];
        for (power, row) in powers.iter().zip(&self.inverse) {
            for (scale, inverse) in scales.iter_mut().zip(row) {
                *scale += power * inverse;
            }
        }
        let half = 0.5 * powers.len() as f64;
        let mut weights = self.log_weight;
        let mut largest = f64::NEG_INFINITY;
        for (weight, scale) in weights.iter_mut().zip(scales) {
            *weight -= half * scale.ln();
            largest = largest.max(*weight);
        }
        let [mut total, mut first, mut second] = [0.0; 3];
        for (weight, r) in weights.iter().zip(self.correction) {
            let weight = (weight - largest).exp();
            total += weight;
            first += weight * r;
            second += weight * r * r;
        }
        let mean = first / total;
        (mean, (second / total / (mean * mean) - 1.0).max(0.0))
    }
}

/// P_1, P_2, ... in the clock of the variance.
fn cosine_powers(contributions: &[f64], powers: &mut [f64]) {
    let blocks = contributions.len();
    let [mut variance, mut excess] = [[0.0; LARGEST]; 2];
    let (variance, excess) = (&mut variance[..blocks], &mut excess[..blocks]);
    local_variance(contributions, variance);
    let [mut weighted, mut weights, mut total] = [0.0; 3];
    for (c, v) in contributions.iter().zip(&*variance) {
        weighted += c / v;
        weights += 1.0 / v;
        total += v;
    }
    let mean = weighted / weights;
    // cos(j x) by its recursion from cos((j - 1) x) and cos((j - 2) x).
    let [mut twice, mut before, mut now] = [[0.0; LARGEST]; 3];
    let mut clock = 0.0;
    for k in 0..blocks {
        excess[k] = contributions[k] - mean;
        let share = (clock + 0.5 * variance[k]) / total;
        clock += variance[k];
        now[k] = (std::f64::consts::PI * share).cos();
        (twice[k], before[k]) = (2.0 * now[k], 1.0);
    }
    for power in powers {
        // Lanes let the compiler use vectors; their order is fixed.
        let mut lanes = [0.0; 8];
        for start in (0..blocks).step_by(8) {
            for lane in 0..8.min(blocks - start) {
                let k = start + lane;
                lanes[lane] += now[k] * excess[k];
                (before[k], now[k]) = (now[k], twice[k] * now[k] - before[k]);
            }
        }
        let sum: f64 = lanes.iter().sum();
        *power = 2.0 * sum * sum;
    }
}

/// The moving average of half the squared differences of neighbours.
fn local_variance(contributions: &[f64], variance: &mut [f64]) {
    let (blocks, reach) = (contributions.len(), contributions.len() / 16);
    let half_square = |k: usize| {
        let step = contributions[k] - contributions[k - 1];
        0.5 * step * step
    };
    // cumulative[k]: the sum over blocks before k; each block has the mean of its two differences.
    let mut cumulative = [0.0; LARGEST + 1];
    for k in 0..blocks {
        let (left, right) = (k.max(1), (k + 1).min(blocks - 1));
        cumulative[k + 1] = cumulative[k] + 0.5 * (half_square(left) + half_square(right));
    }
    let least = LEAST_VARIANCE * cumulative[blocks] / blocks as f64;
    for (k, v) in variance.iter_mut().enumerate() {
        let (from, to) = (k.saturating_sub(reach), (k + reach + 1).min(blocks));
        *v = ((cumulative[to] - cumulative[from]) / (to - from) as f64).max(least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn support(blocks: usize) -> Support {
        Support {
            clusters: blocks as f64,
            rows: 1e4,
        }
    }

    #[test]
    fn cosines_of_equal_variance_are_those_of_time() {
        // Alternating contributions have the same squared differences everywhere.
        let contributions: Vec<f64> = (0..64)
            .map(|k| if k % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        let mut powers = [0.0; 16];
        cosine_powers(&contributions, &mut powers);
        for (j, power) in (1..).zip(powers) {
            let angle = |k: usize| std::f64::consts::PI * f64::from(j) * (k as f64 + 0.5) / 64.0;
            let sum: f64 = (0..64).map(|k| angle(k).cos() * contributions[k]).sum();
            assert!((power - 2.0 * sum * sum).abs() < 1e-9, "{j}: {power}");
        }
    }

    #[test]
    fn the_answer_scales_and_ignores_the_direction_of_time() {
        let trajectory = Trajectory::new(BLOCKS).unwrap();
        let mut contributions: Vec<f64> = (0..BLOCKS).map(|k| ((k * k) as f64).sin()).collect();
        let once = trajectory.spread(&contributions, support(BLOCKS));
        contributions.iter_mut().for_each(|c| *c *= 1e-7);
        let small = trajectory.spread(&contributions, support(BLOCKS));
        contributions.reverse();
        let reversed = trajectory.spread(&contributions, support(BLOCKS));
        for (a, b) in [(once, small), (small, reversed)] {
            assert!((a.freedom() / b.freedom() - 1.0).abs() < 1e-9);
        }
        let ratio = once.standard_error() / small.standard_error();
        assert!((ratio * 1e-7 - 1.0).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn a_trend_is_not_reliable() {
        let trajectory = Trajectory::new(BLOCKS).unwrap();
        let trend: Vec<f64> = (0..BLOCKS).map(|k| k as f64 - 63.5).collect();
        assert!(!trajectory.spread(&trend, support(BLOCKS)).reliable);
    }

    #[test]
    fn short_and_constant_trajectories() {
        let short = Trajectory::new(20).unwrap();
        assert_eq!(short.spread(&[1.0; 20], support(20)), Spread::UNKNOWN);
        let constant = Trajectory::new(40).unwrap();
        assert_eq!(
            constant.spread(&[0.0; 40], support(40)).half_width(0.95),
            0.0
        );
        assert!(Trajectory::new(0).is_err() && Trajectory::new(257).is_err());
    }
}
