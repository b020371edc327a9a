//! Samples trajectories of a problem's chain.

use crate::model::chain::Chain;
use crate::model::problem::Problem;
use crate::random::Stream;

/// Draws successors: the first state, in index order, whose cumulative probability reaches the uniform draw.
#[derive(Debug, Clone)]
pub struct Sampler {
    offsets: Vec<usize>,
    successors: Vec<u32>,
    cumulative: Vec<f64>,
}

impl Sampler {
    /// Tabulates the cumulative rows of a problem's chain.
    pub fn new(problem: &Problem) -> Self {
        Self::of_chain(problem.chain())
    }

    /// Tabulates the cumulative rows of a chain.
    pub fn of_chain(chain: &Chain) -> Self {
        let transition = chain.transition();
        let mut sampler = Self {
            offsets: vec![0],
            successors: Vec::with_capacity(transition.stored()),
            cumulative: Vec::with_capacity(transition.stored()),
        };
        for s in 0..transition.size() {
            let mut sum = 0.0;
            for (to, probability) in transition.entries(s) {
                sum += probability;
                sampler.successors.push(to as u32);
                sampler.cumulative.push(sum);
            }
            sampler.offsets.push(sampler.successors.len());
        }
        sampler
    }

    /// The successor of a state for a uniform draw in [0, 1).
    pub fn successor(&self, state: usize, uniform: f64) -> usize {
        let row = self.offsets[state]..self.offsets[state + 1];
        let cumulative = &self.cumulative[row.clone()];
        // Rounding may leave the last sum slightly below one; the last successor then takes the remainder.
        let k = cumulative
            .partition_point(|&sum| sum < uniform)
            .min(cumulative.len() - 1);
        self.successors[row.start + k] as usize
    }

    /// The states `s_0, ..., s_steps` of one run from a start.
    pub fn trajectory(&self, start: usize, steps: usize, stream: &mut Stream) -> Vec<usize> {
        let mut states = Vec::with_capacity(steps + 1);
        states.push(start);
        for t in 0..steps {
            states.push(self.successor(states[t], stream.uniform()));
        }
        states
    }
}
