//! Samples the trajectories that all entrants follow, eight at a time.

use robust_td_core::Problem;
use robust_td_core::learner::Transition;
use robust_td_simd::{Simd, Work};
use serde::{Deserialize, Serialize};

use crate::generators::{GROUP, Generators, StreamGroup};
use crate::kernel::Kernel;
use crate::sampler::Sampler;
use crate::tables::Tables;

/// The maximum number of steps of a block.
pub const BLOCK: usize = 2048;

/// Bits of a uniform draw.
const BITS: u32 = 53;

/// The chain with the data of each transition.
///
/// Both tables need about as much memory as the chain itself: nothing is quadratic in the number of
/// states.
#[derive(Debug)]
pub struct Course<'a> {
    sampler: Sampler,
    /// In the form a learner takes. Rebuilding them for each step would cost a tenth of the step.
    transitions: Vec<Transition<'a>>,
    /// For each transition r, psi = gamma phi' - phi, phi, for lanes.
    table: Vec<f64>,
}

impl<'a> Course<'a> {
    /// Tabulates a problem, with or without the table for lanes.
    pub fn new(problem: &'a Problem, lanes: bool) -> Self {
        let sampler = Sampler::new(&Tables::from(problem), BITS, true);
        let mut transitions = Vec::new();
        let mut table = Vec::new();
        for (from, to) in sampler.transitions() {
            // Padding entries of a row are never taken; the reward of an impossible transition
            // is 0.
            transitions.push(Transition::of_problem(problem, from, to));
            if lanes {
                let (phi, next) = (problem.phi(from), problem.phi(to));
                table.push(problem.reward(from, to));
                let features = phi.iter().zip(next);
                table.extend(features.map(|(phi, next)| problem.discount() * next - phi));
                table.extend_from_slice(phi);
            }
        }
        Self {
            sampler,
            transitions,
            table,
        }
    }

    /// The transitions, indexed by the walkers' entries.
    pub fn transitions(&self) -> &[Transition<'a>] {
        &self.transitions
    }

    /// For each transition 1 + 2 d values: r, psi = gamma phi' - phi, phi; empty unless lanes were
    /// requested.
    pub fn table(&self) -> &[f64] {
        &self.table
    }
}

/// Where eight trajectories are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Position {
    generators: Generators,
    states: [u32; GROUP],
}

/// Eight trajectories in progress.
#[derive(Debug)]
pub struct Walkers {
    position: Position,
    draws: Vec<[u64; GROUP]>,
    visits: Vec<[u32; GROUP]>,
    entries: Vec<[u32; GROUP]>,
}

impl Walkers {
    /// The runs `first`, `first + 1`, ... before their first step.
    pub fn new(problem: &Problem, seed: u64, first: usize) -> Self {
        Self {
            position: Position {
                generators: Generators::Stream(StreamGroup::new(seed, first as u64)),
                states: [problem.start() as u32; GROUP],
            },
            draws: vec![[0; GROUP]; BLOCK],
            visits: vec![[0; GROUP]; BLOCK],
            entries: vec![[0; GROUP]; BLOCK],
        }
    }

    /// What is saved.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Takes a saved position, unless the chain cannot be in its states.
    pub fn restore(&mut self, position: Position, states: usize) -> bool {
        let fits = position.generators.is_like(&self.position.generators)
            && position
                .states
                .iter()
                .all(|&state| (state as usize) < states);
        if fits {
            self.position = position;
        }
        fits
    }

    /// The transitions of the block, by step and trajectory.
    pub fn entries(&self) -> &[[u32; GROUP]] {
        &self.entries
    }

    /// Samples the next block.
    pub fn walk(&mut self, course: &Course<'_>, kernel: Kernel, count: usize) {
        let walkers = self;
        kernel.run(Walk {
            walkers,
            course,
            count,
        });
    }
}

/// Samples a block, dispatched to the best instruction set.
struct Walk<'a> {
    walkers: &'a mut Walkers,
    course: &'a Course<'a>,
    count: usize,
}

impl Work for Walk<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        let Walkers {
            position: Position { generators, states },
            draws,
            visits,
            entries,
        } = &mut *self.walkers;
        let draws = &mut draws[..self.count];
        generators.fill(s, draws);
        let (visits, entries) = (&mut visits[..self.count], &mut entries[..self.count]);
        self.course.sampler.walk(states, draws, visits, entries);
    }
}
