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
//! 4. r is the posterior mean of f(0) / mean f(1..6) over 36 spectra f: flat (probability 0.6), or flat plus a
//!    first-order autoregression of 7 time constants and 5 sizes. The weights are Whittle's likelihood of P_1 .. P_32 with the
//!    scale integrated out. The spread of r lowers the degrees of freedom.
//!
//! Where r exceeds 2.2, or the 6 lowest cosines in plain time hold more than 0.65 of the sum of c^2, the slowest noise has a
//! time constant of more than about an eighth of the log, and the data cannot tell its size: not reliable. The interval is at
//! least 0.7 of that of independent groups of 4 blocks. Skewness moves the longer side as for clusters, and does not shorten the other: correlated
//! blocks do not show the third moment of the error. Nor is an answer reliable whose blocks have fewer than 10 degrees of freedom.
//!
//! # References
//! Lazarus, Lewis, Stock & Watson, "HAR inference: recommendations for practice", JBES 36, 2018 (equal-weighted cosines, t
//! quantiles); Mueller & Watson, "Measuring uncertainty about long-run predictions", REStud 83, 2016 (low-frequency likelihoods
//! with a posterior over spectra).
//!
//! # Performance
//! O(32 K) per answer, no allocation: about a microsecond with K = 128 and AVX-512.

use robust_td_simd::{Line, Simd, Vector, Wide, Work};

use crate::error::{Error, Result};
use crate::solve::cosines::{LARGEST, cosine_powers};
use crate::solve::spread::{self, Route, Skewness, Spread};
use crate::solve::support::Support;

/// The recommended number of blocks.
pub const BLOCKS: usize = 128;
/// The minimum number of blocks for an estimate.
const FEWEST: usize = 64;
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
/// One number per spectrum, the flat one first, then others that do not count.
type Spectra = [Line<16>; SPECTRA.div_ceil(16)];
/// The prior probability of a flat spectrum.
const FLAT: f64 = 0.6;
/// The largest correction for slower noise that the data can tell.
const LARGEST_CORRECTION: f64 = 2.2;
/// The largest share of the lowest cosines in the sum of squares.
const LARGEST_SHARE: f64 = 0.65;
/// The number of blocks that are taken as one for the least width: neighbours may be correlated, or cancel.
const NEIGHBOURS: usize = 4;
/// The minimum degrees of freedom of independent blocks; below, an answer rests on rare outcomes.
const FEWEST_FREEDOM: f64 = 10.0;

