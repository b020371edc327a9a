//! Enters the kernel compiled for the CPU's instructions and the problem's dimension.
//!
//! Each combination of instruction set and dimension is a function of its own: `#[target_feature]`
//! reaches what is inlined into it, and the compiler works on small pieces.

use std::ops::Range;

use super::portable::Portable;
use super::simd::{PACK, Simd};
use super::step::{Raw, Visited, flush, run as steps, run_wide};
use super::{Kernel, scalar};

/// The step loop compiled for one instruction set.
///
/// # Safety
/// The CPU must have the instructions; the rest is as for [`super::step::run`].
unsafe trait Compiled {
    type V: Simd;
    /// Vectors that advance together while their iterates fit the registers.
    const AT_ONCE: usize;
    unsafe fn steps<const D: usize, const NV: usize, const SPLIT: bool>(
        raw: &Raw,
        first: usize,
        lane: usize,
    );
    unsafe fn wide<const SPLIT: bool>(raw: &Raw, pack: usize, lane: usize);
    unsafe fn flush<const SPLIT: bool>(raw: &Raw, visited: &Visited, pack: usize, lane: usize);
}

/// Implements [`Compiled`] with the given target features.
macro_rules! compiled {
    ($name:ident, $v:ty, $at_once:literal $(, $features:literal)?) => {
        struct $name;
        // SAFETY: the functions only add target features, which the caller guarantees.
        unsafe impl Compiled for $name {
            type V = $v;
            const AT_ONCE: usize = $at_once;
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn steps<const D: usize, const NV: usize, const SPLIT: bool>(
                raw: &Raw,
                first: usize,
                lane: usize,
            ) {
                // SAFETY: passed on from the caller.
                unsafe { steps::<$v, D, NV, SPLIT>(raw, first, lane) }
            }
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn wide<const SPLIT: bool>(raw: &Raw, pack: usize, lane: usize) {
                // SAFETY: passed on from the caller.
                unsafe { run_wide::<$v, SPLIT>(raw, pack, lane) }
            }
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn flush<const SPLIT: bool>(raw: &Raw, visited: &Visited, pack: usize, lane: usize) {
                // SAFETY: passed on from the caller.
                unsafe {
                    match raw.dimension {
                        1 | 2 => flush::<$v, SPLIT, 2>(raw, visited, pack, lane),
                        3..=5 => flush::<$v, SPLIT, 5>(raw, visited, pack, lane),
                        _ => flush::<$v, SPLIT, 8>(raw, visited, pack, lane),
                    }
                }
            }
        }
    };
}

compiled!(Plain, Portable, 1);
#[cfg(target_arch = "x86_64")]
compiled!(Fused, Portable, 1, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(Avx2, super::avx2::Avx2, 4, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(
    Avx512,
    super::avx512::Avx512,
    4,
    "avx2,fma,avx512f,avx512dq,avx512vl"
);

/// Runs a block and empties its buckets.
pub fn run(kernel: Kernel, split: bool, packs: Range<usize>, raw: &Raw, visited: &Visited) {
    // SAFETY: `Block::run` has checked the sizes, `Kernel::check` the CPU.
    unsafe {
        match kernel {
            Kernel::Scalar if split => with_features(kernel, Twin::<true>(raw, visited, packs)),
            Kernel::Scalar => with_features(kernel, Twin::<false>(raw, visited, packs)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Portable if Kernel::Avx2.is_available() => {
                cell::<Fused>(split, raw, visited, packs)
            }
            Kernel::Portable => cell::<Plain>(split, raw, visited, packs),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => cell::<Avx2>(split, raw, visited, packs),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => cell::<Avx512>(split, raw, visited, packs),
            #[cfg(not(target_arch = "x86_64"))]
            Kernel::Avx2 | Kernel::Avx512 => unreachable!("checked by Kernel::check"),
        }
    }
}

/// Work to be compiled for the best instructions.
///
/// `run` must be `#[inline(always)]`: only what is inlined into the function with the target features
/// is compiled for them.
pub trait Work {
    /// Does the work.
    fn run(self);
}

/// Does safe work compiled for the instructions of `kernel`.
pub fn with_features(kernel: Kernel, work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl")]
    unsafe fn avx512(work: impl Work) {
        work.run();
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2(work: impl Work) {
        work.run();
    }
    match kernel {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Kernel::check` has detected the instructions.
        Kernel::Avx512 => unsafe { avx512(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: just detected.
        _ if Kernel::Avx2.is_available() => unsafe { avx2(work) },
        _ => work.run(),
    }
}

/// The scalar twin as work: with FMA instructions its `mul_add` is one of them.
struct Twin<'a, const SPLIT: bool>(&'a Raw, &'a Visited, Range<usize>);

impl<const SPLIT: bool> Work for Twin<'_, SPLIT> {
    #[inline(always)]
    fn run(self) {
        // SAFETY: `Block::run` has checked the sizes.
        unsafe { scalar::run::<SPLIT>(self.0, self.1, self.2) }
    }
}

unsafe fn cell<C: Compiled>(split: bool, raw: &Raw, visited: &Visited, packs: Range<usize>) {
    // SAFETY: passed on from the caller.
    unsafe {
        match split {
            true => vectors::<C, true>(raw, visited, packs),
            false => vectors::<C, false>(raw, visited, packs),
        }
    }
}

/// Runs all packs through the block in groups of 4, 2 and 1 whose iterates fit the registers, and empties the
/// buckets of each group.
unsafe fn vectors<C: Compiled, const SPLIT: bool>(
    raw: &Raw,
    visited: &Visited,
    packs: Range<usize>,
) {
    let at_once = match raw.dimension {
        ..=5 => C::AT_ONCE,
        6..=10 => C::AT_ONCE.min(2),
        _ => 1,
    };
    let mut first = packs.start;
    while first < packs.end {
        let fits = |n: &usize| *n <= at_once && first + n <= packs.end;
        let group = [4, 2].into_iter().find(fits).unwrap_or(1);
        for lane in (0..PACK).step_by(C::V::LANES) {
            // SAFETY: passed on from the caller.
            unsafe {
                advance::<C, SPLIT>(raw, first, group, lane);
                for pack in first..first + group {
                    C::flush::<SPLIT>(raw, visited, pack, lane);
                }
            }
        }
        first += group;
    }
}

/// Runs one vector each of a group of packs through the block.
unsafe fn advance<C: Compiled, const SPLIT: bool>(
    raw: &Raw,
    first: usize,
    group: usize,
    lane: usize,
) {
    // SAFETY: passed on from the caller.
    unsafe {
        macro_rules! by_dimension {
            ($size:literal: $($d:literal)*) => {
                match raw.dimension {
                    $($d => C::steps::<$d, $size, SPLIT>(raw, first, lane),)*
                    _ => C::wide::<SPLIT>(raw, first, lane),
                }
            };
        }
        match group {
            4 if const { C::AT_ONCE >= 4 } => by_dimension!(4: 1 2 3 4 5),
            2 if const { C::AT_ONCE >= 2 } => by_dimension!(2: 1 2 3 4 5 6 7 8 9 10),
            _ => by_dimension!(1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16),
        }
    }
}
