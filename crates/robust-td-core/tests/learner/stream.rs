//! Generates random streams of transitions, in dense and sparse form.

use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use robust_td_core::learner::{Features, Learner, Outcome, Transition};

/// The outcome of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    Continues,
    Terminated,
    Truncated,
}

/// One owned transition.
#[derive(Debug, Clone)]
pub struct Sample {
    pub features: Vec<f64>,
    pub reward: f64,
    pub next: Vec<f64>,
    pub end: End,
}

impl Sample {
    /// The outcome with the given view of the next features.
    fn outcome<'a>(&self, next: Features<'a>) -> Outcome<'a> {
        match self.end {
            End::Continues => Outcome::Continues(next),
            End::Terminated => Outcome::Terminated,
            End::Truncated => Outcome::Truncated(next),
        }
    }

    /// Feeds the sample as dense vectors.
    pub fn feed(&self, learner: &mut dyn Learner) {
        let dimension = self.features.len();
        let features = Features::dense(&self.features, dimension).unwrap();
        let outcome = self.outcome(Features::Dense(&self.next));
        learner.step(&Transition::new(features, self.reward, outcome));
    }

    /// Feeds the sample as sparse vectors.
    pub fn feed_sparse(&self, learner: &mut dyn Learner) {
        let (indices, values) = nonzeros(&self.features);
        let (next_indices, next_values) = nonzeros(&self.next);
        let dimension = self.features.len();
        let features = Features::sparse(&indices, &values, dimension).unwrap();
        let next = Features::sparse(&next_indices, &next_values, dimension).unwrap();
        learner.step(&Transition::new(features, self.reward, self.outcome(next)));
    }
}

/// The indices and values of the nonzero entries.
pub fn nonzeros(dense: &[f64]) -> (Vec<u32>, Vec<f64>) {
    (0u32..)
        .zip(dense)
        .filter(|(_, value)| **value != 0.0)
        .map(|(i, v)| (i, *v))
        .unzip()
}

/// A stream of samples with its constants.
#[derive(Debug, Clone)]
pub struct Stream {
    pub dimension: usize,
    pub discount: f64,
    /// The largest feature norm.
    pub phi_inf: f64,
    pub samples: Vec<Sample>,
}

impl Stream {
    /// A random walk on a table of random features, about half of them zero, with rewards in [-1, 1] and
    /// one episode end in eight.
    pub fn random(dimension: usize, discount: f64, length: usize, seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut symmetric = || (rng.next_u64() >> 11) as f64 * (-52f64).exp2() - 1.0;
        let mut table: Vec<Vec<f64>> = (0..7)
            .map(|_| {
                (0..dimension)
                    .map(|_| symmetric().max(0.0) - symmetric().max(0.0))
                    .collect()
            })
            .collect();
        // A state with all features zero is also valid.
        table.push(vec![0.0; dimension]);
        let norm = |phi: &Vec<f64>| phi.iter().map(|x| x * x).sum::<f64>().sqrt();
        let phi_inf = table.iter().map(norm).fold(1e-3, f64::max);
        let mut draw = |n: usize| (((symmetric() + 1.0) / 2.0 * n as f64) as usize).min(n - 1);
        let mut state = draw(8);
        let samples = (0..length)
            .map(|_| {
                let (features, to) = (table[state].clone(), draw(8));
                let end = match draw(16) {
                    0 => End::Terminated,
                    1 => End::Truncated,
                    _ => End::Continues,
                };
                state = if end == End::Continues { to } else { draw(8) };
                let reward = draw(2001) as f64 / 1000.0 - 1.0;
                Sample {
                    features,
                    reward,
                    next: table[to].clone(),
                    end,
                }
            })
            .collect();
        Self {
            dimension,
            discount,
            phi_inf,
            samples,
        }
    }

    /// Any stream of up to the given length.
    pub fn any(longest: usize) -> impl Strategy<Value = Self> {
        (1usize..20, 0.0..1.0, 0..=longest, any::<u64>()).prop_map(
            |(dimension, discount, length, seed)| Self::random(dimension, discount, length, seed),
        )
    }

    /// The horizon for a learner of the whole stream.
    pub fn horizon(&self) -> u64 {
        self.samples.len().max(3) as u64
    }
}

/// The bits of a vector, for exact comparison.
pub fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|value| value.to_bits()).collect()
}

/// Asserts |x - y| <= tolerance max(1, |y|), entry by entry.
#[track_caller]
pub fn assert_close(x: &[f64], y: &[f64], tolerance: f64) {
    assert_eq!(x.len(), y.len());
    for (x, y) in x.iter().zip(y) {
        assert!(
            (x - y).abs() <= tolerance * y.abs().max(1.0),
            "{x} is not {y}"
        );
    }
}
