//! Transforms the contributions of consecutive blocks into cosines, in a clock that runs with their variance.

use robust_td_simd::{Line, Simd, Vector, Wide, Work};

/// The largest number of blocks.
pub(super) const LARGEST: usize = 256;
/// The least variance of a block, relative to the mean.
const LEAST_VARIANCE: f64 = 1e-3;

/// The largest number of cosines.
const MOST_COSINES: usize = 32;
const LINES: usize = LARGEST / 16;
/// The largest number of blocks on either side in a moving average.
const REACH: usize = LARGEST / 16;

/// One number per block, and zeros.
type Blocks = [Line<16>; LINES];

/// P_1, P_2, ..., at most 32, in the clock of the variance.
pub(super) fn cosine_powers(contributions: &[f64], powers: &mut [f64]) {
    assert!(contributions.len() > 1 && contributions.len() <= LARGEST);
    assert!(powers.len() <= MOST_COSINES);
    robust_td_simd::run(Transform {
        contributions,
        powers,
    });
}

struct Transform<'a> {
    contributions: &'a [f64],
    powers: &'a mut [f64],
}

impl Work for Transform<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        let contributions = self.contributions;
        let blocks = contributions.len();
        let lines = blocks.div_ceil(16);
        let [mut variance, mut weight, mut before, mut excess]: [Blocks; 4] =
            [[Line::of(0.0); LINES]; 4];
        local_variance(
            contributions,
            &mut Line::numbers_mut(&mut variance)[..blocks],
        );
        let weights = Line::numbers_mut(&mut weight).iter_mut();
        for (weight, v) in weights.zip(&Line::numbers(&variance)[..blocks]) {
            *weight = 1.0 / v;
        }
        let [mut weighted, mut weights, mut total] = [s.splat16(0.0); 3];
        for (k, c) in contributions.chunks(16).enumerate() {
            let w = s.load16(&weight[k]);
            weighted = w.fma(s.load16_some(c), weighted);
            weights = weights.add(w);
            total = total.add(s.load16(&variance[k]));
        }
        let mean = weighted.sum() / weights.sum();
        for (excess, c) in (Line::numbers_mut(&mut excess).iter_mut()).zip(contributions) {
            *excess = c - mean;
        }
        sums_before(
            &Line::numbers(&variance)[..16 * lines],
            Line::numbers_mut(&mut before),
        );
        let share = s.splat16(1.0 / total.sum());
        let half = s.splat16(0.5);
        // Two lines at a time, so that one need not wait for the other. No closures: they would not be compiled for the kernel.
        let mut sums = [Line::of(0.0); MOST_COSINES];
        let sums = &mut sums[..self.powers.len()];
        for k in (0..lines).step_by(2) {
            let middle = half.fma(s.load16(&variance[k]), s.load16(&before[k]));
            let mut one = Wave::new(s, cos_pi(s, middle.mul(share)), &excess[k]);
            let middle = half.fma(s.load16(&variance[k + 1]), s.load16(&before[k + 1]));
            let mut other = Wave::new(s, cos_pi(s, middle.mul(share)), &excess[k + 1]);
            for sum in &mut *sums {
                let wide = one.add_and_raise(s, s.load16(sum));
                other.add_and_raise(s, wide).store(sum);
            }
        }
        for (power, sum) in self.powers.iter_mut().zip(sums) {
            let sum = s.load16(sum).sum();
            *power = 2.0 * sum * sum;
        }
    }
}

/// Sixteen blocks with their cosines of the current and the last frequency.
#[derive(Clone, Copy)]
struct Wave<V> {
    excess: V,
    twice: V,
    before: V,
    now: V,
}

impl<V: Vector> Wave<V> {
    #[inline(always)]
    fn new<S: Simd<Wide = V>>(s: S, cosine: V, excess: &Line<16>) -> Self {
        Self {
            excess: s.load16(excess),
            twice: cosine.add(cosine),
            before: s.splat16(1.0),
            now: cosine,
        }
    }

    /// Adds cosine times excess, then goes to the next frequency: cos(j x) = 2 cos(x) cos((j - 1) x) - cos((j - 2) x).
    #[inline(always)]
    fn add_and_raise<S: Simd<Wide = V>>(&mut self, s: S, sums: V) -> V {
        let now = self.now;
        let minus_before = s.splat16(0.0).sub(self.before);
        self.now = self.twice.fma(now, minus_before);
        self.before = now;
        now.fma(self.excess, sums)
    }
}

/// cos(pi u) for u from 0 to 1, to about 2e-16: Taylor's series of sin(pi (1/2 - u)).
#[inline(always)]
fn cos_pi<S: Simd>(s: S, u: S::Wide) -> S::Wide {
    /// (-1)^n pi^(2n + 1) / (2n + 1)!, the last first.
    const TERMS: [f64; 11] = [
        5.392664662608129e-10,
        -2.2948428997269873e-08,
        7.952054001475513e-07,
        -2.1915353447830217e-05,
        0.00046630280576761255,
        -0.0073704309457143504,
        0.08214588661112823,
        -0.5992645293207921,
        2.5501640398773455,
        -5.16771278004997,
        std::f64::consts::PI,
    ];
    let y = s.splat16(0.5).sub(u);
    let square = y.mul(y);
    let mut sum = s.splat16(TERMS[0]);
    for term in &TERMS[1..] {
        sum = sum.fma(square, s.splat16(*term));
    }
    sum.mul(y)
}