/// Estimates errors from the blocks of one trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    blocks: usize,
    /// cos(pi j (k + 1/2) / K), j = 1 .. 6, for sixteen blocks k at a time.
    cosines: Vec<[Line<16>; LOWEST]>,
    /// 1 / f(j) of all spectra, for each cosine j = 1, 2, ...
    inverse: Vec<Spectra>,
    /// The prior probability divided by the square root of the product of f(j).
    weight: Spectra,
    /// f(0) / mean f(1..6).
    correction: Spectra,
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
        let frequency = |j: usize| std::f64::consts::PI * j as f64 / blocks as f64;
        let cosine = |k: usize, j: usize| (frequency(j) * (k as f64 + 0.5)).cos();
        let mut this = Self {
            blocks,
            cosines: (0..blocks)
                .step_by(16)
                .map(|k| {
                    let line = |j| Line::new(std::array::from_fn(|lane| cosine(k + lane, j + 1)));
                    std::array::from_fn(line)
                })
                .collect(),
            inverse: vec![[Line::of(1.0); _]; COSINES],
            weight: [Line::of(0.0); _],
            correction: [Line::of(1.0); _],
        };
        this.weight[0].0[0] = FLAT;
        if blocks < FEWEST {
            return Ok(this);
        }
        let slow = TIMES.iter().flat_map(|time| SIZES.map(|size| (time, size)));
        for (g, (time, size)) in (1..).zip(slow) {
            let rho = (-1.0 / (time * blocks as f64)).exp();
            let spectrum = |j: usize| {
                let distance = 1.0 - 2.0 * rho * frequency(j).cos() + rho * rho;
                1.0 + size * (1.0 - rho).powi(2) / distance
            };
            let mut logarithms = 0.0;
            for (j, row) in (1..).zip(&mut this.inverse) {
                Line::numbers_mut(row)[g] = 1.0 / spectrum(j);
                logarithms += spectrum(j).ln();
            }
            let prior = (1.0 - FLAT) / (SPECTRA - 1) as f64;
            Line::numbers_mut(&mut this.weight)[g] = prior * (-0.5 * logarithms).exp();
            let lowest: f64 = (1..=LOWEST).map(spectrum).sum();
            Line::numbers_mut(&mut this.correction)[g] = (1.0 + size) * LOWEST as f64 / lowest;
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
    /// Unreliable with fewer than 64 blocks or 10 rows, or when the slowest noise is too slow for the trajectory, or few
    /// blocks make up the error.
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
        let sums = spread::power_sums(contributions);
        let units = spread::rescaled(contributions, sums);
        if let Some((unit, contributions)) = units {
            return self.spread(&contributions, support).scaled_by(unit);
        }
        let fast = spread::fast(sums, self.blocks, support);
        if fast.standard_error == 0.0 {
            return Spread::new(fast, None, spread::enough_rows(support));
        }
        let mut powers = [0.0; COSINES];
        cosine_powers(contributions, &mut powers);
        let (correction, variation) = self.correction(&powers);
        let mean = powers[..LOWEST].iter().sum::<f64>() / LOWEST as f64;
        let Support { clusters, rows, .. } = support;
        let standard_error = (mean * correction * (clusters - 1.0) / clusters).sqrt();
        let freedom = 1.0 / (1.0 / LOWEST as f64 + 0.5 * variation);
        let main = Route {
            standard_error,
            freedom: freedom.min(clusters - 1.0).min(0.5 * (rows - 1.0)).max(1.0),
            skewness: Skewness::new(sums[1], standard_error, fast.freedom, support).outwards_only(),
        };
        let slow =
            correction > LARGEST_CORRECTION || self.slow_share(contributions) > LARGEST_SHARE;
        let rare = spread::is_rare(sums, FEWEST_FREEDOM, self.blocks, support);
        let reliable = spread::enough_rows(support) && !slow && !rare;
        let mut pooled = [0.0; LARGEST];
        let groups = contributions.chunks(NEIGHBOURS);
        let pooled = &mut pooled[..groups.len()];
        for (sum, group) in pooled.iter_mut().zip(groups) {
            *sum = group.iter().sum();
        }
        let mut floor = spread::fast(spread::power_sums(pooled), pooled.len(), support);
        floor.skewness = floor.skewness.outwards_only();
        Spread::new(main, Some(floor), reliable)
    }

    /// The share of the lowest cosines in the sum of squares around the mean.
    fn slow_share(&self, contributions: &[f64]) -> f64 {
        robust_td_simd::run(SlowShare {
            contributions,
            cosines: &self.cosines,
        })
    }

    /// The posterior mean of r and its squared coefficient of variation.
    fn correction(&self, powers: &[f64; COSINES]) -> (f64, f64) {
        robust_td_simd::run(Posterior {
            powers,
            trajectory: self,
        })
    }
}

struct SlowShare<'a> {
    contributions: &'a [f64],
    cosines: &'a [[Line<16>; LOWEST]],
}

impl Work for SlowShare<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) -> f64 {
        let mut sums = [s.splat16(0.0); LOWEST];
        let [mut total, mut squares] = [s.splat16(0.0); 2];
        for (c, lines) in self.contributions.chunks(16).zip(self.cosines) {
            let c = s.load16_some(c);
            total = total.add(c);
            squares = c.fma(c, squares);
            for (sum, line) in sums.iter_mut().zip(lines) {
                *sum = c.fma(s.load16(line), *sum);
            }
        }
        let mut slow = 0.0;
        for sum in sums {
            slow += sum.sum().powi(2);
        }
        let (blocks, total) = (self.contributions.len() as f64, total.sum());
        2.0 * slow / (blocks * squares.sum() - total * total)
    }
}

/// Averages over the spectra; with S_g the sum of P_j / f_g(j), the likelihood of spectrum g is S_g^(-16) times the square root of the
/// product of 1 / f_g(j). It is taken relative to the flat spectrum: 1/129 <= S_g / S_flat <= 1, so that no power overflows.
struct Posterior<'a> {
    powers: &'a [f64; COSINES],
    trajectory: &'a Trajectory,
}

