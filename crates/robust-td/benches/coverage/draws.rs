//! Draws normal and discrete variates from a random stream.

use std::f64::consts::TAU;

use robust_td::random::Stream;

/// The random draws of one log.
pub struct Draws {
    stream: Stream,
    spare: Option<f64>,
}

impl Draws {
    /// The draws of a log: a function of the seed, the scenario's name and the log's number.
    pub fn new(seed: u64, name: &str, log: u64) -> Self {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let stream = Stream::new(name.bytes().fold(seed, mix), log);
        Self {
            stream,
            spare: None,
        }
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.stream.uniform()
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// A whole number below `count`, each with the same probability.
    pub fn below(&mut self, count: usize) -> usize {
        (self.uniform() * count as f64) as usize
    }

    /// An index, drawn by weights that sum to 1.
    pub fn index(&mut self, weights: impl IntoIterator<Item = f64>) -> usize {
        let mut left = self.uniform();
        let mut last = 0;
        for (k, weight) in weights.into_iter().enumerate() {
            if weight > 0.0 {
                last = k;
                left -= weight;
                if left < 0.0 {
                    break;
                }
            }
        }
        last
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let (radius, angle) = (self.uniform(), TAU * self.uniform());
        let radius = (-2.0 * (1.0 - radius).ln()).sqrt();
        self.spare = Some(radius * angle.sin());
        radius * angle.cos()
    }

    /// The successor of `x` in a stationary AR(1) process with standard deviation 1.
    pub fn autoregressive(&mut self, rho: f64, x: f64) -> f64 {
        rho * x + (1.0 - rho * rho).sqrt() * self.normal()
    }
}
