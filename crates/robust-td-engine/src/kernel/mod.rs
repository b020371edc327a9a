//! Chooses and runs the kernel that advances a cell of lanes.
//!
//! # FMA policy
//! Every kernel uses fused multiply-add, as written in `step.rs`. On a CPU with FMA all kernels are
//! compiled for it; elsewhere `f64::mul_add` computes the same bits in software, correct but slow.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
mod portable;
mod scalar;
mod simd;
mod step;

pub(crate) use dispatch::{Work, with_features};
pub(crate) use portable::Portable as PortableVector;
pub(crate) use simd::{CELL, Line, PACK, QUAD, Simd, values, values_mut};
#[cfg(target_arch = "x86_64")]
pub(crate) use {avx2::Avx2 as Avx2Vector, avx512::Avx512 as Avx512Vector};

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// Code that advances the lanes; all give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kernel {
    /// One lane at a time: the twin that the others are tested against.
    Scalar,
    /// Arrays of eight lanes, vectorised by the compiler.
    Portable,
    /// AVX2 and FMA: four lanes per instruction.
    Avx2,
    /// AVX-512 F, DQ and VL: eight lanes per instruction.
    Avx512,
}

impl Kernel {
    /// All kernels, slowest first.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Portable, Self::Avx2, Self::Avx512];

    /// The fastest kernel of this CPU.
    pub fn best() -> Self {
        *Self::ALL
            .iter()
            .rfind(|k| k.is_available())
            .unwrap_or(&Self::Portable)
    }

    /// Whether this CPU has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar | Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// This kernel if the CPU can run it.
    ///
    /// # Errors
    /// [`Error::KernelUnavailable`] otherwise.
    pub fn check(self) -> Result<Self> {
        match self.is_available() {
            true => Ok(self),
            false => Err(Error::KernelUnavailable {
                kernel: self.name(),
            }),
        }
    }

    /// The name on the command line.
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
    type Err = Error;

    /// Parses a name; `auto` is the best kernel of this CPU.
    fn from_str(name: &str) -> Result<Self> {
        if name == "auto" {
            return Ok(Self::best());
        }
        let found = Self::ALL.into_iter().find(|k| k.name() == name);
        found.ok_or_else(|| Error::UnknownKernel { name: name.into() })
    }
}

/// The state of one cell: CELL lanes, coordinate by coordinate.
pub(crate) struct Cell<'a> {
    /// d x CELL iterates.
    pub theta: &'a mut [f64],
    /// d x CELL weighted sums of iterates.
    pub average: &'a mut [f64],
    /// CELL maxima of |theta_t|^2.
    pub max: &'a mut [f64],
}

/// How trajectories drive the lanes of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// The trajectory in this column drives all lanes.
    Broadcast {
        /// Column of the sampled group.
        column: usize,
    },
    /// Trajectory i of eight drives the lanes 4 i .. 4 i + 4, which alternate between two variants.
    Split,
}

/// What all cells of one block share.
pub(crate) struct Block<'a> {
    pub sharing: Sharing,
    /// Number of packs in use.
    pub packs: usize,
    pub dimension: usize,
    pub k1: &'a [Line; CELL / PACK],
    pub k0: &'a [Line; CELL / PACK],
    /// One entry per step.
    pub decay: &'a [f64],
    /// Per pack: one coefficient per step, and the total weight.
    pub coefficients: [&'a [f64]; CELL / PACK],
    pub weights: [f64; CELL / PACK],
    pub moves: &'a [[u32; 8]],
    pub buckets_at: &'a [[u32; 8]],
    pub table: &'a [f64],
    pub features: &'a [f64],
    /// Per trajectory `bucket_capacity` states of buckets.
    pub bucket_states: &'a [u32],
    pub bucket_count: usize,
    pub bucket_capacity: usize,
}

impl Block<'_> {
    /// Advances `cell` through the block, adding |theta_t|^2 to `sums`; `buckets` is zero before and after.
    ///
    /// The offsets in `moves` and `buckets_at` come from the sampler, which makes them for `table` and
    /// for `bucket_capacity` buckets.
    pub fn run(&self, kernel: Kernel, cell: Cell<'_>, sums: &mut [f64], buckets: &mut [f64]) {
        let (steps, d) = (self.decay.len(), self.dimension);
        assert!(cell.theta.len() == d * CELL && cell.average.len() == d * CELL);
        assert!(cell.max.len() == CELL && sums.len() >= steps * CELL);
        assert!(self.moves.len() == steps && self.buckets_at.len() == steps);
        assert!(self.coefficients.iter().all(|c| c.len() == steps) && self.packs <= CELL / PACK);
        assert!(buckets.len() >= self.bucket_capacity * CELL);
        assert!(self.bucket_count <= self.bucket_capacity);
        assert!(self.bucket_states.len() >= 8 * self.bucket_capacity);
        let column = match self.sharing {
            Sharing::Broadcast { column } => column,
            Sharing::Split => 0,
        };
        assert!(column < 8);
        let raw = step::Raw {
            steps,
            dimension: d,
            theta: cell.theta.as_mut_ptr(),
            average: cell.average.as_mut_ptr(),
            max: cell.max.as_mut_ptr(),
            k1: values(self.k1).as_ptr(),
            k0: values(self.k0).as_ptr(),
            decay: self.decay.as_ptr(),
            coefficients: self.coefficients.map(<[f64]>::as_ptr),
            weights: self.weights,
            moves: self.moves.as_ptr(),
            buckets_at: self.buckets_at.as_ptr(),
            column,
            table: self.table.as_ptr(),
            sums: sums.as_mut_ptr(),
            buckets: buckets.as_mut_ptr(),
            bucket_stride: self.bucket_capacity * QUAD,
        };
        let visited = step::Visited {
            features: self.features.as_ptr(),
            states: self.bucket_states.as_ptr(),
            states_stride: self.bucket_capacity,
            count: self.bucket_count,
        };
        dispatch::run(
            kernel,
            self.sharing == Sharing::Split,
            self.packs,
            &raw,
            &visited,
        );
    }
}