/// The sums of all numbers before each; eight at a time, because a single chain of sums is slow.
#[inline(always)]
fn sums_before(numbers: &[f64], sums: &mut [f64]) {
    let mut total = 0.0;
    for (numbers, sums) in (numbers.as_chunks::<8>().0.iter()).zip(sums.as_chunks_mut::<8>().0) {
        let mut own = 0.0;
        for (number, sum) in numbers.iter().zip(sums) {
            *sum = total + own;
            own += number;
        }
        total += own;
    }
}

/// The moving average of half the squared differences of neighbours.
#[inline(always)]
fn local_variance(contributions: &[f64], variance: &mut [f64]) {
    let (blocks, reach) = (contributions.len(), contributions.len() / 16);
    // Half the squared difference to the next block; both ends have only one neighbour.
    let mut steps = [0.0; LARGEST + 1];
    for (step, pair) in steps[1..].iter_mut().zip(contributions.windows(2)) {
        let difference = pair[1] - pair[0];
        *step = 0.5 * difference * difference;
    }
    (steps[0], steps[blocks]) = (steps[1], steps[blocks - 1]);
    // The sums over the blocks before each, 0 before the first and everything after the last.
    let [mut own, mut sums] = [[0.0; LARGEST + 3 * REACH]; 2];
    for (own, pair) in own[REACH..][..blocks].iter_mut().zip(steps.windows(2)) {
        *own = 0.5 * (pair[0] + pair[1]);
    }
    let end = (blocks + 2 * REACH + 1).next_multiple_of(8);
    sums_before(&own[..end], &mut sums[..end]);
    let least = LEAST_VARIANCE * sums[REACH + blocks] / blocks as f64;
    let windows = sums[REACH - reach..].iter().zip(&sums[REACH + reach + 1..]);
    let share = 1.0 / (2 * reach + 1) as f64;
    for (v, (before, after)) in variance.iter_mut().zip(windows) {
        *v = (share * (after - before)).max(least);
    }
    // Fewer blocks are near the ends.
    for k in (0..reach.min(blocks)).chain(blocks.saturating_sub(reach)..blocks) {
        let (from, to) = (k.saturating_sub(reach), (k + reach + 1).min(blocks));
        let sum = sums[REACH + to] - sums[REACH + from];
        variance[k] = (sum / (to - from) as f64).max(least);
    }
}

#[cfg(test)]
mod tests {
    use robust_td_simd::Kernel;

    use super::*;

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

    /// The straight-line formulas, for numbers of blocks that do not fill vectors.
    #[test]
    fn powers_are_those_of_the_formulas() {
        for blocks in [64, 65, 79, 99, 128, 200, 255, 256] {
            let wild = |k: usize| ((k * k) as f64).sin() * (1.0 + (k as f64 / 20.0).cos().abs());
            let c: Vec<f64> = (0..blocks).map(wild).collect();
            let half_square = |k: usize| 0.5 * (c[k] - c[k - 1]).powi(2);
            let own = |k: usize| {
                let (left, right) = (k.max(1), (k + 1).min(blocks - 1));
                0.5 * (half_square(left) + half_square(right))
            };
            let reach = blocks / 16;
            let variance = |k: usize| {
                let near = k.saturating_sub(reach)..(k + reach + 1).min(blocks);
                near.clone().map(own).sum::<f64>() / near.len() as f64
            };
            let v: Vec<f64> = (0..blocks).map(variance).collect();
            let weights: f64 = v.iter().map(|v| 1.0 / v).sum();
            let mean = c.iter().zip(&v).map(|(c, v)| c / v).sum::<f64>() / weights;
            let total: f64 = v.iter().sum();
            let mut powers = [0.0; MOST_COSINES];
            cosine_powers(&c, &mut powers);
            for (j, power) in (1..).zip(powers) {
                let share = |k: usize| (v[..k].iter().sum::<f64>() + 0.5 * v[k]) / total;
                let wave = |k: usize| (std::f64::consts::PI * f64::from(j) * share(k)).cos();
                let sum: f64 = (0..blocks).map(|k| wave(k) * (c[k] - mean)).sum();
                let expected = 2.0 * sum * sum;
                let error = (power - expected).abs();
                assert!(
                    error < 1e-9 * (1.0 + expected),
                    "{blocks}, {j}: {power} {expected}"
                );
            }
            let same = |kernel: Kernel| {
                let mut own = [0.0; MOST_COSINES];
                kernel.run(Transform {
                    contributions: &c,
                    powers: &mut own,
                });
                own == powers
            };
            assert!(Kernel::available().all(same), "{blocks}");
        }
    }

    #[test]
    fn the_series_is_the_cosine() {
        struct Series(Line<16>);
        impl Work for Series {
            type Output = f64;
            fn run<S: Simd>(&mut self, s: S) -> f64 {
                let found = cos_pi(s, s.load16(&self.0));
                let exact = |k: usize| (std::f64::consts::PI * self.0.0[k]).cos();
                let errors = (0..16).map(|k| (found.lane(k) - exact(k)).abs());
                errors.fold(0.0, f64::max)
            }
        }
        for k in 0..2000 {
            let line = std::array::from_fn(|i| (16 * k + i) as f64 / 31_999.0);
            assert!(robust_td_simd::run(Series(Line::new(line))) < 5e-16);
        }
    }
}
