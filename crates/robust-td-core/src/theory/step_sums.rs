//! Sums the products of step sizes and mixing distances that the certificates use.
//!
//! For step sizes `eta_0 >= eta_1 >= ...`, convex in `t`, horizon `T`, mixing distances `d(0..=U)` and a lag `u`:
//!
//! ```text
//! E1 = sum_{k<=u} eta_k d(k)                          E2 = d(u) sum_{u<k<T} eta_k
//! W1 = sum_{k<=u} eta_k sum_{i<k} eta_i               W2 = sum_{u<k<T} eta_k sum_{k-u<=i<k} eta_i
//! H  = sum_{k<T} eta_k^2                              S  = sum_{k<T} eta_k
//! ```
//!
//! `E`, `W` and `H` enter a certificate's numerator and are never below their true value; `S` enters the
//! denominator and is never above it. Up to `2^24` steps all terms are summed; beyond that the tail is
//! summed in geometric blocks, which preserves these directions (`eta^2` and `eta_k eta_{k-l}` are decreasing and convex with `eta`).

use std::collections::BTreeMap;

use super::blocks::{chord, geometric, lower_sum, upper_sum};

/// Horizons up to this are summed term by term.
const EXACT_HORIZON: u64 = 1 << 24;

/// Terms summed exactly before the first block of a longer horizon.
const HEAD: u64 = 1 << 20;

/// The number of terms over which a window of steps slides before it is recomputed.
const WINDOWS: usize = 1 << 14;

/// The six sums at one lag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepSums {
    /// The lag `u`.
    pub lag: u64,
    /// Early bias: `sum_{k<=u} eta_k d(k)`.
    pub e1: f64,
    /// Late bias: `d(u) sum_{k>u} eta_k`.
    pub e2: f64,
    /// Early drift: `sum_{k<=u} eta_k sum_{i<k} eta_i`.
    pub w1: f64,
    /// Late drift: `sum_{k>u} eta_k sum_{k-u<=i<k} eta_i`.
    pub w2: f64,
    /// `sum eta_k^2`.
    pub h: f64,
    /// `sum eta_k`.
    pub s: f64,
}

impl StepSums {
    /// The sums for the step sizes `factor * eta_t`.
    pub fn scaled(self, factor: f64) -> Self {
        let square = factor * factor;
        Self {
            lag: self.lag,
            e1: self.e1 * factor,
            e2: self.e2 * factor,
            w1: self.w1 * square,
            w2: self.w2 * square,
            h: self.h * square,
            s: self.s * factor,
        }
    }
}

/// The sums of one schedule at every lag: `W2` is computed on demand in `O(T)` and cached, the others in advance.
#[derive(Debug, Clone)]
pub struct StepProfile<F> {
    step_size: F,
    horizon: u64,
    distances: Vec<f64>,
    /// `eta_k` for the head, `k < head`.
    eta: Vec<f64>,
    /// `prefix[k] = eta_0 + ... + eta_{k-1}` for `k` up to the number of lags.
    prefix: Vec<f64>,
    /// The sum of the head.
    head_sum: f64,
    /// Upper bound on the sum of the steps after the head.
    tail_sum: f64,
    /// `E1` and `W1` by lag.
    e1: Vec<f64>,
    w1: Vec<f64>,
    h: f64,
    s: f64,
    /// `W1 + W2` at the lags computed so far.
    drift: BTreeMap<u64, f64>,
}

impl<F: Fn(u64) -> f64> StepProfile<F> {
    /// Prepares the sums of `step_size(0..horizon)`, a nonincreasing convex function, for every lag that has a distance.
    ///
    /// # Panics
    /// When `horizon` is 0 or `distances` is empty.
    pub fn new(step_size: F, horizon: u64, distances: &[f64]) -> Self {
        let head = if horizon <= EXACT_HORIZON {
            horizon
        } else {
            HEAD
        };
        Self::with_head(step_size, horizon, distances, head)
    }

