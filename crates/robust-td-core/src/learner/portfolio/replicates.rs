//! Propagates bootstrap replicates of the error: how the answer would deviate if the noise had other signs.
//!
//! # Update rule
//! Let s_t = delta_t(theta) phi_t be the score at a recent answer theta, and xi = +-1 a random sign for each block of samples and
//! each replicate. A replicate is
//! ```text
//! e_{t+1} = e_t + eta_t ( (gamma phi(s_{t+1}) - phi(s_t)).e_t phi(s_t) + xi s_t ),     e_0 = 0:
//! ```
//! the same linear recursion as that of the leader's error theta_t - theta*, driven by the same noise with random signs on blocks.
//! To first order, its average is distributed like the error of the leader's average. Because it is linear, a replicate
//! stays bounded where the leader does.
//!
//! Scores are taken at the answer rather than at the iterate: the iterate fluctuates slowly, and over a block
//! its fluctuations would count as noise.
//!
//! # Reference
//! Ramprasad et al., "Online bootstrap inference for policy evaluation in reinforcement learning", JASA 118, 2023, for
//! multipliers along the recursion; Kuensch, "The jackknife and the bootstrap for general stationary observations", Annals of
//! Statistics 17, 1989, for blocks, because successive samples of a chain are not independent.

use robust_td_simd::{Simd, Work};
use serde::{Deserialize, Serialize};

use super::bootstrap::{Bootstrap, Deviation};
use super::errors::Errors;
use super::run::CONSTANTS;
use crate::lanes::Change;
use crate::random::Stream;
use crate::solve::{BlockLength, Correlation};

/// The minimum number of blocks for an error estimate.
const FEWEST_BLOCKS: u64 = 16;

/// The replicates, and the statistics that determine the block length.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replicates {
    count: usize,
    lane: usize,
    errors: Errors,
    /// The number of blocks started.
    #[serde(deserialize_with = "crate::count::read")]
    blocks: u64,
    length: BlockLength,
    #[serde(deserialize_with = "crate::count::read")]
    left: u64,
    /// The answer at which scores are taken.
    #[serde(with = "crate::exact_float")]
    answer: Vec<f64>,
    correlation: Correlation,
    /// The random stream of the signs.
    stream: Stream,
}

impl Replicates {
    pub fn new(count: usize, seed: u64, dimension: usize) -> Self {
        let correlation = Correlation::new(dimension);
        Self {
            count,
            lane: 0,
            errors: Errors::zero(dimension, count),
            blocks: 0,
            length: correlation.block_length(),
            left: 0,
            answer: vec![0.0; dimension],
            correlation,
            stream: Stream::new(seed, 0),
        }
    }

    /// The number of replicates.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether the buffers match this dimension.
    pub fn fits(&self, dimension: usize) -> bool {
        self.answer.len() == dimension
            && self.lane < CONSTANTS.len()
            && self.length.samples > 0
            && self.correlation.fits(dimension)
            && self.errors.fits(dimension, self.count)
    }

    /// The lane whose step sizes the replicates use.
    pub fn lane(&self) -> usize {
        self.lane
    }

    /// Switches to the step sizes of another lane, which are `larger` times as large.
    ///
    /// Iterates fluctuate in proportion to the square root of the step size. Small steps would forget the fluctuations of large ones
    /// only slowly, and a lane that used small steps from the start does not have them.
    pub fn change_lane(&mut self, lane: usize, larger: f64) {
        self.lane = lane;
        if larger < 1.0 {
            self.errors.scale(larger.sqrt());
        }
    }

    /// Restarts with another lane, after the previous one diverged and the replicates with it.
    pub fn start_anew(&mut self, lane: usize, answer: Vec<f64>) {
        self.lane = lane;
        self.errors = Errors::zero(answer.len(), self.count);
        self.left = 0;
        self.follow(answer);
    }

    /// Takes one step of the given size.
    #[inline(always)]
    pub fn step<S: Simd>(&mut self, s: S, change: &Change<'_>, eta: f64) {
        if self.left == 0 {
            self.blocks += 1;
            self.left = self.length.samples;
            let words = (0..self.count.div_ceil(64)).map(|_| self.stream.next_u64());
            self.errors.begin_block(words);
        }
        self.left -= 1;
        let delta = change.td_error(s, &self.answer);
        self.correlation.push(s, delta, change.phi);
        self.errors.step(change, delta, eta).run(s);
    }

    /// Starts the averages at the current step.
    pub fn restart_averages(&mut self) {
        self.errors.restart_averages();
    }

    /// Takes further scores at another answer.
    pub fn follow(&mut self, answer: Vec<f64>) {
        self.answer = answer;
    }

    /// Sets the length of further blocks from the scores so far, and restarts their collection.
    pub fn set_length(&mut self) {
        self.length = self.correlation.block_length();
        self.correlation = self.correlation.renewed();
    }

    /// The replicates' averages; `None` while there are too few blocks.
    pub fn bootstrap(&self) -> Option<Bootstrap> {
        let averages = || self.errors.averages(self.count).into_iter();
        (self.blocks >= FEWEST_BLOCKS).then(|| Bootstrap {
            block: self.length.samples,
            long_enough: self.length.enough,
            seen: self.correlation.seen().to_vec(),
            deviations: averages().map(Deviation).collect(),
        })
    }
}
