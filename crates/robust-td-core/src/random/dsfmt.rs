//! Generates the random numbers of Julia's `MersenneTwister`: dSFMT-19937 with a hashed key.
//!
//! Reference: M. Saito and M. Matsumoto, "A PRNG specialized in double precision floating point
//! numbers using an affine transition", MCQMC 2008 (dSFMT 2.2, exponent 19937). Julia 1.11 seeds it
//! through `init_by_array` with the SHA-256 digest of the seed's little-endian 32-bit words.
//!
//! One call of the recursion makes 382 doubles in [1, 2); a uniform is such a double minus 1.0.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Number of 128-bit words of the state, without the lung.
pub const N: usize = 191;
/// Number of doubles per pass of the recursion.
pub const N64: usize = 2 * N;
/// Offset of the second word that the recursion reads.
pub const POS1: usize = 117;
/// Left shift of the recursion.
pub const SL1: u32 = 19;
/// Right shift of the recursion.
pub const SR: u32 = 12;
/// Masks of the recursion.
pub const MASK: [u64; 2] = [0x000f_faff_ffff_fb3f, 0x000f_fdff_fc90_fffd];

const FIX: [u64; 2] = [0x9001_4964_b32f_4329, 0x3b8d_12ac_548a_7c7a];
const PERIOD: [u64; 2] = [0x3d84_e1ac_0dc8_2880, 1];
const LOW_MASK: u64 = 0x000f_ffff_ffff_ffff;
const HIGH_CONST: u64 = 0x3ff0_0000_0000_0000;

/// Size of the state in 32-bit words, the lung included.
const SIZE: usize = (N + 1) * 4;
const LAG: usize = 11;
const MID: usize = (SIZE - LAG) / 2;

/// The dSFMT-19937 generator, seeded as Julia's `MersenneTwister(seed)`.
///
/// ```
/// use robust_td_core::random::Dsfmt;
/// let mut generator = Dsfmt::new(114514);
/// assert_eq!(generator.uniform(), 0.12466351302303713);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dsfmt {
    /// `N` pairs, then the lung.
    state: Vec<[u64; 2]>,
    /// Position of the next double among the 382 of the current pass.
    index: usize,
}

impl Dsfmt {
    /// Seeds the generator as Julia's `MersenneTwister(seed)`.
    pub fn new(seed: u64) -> Self {
        Self::from_key(&julia_key(seed))
    }

    /// Seeds the generator by dSFMT's `init_by_array`.
    pub fn from_key(key: &[u32; 8]) -> Self {
        let words = init_by_array(key);
        let mut state: Vec<[u64; 2]> = words
            .chunks_exact(4)
            .map(|w| {
                let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
                [pair(w[0], w[1]), pair(w[2], w[3])]
            })
            .collect();
        for pair in &mut state[..N] {
            for word in pair {
                *word = (*word & LOW_MASK) | HIGH_CONST;
            }
        }
        certify_period(&mut state[N]);
        Self { state, index: N64 }
    }

    /// The state words: 191 pairs and the lung.
    pub fn state(&self) -> &[[u64; 2]] {
        &self.state
    }

    /// The bits of the next double in [1, 2).
    #[inline]
    pub fn next_bits(&mut self) -> u64 {
        if self.index == N64 {
            self.refill();
        }
        let bits = self.state[self.index / 2][self.index % 2];
        self.index += 1;
        bits
    }

    /// The next uniform in [0, 1): a multiple of 2^-52.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        f64::from_bits(self.next_bits()) - 1.0
    }

    /// Fills a slice with the numbers that repeated calls of [`Dsfmt::uniform`] would return.
    pub fn fill(&mut self, uniforms: &mut [f64]) {
        let mut rest = uniforms;
        while !rest.is_empty() {
            if self.index == N64 {
                self.refill();
            }
            let count = rest.len().min(N64 - self.index);
            let (head, tail) = rest.split_at_mut(count);
            let bits = self.state[..N].as_flattened();
            for (u, &b) in head.iter_mut().zip(&bits[self.index..]) {
                *u = f64::from_bits(b) - 1.0;
            }
            self.index += count;
            rest = tail;
        }
    }

    /// Generates the next 382 doubles.
    fn refill(&mut self) {
        let mut lung = self.state[N];
        for i in 0..N {
            let far = self.state[(i + POS1) % N];
            let old = self.state[i];
            self.state[i] = recursion(old, far, &mut lung);
        }
        self.state[N] = lung;
        self.index = 0;
    }
}

/// One step of the affine recursion.
#[inline]
fn recursion(old: [u64; 2], far: [u64; 2], lung: &mut [u64; 2]) -> [u64; 2] {
    let before = *lung;
    lung[0] = (old[0] << SL1) ^ before[1].rotate_left(32) ^ far[0];
    lung[1] = (old[1] << SL1) ^ before[0].rotate_left(32) ^ far[1];
    [
        (lung[0] >> SR) ^ (lung[0] & MASK[0]) ^ old[0],
        (lung[1] >> SR) ^ (lung[1] & MASK[1]) ^ old[1],
    ]
}

