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
    unsafe fn steps<const D: usize, const N: usize>(raw: &Raw, first: usize, lane: usize);
    unsafe fn wide(raw: &Raw, run: usize, lane: usize);
}

/// Implements [`Compiled`] with the given target features.
macro_rules! compiled {
    ($name:ident, $v:ty $(, $features:literal)?) => {
        struct $name;
        // SAFETY: the functions only add target features, which the caller guarantees.
        unsafe impl Compiled for $name {
            type V = $v;
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

compiled!(Plain, PortableVector);
#[cfg(target_arch = "x86_64")]
compiled!(Fused, PortableVector, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(Avx2, crate::kernel::Avx2Vector, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(
    Avx512,
    crate::kernel::Avx512Vector,
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

/// Takes several runs at once through the block where their iterates fit the registers: the operations of
/// one run wait for each other.
unsafe fn all_runs<C: Compiled>(raw: &Raw) {
    for lane in (0..PACK).step_by(C::V::LANES) {
        let mut run = 0;
        while run < raw.runs {
            let rest = raw.runs - run;
            // SAFETY: passed on from the caller.
            run += unsafe {
                macro_rules! by_dimension {
                    ($($d:literal: $n:literal,)*) => {
                        match raw.dimension {
                            $($d if rest >= $n => {
                                C::steps::<$d, $n>(raw, run, lane);
                                $n
                            })*
                            $($d => {
                                C::steps::<$d, 1>(raw, run, lane);
                                1
                            })*
                            _ => {
                                C::wide(raw, run, lane);
                                1
                            }
                        }
                    };
                }
                by_dimension!(1: 4, 2: 4, 3: 4, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2,)
            };
        }
    }
}
