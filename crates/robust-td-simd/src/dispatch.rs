//! Runs work in code compiled for the instructions of a kernel.

use crate::kernel::{Kernel, current_kernel};
use crate::portable::Portable;
use crate::vector::Simd;
#[cfg(target_arch = "x86_64")]
use crate::x86::{Avx2, Avx512};

/// Work that is generic over the vector instructions.
///
/// `run` and the functions it calls should be `#[inline(always)]`: only code inlined into a function with target features is
/// compiled for them. Work without explicit vectors also benefits, from auto-vectorisation.
pub trait Work {
    /// The result of the work.
    type Output;

    /// Does the work, once. Takes a reference, because moving the work would cost time in every step of a learner.
    fn run<S: Simd>(&mut self, s: S) -> Self::Output;
}

/// Does the work with the kernel set for the process, see [`set_kernel`](crate::set_kernel).
#[inline]
pub fn run<W: Work>(mut work: W) -> W::Output {
    enter(current_kernel(), &mut work)
}

impl Kernel {
    /// Does the work with this kernel, or with the best one if the CPU does not support it.
    #[inline]
    pub fn run<W: Work>(self, mut work: W) -> W::Output {
        enter(self.min(Self::best()), &mut work)
    }
}

/// Does the work with a kernel that this CPU supports. Tokens are created only here.
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

/// Not inlined, to keep the other paths small.
#[inline(never)]
fn portable<W: Work>(work: &mut W) -> W::Output {
    match Kernel::Avx2.is_available() {
        // SAFETY: the CPU has FMA.
        true => unsafe { Portable::<true>::assume() }.call(work),
        false => Portable::PLAIN.call(work),
    }
}