/// Julia's key: SHA-256 of the seed's little-endian 32-bit words (one word when seed < 2^32).
pub fn julia_key(seed: u64) -> [u32; 8] {
    let bytes = seed.to_le_bytes();
    let length = if seed >> 32 == 0 { 4 } else { 8 };
    let digest = Sha256::digest(&bytes[..length]);
    let mut key = [0; 8];
    for (word, b) in key.iter_mut().zip(digest.chunks_exact(4)) {
        *word = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    }
    key
}

/// dSFMT's `init_by_array` before masking and period certification.
fn init_by_array(key: &[u32; 8]) -> [u32; SIZE] {
    let mix = |x: u32, multiplier: u32| (x ^ (x >> 27)).wrapping_mul(multiplier);
    let mut w = [0x8b8b_8b8b_u32; SIZE];

    let mut r = mix(w[0] ^ w[MID] ^ w[SIZE - 1], 1_664_525);
    w[MID] = w[MID].wrapping_add(r);
    r = r.wrapping_add(key.len() as u32);
    w[MID + LAG] = w[MID + LAG].wrapping_add(r);
    w[0] = r;

    let mut i = 1;
    for j in 0..SIZE - 1 {
        let (near, far) = ((i + MID) % SIZE, (i + MID + LAG) % SIZE);
        r = mix(w[i] ^ w[near] ^ w[(i + SIZE - 1) % SIZE], 1_664_525);
        w[near] = w[near].wrapping_add(r);
        let word = key.get(j).copied().unwrap_or(0);
        r = r.wrapping_add(word).wrapping_add(i as u32);
        w[far] = w[far].wrapping_add(r);
        w[i] = r;
        i = (i + 1) % SIZE;
    }
    for _ in 0..SIZE {
        let (near, far) = ((i + MID) % SIZE, (i + MID + LAG) % SIZE);
        let sum = w[i]
            .wrapping_add(w[near])
            .wrapping_add(w[(i + SIZE - 1) % SIZE]);
        r = mix(sum, 1_566_083_941);
        w[near] ^= r;
        r = r.wrapping_sub(i as u32);
        w[far] ^= r;
        w[i] = r;
        i = (i + 1) % SIZE;
    }
    w
}

/// Changes one bit of the lung when the period would not be a multiple of 2^19937 - 1.
fn certify_period(lung: &mut [u64; 2]) {
    let inner = ((lung[0] ^ FIX[0]) & PERIOD[0]) ^ ((lung[1] ^ FIX[1]) & PERIOD[1]);
    if inner.count_ones().is_multiple_of(2) {
        lung[1] ^= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_of_the_published_seed() {
        let key = [
            0x62348e27, 0xc9aaef09, 0x50014962, 0x584d6e06, 0xb25f7ae6, 0x33f675e4, 0xe5556d7f,
            0x14e0c4a9,
        ];
        assert_eq!(julia_key(114514), key);
    }

    #[test]
    fn vectors_of_julia() {
        let mut generator = Dsfmt::new(114514);
        let u: Vec<f64> = (0..2500).map(|_| generator.uniform()).collect();
        let first = [
            0.12466351302303713,
            0.7339150191633825,
            0.08431752842062479,
            0.020786198284627355,
            0.6466839796063955,
            0.530140081207839,
        ];
        assert_eq!(u[..6], first);
        assert_eq!(u[381], 0.6928420846595251);
        assert_eq!(u[382], 0.8859373208062893);
        assert_eq!(u[1002], 0.3810105770002412);
        assert_eq!(u[2499], 0.9181660435234773);
        assert_eq!(Dsfmt::new(1379515811).uniform(), 0.2519391158966715);
        assert_eq!(Dsfmt::new(1483792380).uniform(), 0.7293903144853964);
    }

    #[test]
    fn bulk_and_scalar_draws_give_one_stream() {
        let (mut bulk, mut scalar) = (Dsfmt::new(7), Dsfmt::new(7));
        for count in [1, 381, 382, 3, 1000, 0, 5] {
            let mut u = vec![0.0; count];
            bulk.fill(&mut u);
            assert!(u.iter().all(|&u| u == scalar.uniform()));
        }
        assert_eq!(bulk, scalar);
    }

    #[test]
    fn a_stored_generator_continues() {
        let mut generator = Dsfmt::new(3);
        generator.fill(&mut [0.0; 500]);
        let bytes = postcard::to_stdvec(&generator).unwrap();
        let mut stored: Dsfmt = postcard::from_bytes(&bytes).unwrap();
        assert!((0..1000).all(|_| stored.next_bits() == generator.next_bits()));
    }
}
