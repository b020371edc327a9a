//! Names the kernels and detects which ones this CPU supports.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// A set of vector instructions; every kernel gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kernel {
    /// One lane at a time where a scalar twin exists, as a reference for testing the others; otherwise the same as `Portable`.
    Scalar,
    /// Arrays of eight lanes, vectorised by the compiler.
    Portable,
    /// AVX2 and FMA: four lanes per instruction.
    Avx2,
    /// AVX-512 F, DQ and VL: eight lanes per instruction.
    Avx512,
}

/// An invalid choice of kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The CPU lacks the instructions.
    #[error("this CPU cannot run the {kernel} kernel")]
    Unavailable {
        /// The requested kernel.
        kernel: Kernel,
    },
    /// No kernel has this name.
    #[error("unknown kernel `{name}`: use one of auto, scalar, portable, avx2, avx512")]
    Unknown {
        /// The requested name.
        name: String,
    },
}

impl Kernel {
    /// All kernels, slowest first. A CPU that supports one supports all before it.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Portable, Self::Avx2, Self::Avx512];

    /// The kernels that this CPU supports, slowest first.
    pub fn available() -> impl Iterator<Item = Self> + Clone {
        Self::ALL.into_iter().filter(|kernel| kernel.is_available())
    }

    /// The fastest kernel that this CPU supports.
    #[inline]
    pub fn best() -> Self {
        static BEST: AtomicU8 = AtomicU8::new(UNSET);
        // Cached, because detection would take time in each step of a learner.
        from_code(BEST.load(Relaxed)).unwrap_or_else(|| {
            let best = detect();
            BEST.store(best as u8, Relaxed);
            best
        })
    }

    /// Whether this CPU supports the kernel.
    #[inline]
    pub fn is_available(self) -> bool {
        self <= Self::best()
    }

    /// This kernel if the CPU can run it.
    ///
    /// # Errors
    /// [`KernelError::Unavailable`] otherwise.
    pub fn check(self) -> Result<Self, KernelError> {
        match self.is_available() {
            true => Ok(self),
            false => Err(KernelError::Unavailable { kernel: self }),
        }
    }

    /// The name, as parsed by [`FromStr`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kernel {
    type Err = KernelError;

    /// Parses a name; `auto` is the best kernel of this CPU.
    fn from_str(name: &str) -> Result<Self, KernelError> {
        if name == "auto" {
            return Ok(Self::best());
        }
        let found = Self::ALL.into_iter().find(|k| k.name() == name);
        found.ok_or_else(|| KernelError::Unknown { name: name.into() })
    }
}

/// The code of a kernel not yet chosen or detected.
const UNSET: u8 = u8::MAX;

#[inline]
fn from_code(code: u8) -> Option<Kernel> {
    match code {
        0 => Some(Kernel::Scalar),
        1 => Some(Kernel::Portable),
        2 => Some(Kernel::Avx2),
        3 => Some(Kernel::Avx512),
        _ => None,
    }
}

#[cold]
fn detect() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx2") && has!("fma") {
            let wide = has!("avx512f") && has!("avx512dq") && has!("avx512vl");
            return if wide { Kernel::Avx512 } else { Kernel::Avx2 };
        }
    }
    Kernel::Portable
}

static CHOSEN: AtomicU8 = AtomicU8::new(UNSET);

/// The kernel used by [`run`](crate::run): the one that was set, or the best.
#[inline]
pub fn current_kernel() -> Kernel {
    from_code(CHOSEN.load(Relaxed)).unwrap_or_else(|| {
        let best = Kernel::best();
        // Another thread may have set one in the meantime.
        let _ = CHOSEN.compare_exchange(UNSET, best as u8, Relaxed, Relaxed);
        best
    })
}

/// Sets the kernel that [`run`](crate::run) uses in this process.
///
/// A process-wide setting is enough, because all kernels give the same bits: it can change at any time and affects only
/// the speed.
///
/// # Errors
/// [`KernelError::Unavailable`] if the CPU cannot run it.
pub fn set_kernel(kernel: Kernel) -> Result<(), KernelError> {
    CHOSEN.store(kernel.check()? as u8, Relaxed);
    Ok(())
}
