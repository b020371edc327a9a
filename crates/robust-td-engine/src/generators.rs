//! Draws for eight trajectories in parallel, with the same numbers as eight separate generators.

use robust_td_core::random::dsfmt::{Dsfmt, MASK, N, N64, POS1, SL1, SR};
use robust_td_core::random::splitmix::{SPLITMIX_INCREMENT, splitmix};
use robust_td_core::random::stream::initial_state;
use robust_td_simd::Simd;
use serde::{Deserialize, Serialize};

/// The number of trajectories sampled together.
pub const GROUP: usize = 8;

/// One word of each of eight generators.
type Word = [u64; GROUP];

/// Eight generators of one kind, in lockstep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Generators {
    /// The published experiment's generator: multiples of 2^-52.
    Dsfmt(DsfmtGroup),
    /// Our own streams: multiples of 2^-53.
    Stream(StreamGroup),
    /// The authors' later engine: multiples of 2^-53.
    SplitMix(SplitMixGroup),
}

impl Generators {
    /// Whether both are of one kind, and this one is in a state that it can reach.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dsfmt(group), Self::Dsfmt(_)) => {
                group.words.len() == N64 + 2 && group.index <= N64
            }
            (Self::Stream(_), Self::Stream(_)) | (Self::SplitMix(_), Self::SplitMix(_)) => true,
            _ => false,
        }
    }

    /// The next draws of all eight, as integers k with u = k 2^-52 or k 2^-53.
    #[inline(always)]
    pub fn fill<S: Simd>(&mut self, s: S, draws: &mut [Word]) {
        match self {
            Self::Dsfmt(group) => group.fill(draws),
            Self::Stream(group) => s.xoshiro256pp(&mut group.state, draws),
            Self::SplitMix(group) => group.fill(draws),
        }
    }
}

/// Eight dSFMT-19937 generators, interleaved word by word so that the recursion vectorises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DsfmtGroup {
    /// 382 words of state and the two of the lung.
    words: Vec<Word>,
    index: usize,
}

impl DsfmtGroup {
    /// The generators that Julia seeds with `seeds`.
    pub fn new(seeds: [u64; GROUP]) -> Self {
        let mut words = vec![[0; GROUP]; N64 + 2];
        for (g, seed) in seeds.into_iter().enumerate() {
            let single = Dsfmt::new(seed);
            for (word, &value) in words.iter_mut().zip(single.state().as_flattened()) {
                word[g] = value;
            }
        }
        Self { words, index: N64 }
    }

    #[inline(always)]
    fn fill(&mut self, draws: &mut [Word]) {
        const LOW: u64 = (1 << 52) - 1;
        let mut rest = draws;
        while !rest.is_empty() {
            if self.index == N64 {
                self.refill();
            }
            let count = rest.len().min(N64 - self.index);
            let (head, tail) = rest.split_at_mut(count);
            // Flat, because otherwise the compiler gathers and scatters columns.
            let words = self.words[self.index..].as_flattened();
            for (draw, word) in head.as_flattened_mut().iter_mut().zip(words) {
                *draw = word & LOW;
            }
            self.index += count;
            rest = tail;
        }
    }

    #[inline(always)]
    fn refill(&mut self) {
        let words = &mut self.words[..N64 + 2];
        let mut lung = [words[N64], words[N64 + 1]];
        for i in 0..N {
            let far = if i < N - POS1 { i + POS1 } else { i + POS1 - N };
            let before = lung;
            for half in 0..2 {
                let (old, other) = (words[2 * i + half], words[2 * far + half]);
                let mut new = [0; GROUP];
                for g in 0..GROUP {
                    let l = (old[g] << SL1) ^ before[1 - half][g].rotate_left(32) ^ other[g];
                    lung[half][g] = l;
                    new[g] = (l >> SR) ^ (l & MASK[half]) ^ old[g];
                }
                words[2 * i + half] = new;
            }
        }
        words[N64] = lung[0];
        words[N64 + 1] = lung[1];
        self.index = 0;
    }
}

/// Eight Xoshiro256++ streams of one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamGroup {
    state: Box<[Word; 4]>,
}

impl StreamGroup {
    /// The streams of (seed, first_run), (seed, first_run + 1), ...
    pub fn new(seed: u64, first_run: u64) -> Self {
        let mut state = [[0; GROUP]; 4];
        for g in 0..GROUP {
            let single = initial_state(seed, first_run + g as u64);
            for (word, value) in state.iter_mut().zip(single) {
                word[g] = value;
            }
        }
        Self {
            state: Box::new(state),
        }
    }
}

/// Eight SplitMix64 generators.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitMixGroup {
    counters: Word,
}

impl SplitMixGroup {
    /// The generators of `seeds`.
    pub fn new(seeds: [u64; GROUP]) -> Self {
        Self { counters: seeds }
    }

    #[inline(always)]
    fn fill(&mut self, draws: &mut [Word]) {
        for draw in draws {
            for (counter, draw) in self.counters.iter_mut().zip(draw) {
                *counter = counter.wrapping_add(SPLITMIX_INCREMENT);
                *draw = splitmix(*counter) >> 11;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_splitmix_equal_eight_single_ones() {
        let seeds = [1, 2, 3, 114514, 5, 6, 7, u64::MAX];
        let mut group = Generators::SplitMix(SplitMixGroup::new(seeds));
        let mut draws = vec![[0; GROUP]; 300];
        group.fill(Portable::PLAIN, &mut draws);
        for (g, seed) in seeds.into_iter().enumerate() {
            let mut single = robust_td_core::random::SplitMix64::new(seed);
            for draw in &draws {
                assert_eq!(draw[g] as f64 / 2_f64.powi(53), single.uniform());
            }
        }
    }
    use robust_td_core::random::Stream;
    use robust_td_simd::Portable;

    #[test]
    fn eight_dsfmt_equal_eight_single_ones() {
        let seeds = [1, 2, 3, 114514, 5, 6, 7, u64::MAX];
        let mut group = Generators::Dsfmt(DsfmtGroup::new(seeds));
        let mut draws = vec![[0; GROUP]; 1500];
        let (head, tail) = draws.split_at_mut(100);
        group.fill(Portable::PLAIN, head);
        group.fill(Portable::PLAIN, tail);
        for (g, seed) in seeds.into_iter().enumerate() {
            let mut single = Dsfmt::new(seed);
            for draw in &draws {
                assert_eq!(draw[g] as f64 / 2_f64.powi(52), single.uniform());
            }
        }
    }

    #[test]
    fn eight_streams_equal_eight_single_ones() {
        let mut group = Generators::Stream(StreamGroup::new(9, 16));
        let mut draws = vec![[0; GROUP]; 500];
        group.fill(Portable::PLAIN, &mut draws);
        for g in 0..GROUP {
            let mut single = Stream::new(9, 16 + g as u64);
            for draw in &draws {
                assert_eq!(draw[g] as f64 / 2_f64.powi(53), single.uniform());
            }
        }
    }
}