    /// A faster version: terms after the first 2^16 are summed in blocks, which keeps every
    /// certificate valid and loosens it slightly.
    pub fn quick(step_size: F, horizon: u64, distances: &[f64]) -> Self {
        Self::with_head(step_size, horizon, distances, horizon.min(1 << 16))
    }

    /// With a chosen head, extended to at least twice the largest lag so that blocks see whole windows.
    fn with_head(step_size: F, horizon: u64, distances: &[f64], head: u64) -> Self {
        assert!(horizon > 0, "the horizon must be at least 1");
        assert!(!distances.is_empty(), "the distance d(0) is required");
        let lags = (distances.len() as u64).min(horizon);
        let head = head.max(2 * lags).min(horizon);
        let eta: Vec<f64> = (0..head).map(&step_size).collect();

        let mut total = Compensated::default();
        let mut prefix = vec![0.0];
        for (k, &step) in eta.iter().enumerate() {
            total.add(step);
            if k < lags as usize {
                prefix.push(total.value());
            }
        }

        let (mut bias, mut drift) = (Compensated::default(), Compensated::default());
        let (mut e1, mut w1) = (Vec::new(), Vec::new());
        for k in 0..lags as usize {
            bias.add(eta[k] * distances[k]);
            drift.add(eta[k] * prefix[k]);
            e1.push(bias.value());
            w1.push(drift.value());
        }

        let head_squares = sum_by_chunks(4096, eta.len(), |range| {
            eta[range].iter().map(|x| x * x).sum()
        });
        let mut profile = Self {
            tail_sum: upper_sum(&step_size, head, horizon),
            h: head_squares + upper_sum(|k| step_size(k).powi(2), head, horizon),
            s: total.value() + lower_sum(&step_size, head, horizon),
            step_size,
            horizon,
            distances: distances[..lags as usize].to_vec(),
            eta,
            prefix,
            head_sum: total.value(),
            e1,
            w1,
            drift: BTreeMap::new(),
        };
        for lag in [0, profile.max_lag()] {
            profile.at(lag);
        }
        profile
    }

    /// The largest lag: the last distance, or `T - 1` if that is smaller.
    pub fn max_lag(&self) -> u64 {
        self.distances.len() as u64 - 1
    }

    /// The horizon `T`.
    pub fn horizon(&self) -> u64 {
        self.horizon
    }

    /// The sum of all step sizes (a lower bound on it when blocked).
    pub fn total(&self) -> f64 {
        self.s
    }

    /// The sums at `lag`, at most [`Self::max_lag`].
    pub fn at(&mut self, lag: u64) -> StepSums {
        let lag = lag.min(self.max_lag());
        let drift = match self.drift.get(&lag) {
            Some(&drift) => drift,
            None => {
                let drift = self.w1[lag as usize] + self.late_drift(lag);
                self.drift.insert(lag, drift);
                drift
            }
        };
        self.assemble(lag, drift)
    }

    /// Whether the sums at `lag` are already computed.
    pub fn is_known(&self, lag: u64) -> bool {
        self.drift.contains_key(&lag)
    }

    /// The sums at all lags with `W1 + W2` interpolated between the computed ones.
    ///
    /// `W1 + W2 = sum_{l=1}^{u} sum_k eta_k eta_{k-l}` is concave in `u` (the inner sum falls with `l`), so the
    /// interpolation never exceeds the true value, and a bound computed from it never exceeds the true bound.
    pub fn from_below(&self) -> impl Iterator<Item = StepSums> {
        let knots: Vec<(u64, f64)> = self
            .drift
            .iter()
            .map(|(&lag, &drift)| (lag, drift))
            .collect();
        let mut right = 0;
        (0..=self.max_lag()).map(move |lag| {
            while knots[right].0 < lag {
                right += 1;
            }
            let (b, at_b) = knots[right];
            if b == lag {
                return self.assemble(lag, at_b);
            }
            let (a, at_a) = knots[right - 1];
            let weight = (lag - a) as f64 / (b - a) as f64;
            self.assemble(lag, at_a + weight * (at_b - at_a))
        })
    }

