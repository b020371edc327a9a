//! Enters the kernel compiled for the CPU's instructions and the problem's dimension.

use super::portable::Portable;
use super::simd::{PACK, Simd};
use super::step::{Raw, Visited, flush, run as steps, run_wide};
use super::{Kernel, scalar};

/// Largest dimension with a kernel of its own; beyond it the iterates live in memory.
pub const SPECIALISED: usize = 16;

/// Runs a block and empties its buckets.
pub fn run(kernel: Kernel, split: bool, packs: usize, raw: &Raw, visited: &Visited) {
    // SAFETY: `Block::run` has checked the sizes, `Kernel::check` the CPU.
    unsafe {
        match (kernel, split) {
            (Kernel::Scalar, true) => with_fma(|| scalar::run::<true>(raw, visited, packs)),
            (Kernel::Scalar, false) => with_fma(|| scalar::run::<false>(raw, visited, packs)),
            (Kernel::Portable, true) => with_fma(|| cell::<Portable, true>(raw, visited, packs)),
            (Kernel::Portable, false) => with_fma(|| cell::<Portable, false>(raw, visited, packs)),
            #[cfg(target_arch = "x86_64")]
            (Kernel::Avx2, true) => avx2(|| cell::<super::avx2::Avx2, true>(raw, visited, packs)),
            #[cfg(target_arch = "x86_64")]
            (Kernel::Avx2, false) => avx2(|| cell::<super::avx2::Avx2, false>(raw, visited, packs)),
            #[cfg(target_arch = "x86_64")]
            (Kernel::Avx512, true) => {
                avx512(|| cell::<super::avx512::Avx512, true>(raw, visited, packs))
            }
            #[cfg(target_arch = "x86_64")]
            (Kernel::Avx512, false) => {
                avx512(|| cell::<super::avx512::Avx512, false>(raw, visited, packs))
            }
            #[cfg(not(target_arch = "x86_64"))]
            (Kernel::Avx2 | Kernel::Avx512, _) => unreachable!("checked by Kernel::check"),
        }
    }
}

/// Runs safe code compiled for the instructions of `kernel`.
pub fn with_features(kernel: Kernel, work: impl FnOnce()) {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Kernel::check` has detected the instructions.
        Kernel::Avx512 => unsafe { avx512(work) },
        _ => with_fma(work),
    }
}

/// Runs code compiled for AVX2 and FMA where the CPU has them: `mul_add` is then one instruction.
#[inline]
fn with_fma(work: impl FnOnce()) {
    #[cfg(target_arch = "x86_64")]
    if Kernel::Avx2.is_available() {
        // SAFETY: just detected.
        return unsafe { avx2(work) };
    }
    work();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2(work: impl FnOnce()) {
    work();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl,avx512bw")]
unsafe fn avx512(work: impl FnOnce()) {
    work();
}

/// Runs all vectors of a cell: as many at a time as the registers hold, then the rest.
#[inline(always)]
unsafe fn cell<V: Simd, const SPLIT: bool>(raw: &Raw, visited: &Visited, packs: usize) {
    macro_rules! by_dimension {
        ($($d:literal)*) => {
            match raw.dimension {
                $($d => unsafe { vectors::<V, $d, SPLIT>(raw, packs) },)*
                // SAFETY: passed on from the caller.
                _ => for v in 0..packs * PACK / V::LANES {
                    unsafe { run_wide::<V, SPLIT>(raw, v) }
                },
            }
        };
    }
    by_dimension!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    for v in 0..packs * PACK / V::LANES {
        // SAFETY: passed on from the caller.
        unsafe { flush::<V, SPLIT>(raw, visited, v) }
    }
}

/// Splits the vectors of a cell into groups of 4, 2 and 1 whose iterates fit the registers.
#[inline(always)]
unsafe fn vectors<V: Simd, const D: usize, const SPLIT: bool>(raw: &Raw, packs: usize) {
    let count = packs * PACK / V::LANES;
    let mut first = 0;
    // SAFETY: passed on from the caller.
    unsafe {
        if D <= 5 {
            while first + 4 <= count {
                steps::<V, D, 4, SPLIT>(raw, first);
                first += 4;
            }
        }
        if D <= 10 {
            while first + 2 <= count {
                steps::<V, D, 2, SPLIT>(raw, first);
                first += 2;
            }
        }
        while first < count {
            steps::<V, D, 1, SPLIT>(raw, first);
            first += 1;
        }
    }
}
