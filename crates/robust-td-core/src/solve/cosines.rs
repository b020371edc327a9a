//! Transforms the contributions of consecutive blocks into cosines, in a clock that runs with their variance.

/// The largest number of blocks.
pub(super) const LARGEST: usize = 256;
/// The least variance of a block, relative to the mean.
const LEAST_VARIANCE: f64 = 1e-3;

/// Numbers that the compiler treats as one vector; sums over them have a fixed order.
type Lanes = [f64; 8];
const VECTORS: usize = LARGEST / 8;

/// P_1, P_2, ... in the clock of the variance.
pub(super) fn cosine_powers(contributions: &[f64], powers: &mut [f64]) {
    let blocks = contributions.len();
    let mut variance = [0.0; LARGEST];
    let variance = &mut variance[..blocks];
    local_variance(contributions, variance);
    let [mut weighted, mut weights, mut total] = [0.0; 3];
    for (c, v) in contributions.iter().zip(&*variance) {
        let weight = 1.0 / v;
        weighted += weight * c;
        weights += weight;
        total += v;
    }
    let mean = weighted / weights;
    // cos(j x) by its recursion from cos((j - 1) x) and cos((j - 2) x).
    let mut waves = [Wave::default(); VECTORS];
    let mut clock = 0.0;
    for k in 0..blocks {
        let share = (clock + 0.5 * variance[k]) / total;
        clock += variance[k];
        let (wave, lane) = (&mut waves[k / 8], k % 8);
        let cosine = (std::f64::consts::PI * share).cos();
        wave.excess[lane] = contributions[k] - mean;
        (wave.twice[lane], wave.before[lane], wave.now[lane]) = (2.0 * cosine, 1.0, cosine);
    }
    let waves = &mut waves[..blocks.div_ceil(8)];
    for power in powers {
        let mut lanes: Lanes = [0.0; 8];
        for wave in &mut *waves {
            wave.add_and_raise(&mut lanes);
        }
        let sum: f64 = lanes.iter().sum();
        *power = 2.0 * sum * sum;
    }
}

/// Eight blocks with their cosines of the current and the last frequency.
#[derive(Debug, Clone, Copy, Default)]
struct Wave {
    excess: Lanes,
    twice: Lanes,
    before: Lanes,
    now: Lanes,
}

impl Wave {
    /// Adds cosine times excess, then goes to the next frequency.
    #[inline(always)]
    fn add_and_raise(&mut self, sums: &mut Lanes) {
        for lane in 0..8 {
            let now = self.now[lane];
            sums[lane] += now * self.excess[lane];
            self.now[lane] = self.twice[lane] * now - self.before[lane];
            self.before[lane] = now;
        }
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
}