    fn assemble(&self, lag: u64, drift: f64) -> StepSums {
        let u = lag as usize;
        let later = self.head_sum - self.prefix[u + 1] + self.tail_sum;
        StepSums {
            lag,
            e1: self.e1[u],
            e2: self.distances[u] * later,
            w1: self.w1[u],
            w2: (drift - self.w1[u]).max(0.0),
            h: self.h,
            s: self.s,
        }
    }

    /// `W2`: the head term by term, the tail by chords of the convex function `k -> eta_k sum_{k-u<=i<k} eta_i`.
    fn late_drift(&self, lag: u64) -> f64 {
        let u = lag as usize;
        let head = self.eta.len();
        let terms = head - (u + 1);
        // Four independent chunks at once, then the remainder.
        let together = terms / (4 * WINDOWS) * (4 * WINDOWS);
        let mut total = Compensated::default();
        for start in (0..together).step_by(4 * WINDOWS) {
            let starts = [0, 1, 2, 3].map(|chunk| u + 1 + start + chunk * WINDOWS);
            slide(&self.eta, u, starts, WINDOWS)
                .into_iter()
                .for_each(|sum| total.add(sum));
        }
        for start in (together..terms).step_by(WINDOWS) {
            let [sum] = slide(&self.eta, u, [u + 1 + start], WINDOWS.min(terms - start));
            total.add(sum);
        }
        let exact = total.value();
        let eta = &self.step_size;
        let term = |k: u64| eta(k) * upper_sum(eta, k - lag, k);
        let blocked: f64 = geometric(head as u64, self.horizon)
            .map(|block| chord(term, block))
            .sum();
        exact + blocked
    }
}

/// `sum_{k=start}^{start+length-1} eta_k sum_{k-u<=i<k} eta_i` for each start.
///
/// The window of u steps before k slides along; ranges are short, so that rounding errors do not accumulate.
fn slide<const N: usize>(eta: &[f64], u: usize, starts: [usize; N], length: usize) -> [f64; N] {
    let before = starts.map(|start| &eta[start - u..start]);
    let mut windows = [0.0; N];
    for i in 0..u {
        for n in 0..N {
            windows[n] += before[n][i];
        }
    }
    let new = starts.map(|start| &eta[start..start + length]);
    let old = starts.map(|start| &eta[start - u..start - u + length]);
    let mut sums = [0.0; N];
    for i in 0..length {
        for n in 0..N {
            sums[n] += new[n][i] * windows[n];
            windows[n] += new[n][i] - old[n][i];
        }
    }
    sums
}

/// Sums `sum(range)` over chunks of `0..len`, so that rounding errors grow with the length and number of chunks, not with
/// the number of terms.
fn sum_by_chunks(chunk: usize, len: usize, sum: impl Fn(std::ops::Range<usize>) -> f64) -> f64 {
    let mut total = Compensated::default();
    for start in (0..len).step_by(chunk) {
        total.add(sum(start..len.min(start + chunk)));
    }
    total.value()
}

