//! Samples the trajectories that all entrants follow, eight at a time.

use robust_td::Problem;
use robust_td::learner::{Features, Transition};

use crate::generators::{GROUP, Generators, StreamGroup};
use crate::kernel::{Kernel, Work, with_features};
use crate::sampler::Sampler;
use crate::tables::Tables;

/// Steps of one block, at most.
pub const BLOCK: usize = 1024;

/// Bits of a uniform draw.
const BITS: u32 = 53;

/// The chain with what each of its transitions means.
#[derive(Debug)]
pub struct Course {
    sampler: Sampler,
    /// Per transition: the state left, the state entered, the reward.
    transitions: Vec<(u32, u32, f64)>,
}

impl Course {
    /// Tabulates a problem.
    pub fn new(problem: &Problem) -> Self {
        let sampler = Sampler::new(&Tables::from(problem), BITS);
        // Transitions that only fill up a row never happen; the reward of an impossible one is 0.
        let transitions = sampler
            .transitions()
            .map(|(from, to)| (from as u32, to as u32, problem.reward(from, to)))
            .collect();
        Self {
            sampler,
            transitions,
        }
    }

    /// A transition as a learner sees it.
    #[inline]
    pub fn transition<'a>(&self, problem: &'a Problem, entry: u32) -> Transition<'a> {
        let (from, to, reward) = self.transitions[entry as usize];
        let phi = |state: u32| Features::Dense(problem.phi(state as usize));
        Transition::continues(phi(from), reward, phi(to))
    }
}

/// Eight trajectories on their way.
#[derive(Debug)]
pub struct Walkers {
    generators: Generators,
    states: [u32; GROUP],
    draws: Vec<[u64; GROUP]>,
    visits: Vec<[u32; GROUP]>,
    /// The transitions of the block, per step and trajectory.
    pub entries: Vec<[u32; GROUP]>,
}

impl Walkers {
    /// The runs `first`, `first + 1`, ... before their first step.
    pub fn new(problem: &Problem, seed: u64, first: usize) -> Self {
        Self {
            generators: Generators::Stream(StreamGroup::new(seed, first as u64)),
            states: [problem.start() as u32; GROUP],
            draws: vec![[0; GROUP]; BLOCK],
            visits: vec![[0; GROUP]; BLOCK],
            entries: vec![[0; GROUP]; BLOCK],
        }
    }

    /// Walks the next block.
    pub fn walk(&mut self, course: &Course, kernel: Kernel, count: usize) {
        let walkers = self;
        with_features(
            kernel,
            Walk {
                walkers,
                course,
                count,
            },
        );
    }
}

/// Walking a block, as work for the best instructions.
struct Walk<'a> {
    walkers: &'a mut Walkers,
    course: &'a Course,
    count: usize,
}

impl Work for Walk<'_> {
    #[inline(always)]
    fn run(self) {
        let Walkers {
            generators,
            states,
            draws,
            visits,
            entries,
        } = self.walkers;
        let draws = &mut draws[..self.count];
        generators.fill(draws);
        let (visits, entries) = (&mut visits[..self.count], &mut entries[..self.count]);
        self.course.sampler.walk(states, draws, visits, entries);
    }
}
