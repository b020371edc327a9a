//! Chooses and runs the kernel that advances packs of lanes.
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
use crate::unit::CellState;

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

/// What the packs of one block share.
pub(crate) struct Block<'a> {
    pub sharing: Sharing,
    pub dimension: usize,
    pub k1: Line,
    pub k0: Line,
    /// One entry per step.
    pub decay: &'a [f64],
    /// One coefficient per step, and the total weight.
    pub coefficients: &'a [f64],
    pub weight: f64,
    pub moves: &'a [[u32; 8]],
    pub buckets_at: &'a [[u32; 8]],
    pub table: &'a [f64],
    pub features: &'a [f64],
    /// Per trajectory `bucket_capacity` states of buckets.
    pub bucket_states: &'a [u32],
    pub bucket_count: usize,
    pub bucket_capacity: usize,
}

/// How the eight trajectories of a sampled group drive lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Trajectory i drives this pack of cell i.
    Broadcast {
        /// Index of the pack.
        pack: usize,
    },
    /// Trajectory i drives the lanes 4 i .. 4 i + 4 of the only cell, which alternate between two
    /// variants.
    Split {
        /// Number of trajectories that exist.
        runs: usize,
    },
}

impl Block<'_> {
    /// Advances the lanes through the block; `buckets` is zero before and after.
    ///
    /// |theta|^2 after update t is added to row t = 1, 2, .. of `sums`; row 0 is working memory.
    ///
    /// The offsets in `moves` and `buckets_at` come from the sampler, which makes them for `table` and
    /// for `bucket_capacity` buckets.
    pub fn run(
        &self,
        kernel: Kernel,
        cells: &mut [CellState],
        sums: &mut [f64],
        buckets: &mut [f64],
    ) {
        let (steps, d) = (self.decay.len(), self.dimension);
        assert!(sums.len() >= (steps + 1) * PACK);
        assert!(self.moves.len() == steps && self.buckets_at.len() == steps);
        assert!(self.coefficients.len() == steps);
        assert!(buckets.len() >= self.bucket_capacity * CELL);
        assert!(self.bucket_count <= self.bucket_capacity);
        assert!(self.bucket_states.len() >= 8 * self.bucket_capacity);
        let nowhere = step::RawPack {
            theta: std::ptr::null_mut(),
            average: std::ptr::null_mut(),
            max: std::ptr::null_mut(),
        };
        let mut packs = [nowhere; 8];
        // One borrow per cell: the packs of a cell are offsets from the same pointers.
        let base = |cell: &mut CellState| {
            assert!(cell.theta.len() == d * CELL && cell.average.len() == d * CELL);
            assert!(cell.max.len() == CELL);
            step::RawPack {
                theta: cell.theta.as_mut_ptr(),
                average: cell.average.as_mut_ptr(),
                max: cell.max.as_mut_ptr(),
            }
        };
        let at = |base: step::RawPack, pack: usize| step::RawPack {
            theta: base.theta.wrapping_add(pack * PACK),
            average: base.average.wrapping_add(pack * PACK),
            max: base.max.wrapping_add(pack * PACK),
        };
        // Packs with all lanes, and one whose second trajectory does not exist.
        let (whole, halved) = match self.sharing {
            Sharing::Broadcast { pack } => {
                assert!(cells.len() <= 8 && pack < CELL / PACK);
                for (raw, cell) in packs.iter_mut().zip(&mut *cells) {
                    *raw = at(base(cell), pack);
                }
                (cells.len(), false)
            }
            Sharing::Split { runs } => {
                assert!(cells.len() == 1 && runs <= 8);
                let cell = base(&mut cells[0]);
                for (i, raw) in packs[..runs.div_ceil(2)].iter_mut().enumerate() {
                    *raw = at(cell, i);
                }
                (runs / 2, runs % 2 == 1)
            }
        };
        let raw = step::Raw {
            steps,
            dimension: d,
            packs,
            k1: self.k1.0.as_ptr(),
            k0: self.k0.0.as_ptr(),
            decay: self.decay.as_ptr(),
            coefficients: self.coefficients.as_ptr(),
            weight: self.weight,
            moves: self.moves.as_ptr(),
            buckets_at: self.buckets_at.as_ptr(),
            table: self.table.as_ptr(),
            sums: sums.as_mut_ptr(),
            buckets: buckets.as_mut_ptr(),
            bucket_capacity: self.bucket_capacity,
        };
        let visited = step::Visited {
            features: self.features.as_ptr(),
            states: self.bucket_states.as_ptr(),
            count: self.bucket_count,
        };
        let split = matches!(self.sharing, Sharing::Split { .. });
        dispatch::run(kernel, split, 0..whole, &raw, &visited);
        if halved {
            // With stepsize zero the missing lanes stay at theta = 0 and add nothing.
            let (mut k1, mut k0) = (self.k1, self.k0);
            k1.0[QUAD..].fill(0.0);
            k0.0[QUAD..].fill(0.0);
            let raw = step::Raw {
                k1: k1.0.as_ptr(),
                k0: k0.0.as_ptr(),
                ..raw
            };
            dispatch::run(kernel, split, whole..whole + 1, &raw, &visited);
        }
    }
}
