//! Enters the lane kernel compiled for the CPU's instructions and the problem's dimension.
//!
//! Each combination is a function of its own: `#[target_feature]` reaches what is inlined into it.

use super::scalar;
use super::step::{Raw, run as steps, run_wide};
use crate::kernel::{Kernel, PACK, PortableVector, Simd, Work, with_features};

/// The step loop compiled for one instruction set.
///
/// # Safety
/// The CPU must have the instructions; the rest is as for [`steps`].
unsafe trait Compiled {
    type V: Simd;
    /// Whether there are 32 registers, not 16: more runs advance together.
    const MANY_REGISTERS: bool;
    unsafe fn steps<const D: usize, const N: usize>(raw: &Raw, first: usize, lane: usize);
    unsafe fn wide(raw: &Raw, run: usize, lane: usize);
}

/// Implements [`Compiled`] with the given target features.
macro_rules! compiled {
    ($name:ident, $v:ty, $many:literal $(, $features:literal)?) => {
        struct $name;
        // SAFETY: the functions only add target features, which the caller guarantees.
        unsafe impl Compiled for $name {
            type V = $v;
            const MANY_REGISTERS: bool = $many;
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn steps<const D: usize, const N: usize>(raw: &Raw, first: usize, lane: usize) {
                // SAFETY: passed on from the caller.
                unsafe { steps::<$v, D, N>(raw, first, lane) }
            }
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            unsafe fn wide(raw: &Raw, run: usize, lane: usize) {
                // SAFETY: passed on from the caller.
                unsafe { run_wide::<$v>(raw, run, lane) }
            }
        }
    };
}

compiled!(Plain, PortableVector, false);
#[cfg(target_arch = "x86_64")]
compiled!(Fused, PortableVector, false, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(Avx2, crate::kernel::Avx2Vector, false, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(
    Avx512,
    crate::kernel::Avx512Vector,
    true,
    "avx2,fma,avx512f,avx512dq,avx512vl"
);

/// Takes all lanes of all runs through a block.
///
/// # Safety
/// `raw` must describe live, large enough, disjoint arrays, and the kernel must have passed
/// [`Kernel::check`].
pub unsafe fn run(kernel: Kernel, raw: &Raw) {
    // SAFETY: passed on from the caller.
    unsafe {
        match kernel {
            Kernel::Scalar => with_features(kernel, Twin(raw)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Portable if Kernel::Avx2.is_available() => all_runs::<Fused>(raw),
            Kernel::Portable => all_runs::<Plain>(raw),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => all_runs::<Avx2>(raw),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => all_runs::<Avx512>(raw),
            #[cfg(not(target_arch = "x86_64"))]
            Kernel::Avx2 | Kernel::Avx512 => unreachable!("checked by Kernel::check"),
        }
    }
}

/// The scalar twin as work: with FMA instructions its `mul_add` is one of them.
struct Twin<'a>(&'a Raw);

impl Work for Twin<'_> {
    #[inline(always)]
    fn run(self) {
        for run in 0..self.0.runs {
            for lane in 0..PACK {
                // SAFETY: the caller of `run` vouches for the arrays.
                unsafe { scalar::run(self.0, run, lane) }
            }
        }
    }
}

/// Takes all runs through the block, several at once while their iterates fit the registers: the operations
/// of one run wait for each other.
unsafe fn all_runs<C: Compiled>(raw: &Raw) {
    for lane in (0..PACK).step_by(C::V::LANES) {
        let mut run = 0;
        while run < raw.runs {
            // SAFETY: passed on from the caller.
            run += unsafe { some_runs::<C>(raw, run, lane) };
        }
    }
}

/// Takes one run or several from `first` on through the block; how many.
unsafe fn some_runs<C: Compiled>(raw: &Raw, first: usize, lane: usize) -> usize {
    let rest = raw.runs - first;
    // SAFETY: passed on from the caller.
    unsafe {
        // Per dimension the runs at once with many registers, and with few.
        macro_rules! by_dimension {
            ($($d:literal: $many:literal $few:literal,)*) => {
                match raw.dimension {
                    $($d if const { C::MANY_REGISTERS } && rest >= $many => {
                        C::steps::<$d, $many>(raw, first, lane);
                        $many
                    })*
                    $($d if const { !C::MANY_REGISTERS } && rest >= $few => {
                        C::steps::<$d, $few>(raw, first, lane);
                        $few
                    })*
                    $($d => {
                        C::steps::<$d, 1>(raw, first, lane);
                        1
                    })*
                    _ => {
                        C::wide(raw, first, lane);
                        1
                    }
                }
            };
        }
        by_dimension!(1: 4 2, 2: 4 2, 3: 4 2, 4: 2 1, 5: 2 1, 6: 2 1, 7: 2 1, 8: 2 1,)
    }
}
