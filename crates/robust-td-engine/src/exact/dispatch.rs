//! Enters the exact recursion compiled for the CPU's instructions and the problem's dimension.

use super::moments::{Raw, WIDTH, step};
#[cfg(target_arch = "x86_64")]
use crate::kernel::{Avx2Vector, Avx512Vector};
use crate::kernel::{Kernel, PortableVector, Simd};

/// Largest dimension of the exact recursion, whose cost grows with its square.
pub const MAX_DIMENSION: usize = 64;

macro_rules! compiled {
    ($name:ident, $v:ty $(, $features:literal)?) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        unsafe fn $name<const N: usize>(raw: &Raw<'_>, d: usize) {
            // A constant dimension: the compiler unrolls the loops over it.
            let d = if N == MAX_DIMENSION { d } else { N };
            for lane in (0..WIDTH).step_by(<$v>::LANES) {
                // SAFETY: passed on from the caller.
                unsafe { step::<$v, N>(raw, d, lane) }
            }
        }
    };
}

compiled!(plain, PortableVector);
#[cfg(target_arch = "x86_64")]
compiled!(fused, PortableVector, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(avx2, Avx2Vector, "avx2,fma");
#[cfg(target_arch = "x86_64")]
compiled!(avx512, Avx512Vector, "avx2,fma,avx512f,avx512dq,avx512vl");

/// Moves a block of eight lanes forward by one step.
///
/// # Safety
/// `raw` must describe live, large enough, disjoint arrays; `Kernel::check` must have passed.
pub unsafe fn run(kernel: Kernel, raw: &Raw<'_>) {
    macro_rules! by_dimension {
        ($code:ident: $($d:literal)*) => {
            match raw.chain.dimension {
                $($d => $code::<$d>(raw, $d),)*
                d => $code::<MAX_DIMENSION>(raw, d),
            }
        };
    }
    // SAFETY: passed on from the caller.
    unsafe {
        match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => by_dimension!(avx512: 1 2 3 4 5 6 7 8),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => by_dimension!(avx2: 1 2 3 4 5 6 7 8),
            #[cfg(target_arch = "x86_64")]
            _ if Kernel::Avx2.is_available() => by_dimension!(fused: 1 2 3 4 5 6 7 8),
            _ => by_dimension!(plain: 1 2 3 4 5 6 7 8),
        }
    }
}
