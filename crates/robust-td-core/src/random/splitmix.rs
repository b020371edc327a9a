//! Implements SplitMix64, the generator of the authors' engine `tdx`.
//!
//! G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, with the constants of
//! S. Vigna's `splitmix64.c`.

use serde::{Deserialize, Serialize};

/// A counter whose values are mixed.
///
/// ```
/// use robust_td_core::random::SplitMix64;
/// assert_eq!(SplitMix64::new(114514).uniform(), 0.7164614829942658);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitMix64 {
    state: u64,
}

/// The increment of the counter, 2^64 over the golden ratio.
pub const SPLITMIX_INCREMENT: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes a value of the counter.
#[inline(always)]
pub fn splitmix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

impl SplitMix64 {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(SPLITMIX_INCREMENT);
        splitmix(self.state)
    }

    /// The next uniform in [0, 1): the upper 53 bits times 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_of_the_authors_seed() {
        let mut generator = SplitMix64::new(114_514);
        assert_eq!(generator.next_u64(), 0xb76a_050e_4dd5_0c2a);
        assert_eq!(generator.next_u64(), 0xc3e4_5007_9c28_8d47);
        assert_eq!(generator.uniform(), 0.9265800611417155);
    }

    #[test]
    fn the_reference_vector() {
        // The first outputs of splitmix64.c for the seed 1234567.
        let mut generator = SplitMix64::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        for x in expected {
            assert_eq!(generator.next_u64(), x);
        }
    }
}
