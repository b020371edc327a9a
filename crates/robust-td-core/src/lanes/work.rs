//! Does work with the vector instructions that the CPU has.
//!
//! All operations are in a fixed order, and a product with a sum is rounded once, so every instruction set gives the same bits
//! and a saved state goes on anywhere.

use super::line::WIDTH;
use super::vector::Vector;

/// Work that any kind of vector can do; `run` and what it calls should be `#[inline(always)]`, because only what is inlined
/// into a function with target features is compiled for them.
pub trait Work {
    /// What comes of it, beside what it writes.
    type Output;

    /// Does the work, once: in place, because moving its parts takes time in every step.
    ///
    /// # Safety
    /// The CPU must have the instructions of V.
    unsafe fn run<V: Vector>(&mut self) -> Self::Output;
}

/// Does the work with the best vectors of this CPU.
#[inline]
pub fn with_vectors<W: Work>(mut work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m256d, __m512d};

        #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
        fn avx512<W: Work>(work: &mut W) -> W::Output {
            // SAFETY: the instructions of this function.
            unsafe { work.run::<[__m512d; 2]>() }
        }
        #[target_feature(enable = "avx2,fma")]
        fn avx2<W: Work>(work: &mut W) -> W::Output {
            // SAFETY: the instructions of this function.
            unsafe { work.run::<[__m256d; 4]>() }
        }
        match level::of_this_cpu() {
            // SAFETY: the CPU has them.
            level::AVX512 => return unsafe { avx512(&mut work) },
            // SAFETY: the same.
            level::AVX2 => return unsafe { avx2(&mut work) },
            _ => {}
        }
    }
    with_arrays(&mut work)
}

/// Not inlined: it would only be in the way of the others.
#[inline(never)]
fn with_arrays<W: Work>(work: &mut W) -> W::Output {
    // SAFETY: arrays need no special instructions.
    unsafe { work.run::<[f64; WIDTH]>() }
}

/// Which instructions the CPU has, found out once: asking for each of them takes time in every step.
#[cfg(target_arch = "x86_64")]
mod level {
    use std::arch::is_x86_feature_detected as has;
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

    const UNKNOWN: u8 = 0;
    const NONE: u8 = 1;
    pub const AVX2: u8 = 2;
    pub const AVX512: u8 = 3;

    static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);

    #[inline]
    pub fn of_this_cpu() -> u8 {
        match LEVEL.load(Relaxed) {
            UNKNOWN => detect(),
            level => level,
        }
    }

    #[cold]
    fn detect() -> u8 {
        let level = if has!("avx512f") && has!("avx512dq") && has!("avx512vl") {
            AVX512
        } else if has!("avx2") && has!("fma") {
            AVX2
        } else {
            NONE
        };
        LEVEL.store(level, Relaxed);
        level
    }
}