impl Work for Posterior<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) -> (f64, f64) {
        const { assert!(COSINES == 32, "the likelihood is a power of 32 / 2") }
        let Trajectory {
            inverse,
            weight,
            correction,
            ..
        } = self.trajectory;
        let mut scales = [s.splat16(0.0); SPECTRA.div_ceil(16)];
        for (power, row) in self.powers.iter().zip(inverse) {
            for (scale, line) in scales.iter_mut().zip(row) {
                *scale = s.splat16(*power).fma(s.load16(line), *scale);
            }
        }
        let flat = s.splat16(scales[0].lane(0));
        let [mut total, mut first, mut second] = [s.splat16(0.0); 3];
        for ((scale, weight), r) in scales.into_iter().zip(weight).zip(correction) {
            let mut power = flat.div(scale);
            for _ in 0..4 {
                power = power.mul(power);
            }
            let (weight, r) = (power.mul(s.load16(weight)), s.load16(r));
            let weighted = weight.mul(r);
            total = total.add(weight);
            first = first.add(weighted);
            second = weighted.fma(r, second);
        }
        let total = total.sum();
        let mean = first.sum() / total;
        (mean, (second.sum() / total / (mean * mean) - 1.0).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use robust_td_simd::Kernel;

    use super::*;

    fn support(blocks: usize) -> Support {
        Support::even(blocks as f64, 1e4)
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
    fn units_do_not_matter() {
        let trajectory = Trajectory::new(BLOCKS).unwrap();
        let contributions: Vec<f64> = (0..BLOCKS).map(|k| ((k * k) as f64).sin()).collect();
        let once = trajectory.spread(&contributions, support(BLOCKS));
        for exponent in [-1000, -600, -300, 300, 600, 1000] {
            let unit = 2_f64.powi(exponent);
            let scaled: Vec<f64> = contributions.iter().map(|c| c * unit).collect();
            let other = trajectory.spread(&scaled, support(BLOCKS));
            let [a, b] = [once, other].map(|spread| spread.half_width(0.95));
            assert!((b / unit / a - 1.0).abs() < 1e-9, "{exponent}: {b}");
            assert_eq!(other.reliable, once.reliable);
        }
    }

    #[test]
    fn sides_grow_with_the_confidence() {
        let trajectory = Trajectory::new(BLOCKS).unwrap();
        let wild = |k: usize| ((k * k) as f64).sin().exp() - 1.2;
        let contributions: Vec<f64> = (0..BLOCKS).map(wild).collect();
        let spread = trajectory.spread(&contributions, support(BLOCKS));
        let mut last = [0.0; 2];
        for k in 1..1000 {
            let sides = spread.sides(1.0 - 0.985_f64.powi(k));
            assert!(sides.below > last[0] && sides.above > last[1], "{k}");
            last = [sides.below, sides.above];
        }
    }

    /// For numbers of blocks that do not fill vectors, too.
    #[test]
    fn every_kernel_gives_the_same_bits() {
        for blocks in [64, 65, 100, 128, 255] {
            let trajectory = Trajectory::new(blocks).unwrap();
            let wild = |k: usize| ((k * k) as f64).sin() * (1.0 + (k as f64 / 20.0).cos().abs());
            let contributions: Vec<f64> = (0..blocks).map(wild).collect();
            let mut powers = [0.0; COSINES];
            cosine_powers(&contributions, &mut powers);
            let (mean, variation) = trajectory.correction(&powers);
            let share = trajectory.slow_share(&contributions);
            for kernel in Kernel::available() {
                let found = kernel.run(Posterior {
                    powers: &powers,
                    trajectory: &trajectory,
                });
                assert_eq!(found, (mean, variation), "{kernel:?}, {blocks}");
                let found = kernel.run(SlowShare {
                    contributions: &contributions,
                    cosines: &trajectory.cosines,
                });
                assert_eq!(found, share, "{kernel:?}, {blocks}");
            }
            let plain = straight(&trajectory, &powers);
            assert!((mean / plain.0 - 1.0).abs() < 1e-12, "{mean} {plain:?}");
            assert!((variation - plain.1).abs() < 1e-10, "{variation} {plain:?}");
        }
    }

    /// The posterior of r by the formulas of the header.
    fn straight(trajectory: &Trajectory, powers: &[f64; COSINES]) -> (f64, f64) {
        let blocks = trajectory.blocks as f64;
        let slow = TIMES
            .iter()
            .flat_map(|time| SIZES.map(|size| (*time, size)));
        let spectra = std::iter::once((1.0, 0.0)).chain(slow);
        let mut sums = [0.0; 3];
        for (time, size) in spectra {
            let rho = (-1.0 / (time * blocks)).exp();
            let f = |j: usize| {
                let angle = std::f64::consts::PI * j as f64 / blocks;
                1.0 + size * (1.0 - rho).powi(2) / (1.0 - 2.0 * rho * angle.cos() + rho * rho)
            };
            let prior = match size == 0.0 {
                true => FLAT,
                false => (1.0 - FLAT) / (SPECTRA - 1) as f64,
            };
            let scale: f64 = (1..).zip(powers).map(|(j, power)| power / f(j)).sum();
            let product: f64 = (1..=COSINES).map(f).product();
            let weight = prior * scale.powf(-0.5 * COSINES as f64) / product.sqrt();
            let r = f(0) * LOWEST as f64 / (1..=LOWEST).map(f).sum::<f64>();
            sums = [
                sums[0] + weight,
                sums[1] + weight * r,
                sums[2] + weight * r * r,
            ];
        }
        let mean = sums[1] / sums[0];
        (mean, sums[2] / sums[0] / (mean * mean) - 1.0)
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
        let constant = Trajectory::new(70).unwrap();
        assert_eq!(
            constant.spread(&[0.0; 70], support(70)).half_width(0.95),
            0.0
        );
        assert!(Trajectory::new(0).is_err() && Trajectory::new(257).is_err());
    }
}
