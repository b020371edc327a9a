//! Enters work compiled for the instructions of a kernel.

use crate::kernel::{Kernel, current_kernel};
use crate::portable::Portable;
use crate::vector::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86::{Avx2, Avx512};

/// Work that any vectors can do.
///
/// `run` and what it calls should be `#[inline(always)]`: only what is inlined into a function with target features is
/// compiled for them. Work without vectors gains too, where the compiler makes the vectors.
pub trait Work {
    /// What the work returns.
    type Output;

    /// Does the work, once: in place, because moving its parts takes time in every step of a learner.
    fn run<S: Simd>(&mut self, s: S) -> Self::Output;
}

/// Does the work with the kernel of the process, see [`set_kernel`](crate::set_kernel).
#[inline]
pub fn run<W: Work>(mut work: W) -> W::Output {
    enter(current_kernel(), &mut work)
}

impl Kernel {
    /// Does the work with this kernel, or with the best where the CPU does not have it.
    #[inline]
    pub fn run<W: Work>(self, mut work: W) -> W::Output {
        enter(self.min(Self::best()), &mut work)
    }
}

/// Does the work with a kernel that this CPU has: the one place where tokens are made.
#[inline]
fn enter<W: Work>(available: Kernel, work: &mut W) -> W::Output {
    debug_assert!(available.is_available());
    match available {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has the instructions.
        Kernel::Avx512 => unsafe { Avx512::assume() }.call(work),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has the instructions.
        Kernel::Avx2 => unsafe { Avx2::assume() }.call(work),
        _ => portable(work),
    }
}

/// Not inlined: it would only be in the way of the others.
#[inline(never)]
fn portable<W: Work>(work: &mut W) -> W::Output {
    match Kernel::Avx2.is_available() {
        // SAFETY: the CPU has FMA.
        true => unsafe { Portable::<true>::assume() }.call(work),
        false => Portable::PLAIN.call(work),
    }
}
