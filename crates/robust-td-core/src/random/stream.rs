//! Derives one independent random stream per (seed, run).
//!
//! The generator is Xoshiro256++ (D. Blackman and S. Vigna, "Scrambled linear pseudorandom number
//! generators", ACM TOMS 47, 2021). Its 256 bits of state are the SHA-256 digest of the 16 bytes
//! `seed` and `run` (both little-endian u64), read as four little-endian u64 ([`initial_state`]). Streams of different
//! (seed, run) therefore start at unrelated points of the period 2^256 - 1, no jump is needed, and
//! the numbers depend on nothing but (seed, run, draw). The all-zero digest, on which Xoshiro would
//! stand still, is not known to occur; `rand_xoshiro` replaces it by a fixed seed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A stream of uniforms that is a function of (seed, run).
///
/// ```
/// use robust_td_core::random::Stream;
/// let mut a = Stream::new(1, 0);
/// let mut b = Stream::new(1, 0);
/// assert_eq!(a.uniform(), b.uniform());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
}

impl Stream {
    /// The stream of `run` under `seed`.
    pub fn new(seed: u64, run: u64) -> Self {
        let mut bytes = [0; 32];
        for (b, word) in bytes.chunks_exact_mut(8).zip(initial_state(seed, run)) {
            b.copy_from_slice(&word.to_le_bytes());
        }
        Self {
            generator: Xoshiro256PlusPlus::from_seed(bytes),
        }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// The next uniform in [0, 1): the upper 53 bits times 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

/// The four state words of the stream of (seed, run): SHA-256 of the 16 bytes of both.
pub fn initial_state(seed: u64, run: u64) -> [u64; 4] {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(run.to_le_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    let mut state = [0; 4];
    for (word, b) in state.iter_mut().zip(digest.chunks_exact(8)) {
        *word = u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_vector_of_xoshiro256plusplus() {
        // The published vector for the state (1, 2, 3, 4).
        let mut seed = [0; 32];
        for (word, value) in seed.chunks_exact_mut(8).zip([1_u64, 2, 3, 4]) {
            word.copy_from_slice(&value.to_le_bytes());
        }
        let mut stream = Stream {
            generator: Xoshiro256PlusPlus::from_seed(seed),
        };
        assert_eq!(stream.next_u64(), 41943041);
        assert_eq!(stream.next_u64(), 58720359);
        assert_eq!(stream.next_u64(), 3588806011781223);
    }

    #[test]
    fn seed_and_run_both_matter() {
        let first = |seed, run| Stream::new(seed, run).next_u64();
        assert_ne!(first(0, 1), first(1, 0));
        assert_ne!(first(0, 0), first(0, 1));
        assert_ne!(first(0, 0), first(1, 0));
    }

    #[test]
    fn moments_of_the_uniform() {
        let mut stream = Stream::new(2026, 5);
        let count = 100_000;
        let u: Vec<f64> = (0..count).map(|_| stream.uniform()).collect();
        assert!(u.iter().all(|u| (0.0..1.0).contains(u)));
        let mean = u.iter().sum::<f64>() / f64::from(count);
        let second = u.iter().map(|u| u * u).sum::<f64>() / f64::from(count);
        // Five standard deviations of the sample moments.
        let root = f64::from(count).sqrt();
        assert!((mean - 0.5).abs() < 5.0 * (1.0_f64 / 12.0).sqrt() / root);
        assert!((second - 1.0 / 3.0).abs() < 5.0 * (4.0_f64 / 45.0).sqrt() / root);
    }

    #[test]
    fn a_stored_stream_continues() {
        let mut stream = Stream::new(3, 4);
        stream.uniform();
        let bytes = postcard::to_stdvec(&stream).unwrap();
        let mut stored: Stream = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(stored.next_u64(), stream.next_u64());
    }
}
