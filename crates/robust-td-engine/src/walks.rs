//! Samples a block of eight trajectories and converts it into table rows and buckets.

use robust_td_simd::{Offsets, Simd, Work};

use crate::context::Context;
use crate::generators::{GROUP, Generators};
use crate::kernel::{PACK, QUAD};
use crate::layout::Unit;
use crate::unit::BLOCK;

/// The number of steps drawn and sampled at once; their draws fit in the L1 cache.
pub const CHUNK: usize = 128;

/// A sampled block of eight trajectories.
#[derive(Debug)]
pub struct Sampled {
    /// For each step and trajectory, the start of the transition's row in the table.
    pub moves: Offsets,
    /// For each step and trajectory, the first number of the bucket of the state before the step.
    pub buckets_at: Offsets,
    /// The states of each trajectory's buckets.
    pub bucket_states: Vec<u32>,
    pub bucket_count: usize,
    pub capacity: usize,
    /// For each trajectory and state, the block that assigned a bucket, and the bucket; empty if there are few
    /// states.
    seen: Vec<(u64, u32)>,
    stamp: u64,
}

impl Sampled {
    /// Scratch space for chains of `states` states.
    pub fn new(states: usize) -> Self {
        let capacity = states.min(BLOCK);
        let few = states <= BLOCK;
        let identity = (0..GROUP).flat_map(|_| 0..capacity as u32);
        Self {
            moves: Offsets::default(),
            buckets_at: Offsets::default(),
            bucket_states: identity.collect(),
            bucket_count: capacity,
            capacity,
            seen: if few {
                Vec::new()
            } else {
                vec![(0, 0); GROUP * states]
            },
            stamp: 0,
        }
    }

    /// Draws the next `count` transitions and converts them into table rows and buckets.
    #[inline(always)]
    fn sample<S: Simd>(
        &mut self,
        s: S,
        context: &Context,
        unit: &Unit,
        generators: &mut Generators,
        states: &mut [u32; GROUP],
        (draws, count): (&mut [[u64; GROUP]; CHUNK], usize),
    ) {
        let bank = &unit.banks[0];
        let stride = context.tables(bank).stride as u32;
        let width = if bank.split { QUAD } else { PACK } as u32;
        let memory = [&mut self.moves, &mut self.buckets_at];
        let [mut moves, mut visits] = memory.map(|offsets| std::mem::take(offsets).into_inner());
        moves.resize(count, [0; GROUP]);
        visits.resize(count, [0; GROUP]);
        for (moves, visits) in moves.chunks_mut(CHUNK).zip(visits.chunks_mut(CHUNK)) {
            let draws = &mut draws[..moves.len()];
            generators.fill(s, draws);
            context.sampler.walk(states, draws, visits, moves);
            for entry in moves.as_flattened_mut() {
                *entry *= stride;
            }
            if self.seen.is_empty() {
                for visit in visits.as_flattened_mut() {
                    *visit *= width;
                }
            }
        }
        if !self.seen.is_empty() {
            self.number_buckets(&mut visits, context.plan.variants[0].states(), width);
        }
        self.moves = Offsets::new(moves);
        self.buckets_at = Offsets::new(visits);
    }

    /// Numbers the visited states of each trajectory in order of first visit; their buckets are `width` apart.
    fn number_buckets(&mut self, visits: &mut [[u32; GROUP]], states: usize, width: u32) {
        self.stamp += 1;
        self.bucket_count = 0;
        for g in 0..GROUP {
            let seen = &mut self.seen[g * states..(g + 1) * states];
            let numbered = &mut self.bucket_states[g * self.capacity..(g + 1) * self.capacity];
            let mut used = 0;
            for visit in &mut *visits {
                let entry = &mut seen[visit[g] as usize];
                if entry.0 != self.stamp {
                    *entry = (self.stamp, used as u32);
                    numbered[used] = visit[g];
                    used += 1;
                }
                visit[g] = entry.1 * width;
            }
            self.bucket_count = self.bucket_count.max(used);
        }
    }
}

/// Samples a block, dispatched to the best instruction set.
pub struct Sample<'a> {
    pub sampled: &'a mut Sampled,
    pub context: &'a Context,
    pub unit: &'a Unit,
    pub generators: &'a mut Generators,
    pub states: &'a mut [u32; GROUP],
    pub draws: &'a mut [[u64; GROUP]; CHUNK],
    pub count: usize,
}

impl Work for Sample<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        self.sampled.sample(
            s,
            self.context,
            self.unit,
            self.generators,
            self.states,
            (self.draws, self.count),
        );
    }
}