/// A running sum with compensated rounding error (Neumaier).
#[derive(Debug, Clone, Copy, Default)]
struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.error += if self.sum.abs() >= x.abs() {
            (self.sum - sum) + x
        } else {
            (x - sum) + self.sum
        };
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        self.sum + self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::lemma_sums::shape;

    fn distances(alpha: f64, lags: usize) -> Vec<f64> {
        (0..lags).map(|j| 0.5 * alpha.powi(j as i32)).collect()
    }

    /// The definitions, term by term.
    fn direct(eta: &[f64], d: &[f64], u: usize) -> StepSums {
        let t = eta.len();
        let early = 0..t.min(u + 1);
        let late = u + 1..t;
        StepSums {
            lag: u as u64,
            e1: early.clone().map(|k| eta[k] * d[k]).sum(),
            e2: d[u] * late.clone().map(|k| eta[k]).sum::<f64>(),
            w1: early.map(|k| eta[k] * eta[..k].iter().sum::<f64>()).sum(),
            w2: late
                .map(|k| eta[k] * eta[k - u..k].iter().sum::<f64>())
                .sum(),
            h: eta.iter().map(|x| x * x).sum(),
            s: eta.iter().sum(),
        }
    }

    fn parts(sums: &StepSums) -> [f64; 6] {
        [sums.e1, sums.e2, sums.w1, sums.w2, sums.h, sums.s]
    }

    #[test]
    fn sums_agree_with_their_definitions() {
        for horizon in [1u64, 2, 3, 17, 400] {
            let d = distances(0.9, 60);
            let eta: Vec<f64> = (0..horizon).map(shape).collect();
            let mut profile = StepProfile::new(shape, horizon, &d);
            assert_eq!(profile.max_lag(), 59.min(horizon - 1));
            for lag in 0..=profile.max_lag() {
                let expected = direct(&eta, &d, lag as usize);
                for (x, y) in parts(&profile.at(lag)).into_iter().zip(parts(&expected)) {
                    assert!(
                        (x - y).abs() <= 1e-12 * y.abs().max(1e-3),
                        "T {horizon} lag {lag}: {x} {y}"
                    );
                }
            }
        }
    }

    #[test]
    fn scaling_the_steps_scales_the_sums() {
        let d = distances(0.8, 30);
        let scaled = StepProfile::new(shape, 500, &d).at(12).scaled(0.25);
        let direct = StepProfile::new(|t| 0.25 * shape(t), 500, &d).at(12);
        for (x, y) in parts(&scaled).into_iter().zip(parts(&direct)) {
            assert!((x / y - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn blocked_sums_bound_exact_ones_closely() {
        let d = distances(0.99, 1200);
        for horizon in [5000u64, 100_000, 3_000_000] {
            let mut exact = StepProfile::new(shape, horizon, &d);
            let mut blocked = StepProfile::with_head(shape, horizon, &d, 3000);
            assert!(blocked.eta.len() as u64 <= 3000);
            for lag in [0, 1, 2, 10, 100, 777, 1199] {
                let (x, y) = (blocked.at(lag), exact.at(lag));
                for (upper, value) in parts(&x)[..5].iter().zip(&parts(&y)[..5]) {
                    assert!(
                        *upper >= value * (1.0 - 1e-13),
                        "T {horizon} lag {lag}: {upper} {value}"
                    );
                    assert!(
                        *upper <= value * (1.0 + 1e-6),
                        "T {horizon} lag {lag}: {upper} {value}"
                    );
                }
                assert!(x.s <= y.s * (1.0 + 1e-13) && x.s >= y.s * (1.0 - 1e-6));
            }
        }
    }

    #[test]
    fn a_trillion_steps_have_finite_ordered_sums() {
        let mut profile = StepProfile::new(shape, 1_000_000_000_000, &distances(0.9, 500));
        // sum 1/(log(k+3) sqrt(k+1)) lies between 2(sqrt(T+1)-1)/log(T+2) and 2 sqrt(T)/log(3).
        assert!(profile.total() > 2e6 / 1e12f64.ln() && profile.total() < 2e6 / 3f64.ln());
        let (low, high) = (profile.at(10), profile.at(400));
        assert!(low.w2 < high.w2 && low.w1 < high.w1 && low.h < 1.9 && low.e2 > high.e2);
    }

    #[test]
    fn interpolation_stays_below_and_meets_the_knots() {
        let d = distances(0.95, 300);
        let mut profile = StepProfile::new(shape, 2000, &d);
        profile.at(40);
        let below: Vec<StepSums> = profile.from_below().collect();
        assert_eq!(below.len(), 300);
        for sums in &below {
            let exact = profile.clone().at(sums.lag);
            assert!(sums.w2 <= exact.w2 * (1.0 + 1e-13));
            assert_eq!((sums.e1, sums.e2, sums.w1), (exact.e1, exact.e2, exact.w1));
        }
        for lag in [0, 40, 299] {
            assert_eq!(below[lag as usize], profile.at(lag));
        }
    }
}
