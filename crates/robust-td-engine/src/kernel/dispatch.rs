//! Runs the kernel compiled for the CPU's instructions and the problem's dimension.
//!
//! Each combination of instruction set and dimension is a separate function, which keeps the functions small for
//! the compiler.

use std::ops::Range;

use robust_td_simd::{Kernel, Simd, Work};

use super::step::{flush, run as steps, run_wide};
use super::{Job, PACK, project, scalar};

/// Runs a block and flushes its buckets.
pub fn run<const SPLIT: bool>(kernel: Kernel, job: &mut Job<'_>, packs: Range<usize>) {
    match (kernel, job.block.projection.is_some()) {
        (Kernel::Scalar, _) => kernel.run(Twin::<SPLIT>(job, packs)),
        (_, false) => kernel.run(Vectors::<SPLIT>(job, packs)),
        (_, true) => kernel.run(Projected::<SPLIT>(job, packs)),
    }
}

/// All packs of a block whose iterates are projected, one vector at a time.
struct Projected<'j, 'a, const SPLIT: bool>(&'j mut Job<'a>, Range<usize>);

impl<const SPLIT: bool> Work for Projected<'_, '_, SPLIT> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        for pack in self.1.clone() {
            for lane in (0..PACK).step_by(S::LANES) {
                project::run::<S, SPLIT>(s, self.0, pack, lane);
            }
        }
    }
}

/// The scalar twin, compiled with FMA where the CPU has it, so that `mul_add` is one instruction.
struct Twin<'j, 'a, const SPLIT: bool>(&'j mut Job<'a>, Range<usize>);

impl<const SPLIT: bool> Work for Twin<'_, '_, SPLIT> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, _: S) {
        scalar::run::<SPLIT>(self.0, self.1.clone());
    }
}

/// All packs of a block, in groups of 4, 2 and 1 whose iterates fit in registers.
struct Vectors<'j, 'a, const SPLIT: bool>(&'j mut Job<'a>, Range<usize>);

impl<const SPLIT: bool> Work for Vectors<'_, '_, SPLIT> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        let Self(job, packs) = self;
        let at_once = match job.block.dimension {
            ..=5 => at_once::<S>(),
            6..=10 => at_once::<S>().min(2),
            _ => 1,
        };
        let mut first = packs.start;
        while first < packs.end {
            let fits = |n: &usize| *n <= at_once && first + n <= packs.end;
            let group = [4, 2].into_iter().find(fits).unwrap_or(1);
            for lane in (0..PACK).step_by(S::LANES) {
                advance::<S, SPLIT>(s, job, first, group, lane);
                for pack in first..first + group {
                    match SPLIT {
                        true => s.call(&mut Flush::<true, 2>(job, pack, lane)),
                        false => s.call(&mut Flush::<false, 1>(job, pack, lane)),
                    }
                }
            }
            first += group;
        }
    }
}

/// The number of vectors that advance together while their iterates fit in registers.
const fn at_once<S: Simd>() -> usize {
    if S::REGISTERS >= 16 { 4 } else { 1 }
}

/// Advances one vector of each of a group of packs through the block.
#[inline(always)]
fn advance<S: Simd, const SPLIT: bool>(
    s: S,
    job: &mut Job<'_>,
    first: usize,
    group: usize,
    lane: usize,
) {
    macro_rules! by_dimension {
        ($size:literal: $($d:literal)*) => {
            match job.block.dimension {
                $($d if SPLIT => s.call(&mut Steps::<$d, $size, true, 2>(job, first, lane)),)*
                $($d => s.call(&mut Steps::<$d, $size, false, 1>(job, first, lane)),)*
                _ => s.call(&mut Any::<SPLIT>(job, first, lane)),
            }
        };
    }
    match group {
        4 if const { at_once::<S>() >= 4 } => by_dimension!(4: 1 2 3 4 5),
        2 if const { at_once::<S>() >= 2 } => by_dimension!(2: 1 2 3 4 5 6 7 8 9 10),
        _ => by_dimension!(1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16),
    }
}

/// The steps of NV packs of dimension D, with W variants per table entry: the job, the first pack, the first lane.
struct Steps<'j, 'a, const D: usize, const NV: usize, const SPLIT: bool, const W: usize>(
    &'j mut Job<'a>,
    usize,
    usize,
);

impl<const D: usize, const NV: usize, const SPLIT: bool, const W: usize> Work
    for Steps<'_, '_, D, NV, SPLIT, W>
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        steps::<S, D, NV, SPLIT, W>(s, self.0, self.1, self.2);
    }
}

/// The steps of one pack of any dimension.
struct Any<'j, 'a, const SPLIT: bool>(&'j mut Job<'a>, usize, usize);

impl<const SPLIT: bool> Work for Any<'_, '_, SPLIT> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        run_wide::<S, SPLIT>(s, self.0, self.1, self.2);
    }
}

/// Flushes the buckets of one pack, with W variants per feature.
struct Flush<'j, 'a, const SPLIT: bool, const W: usize>(&'j mut Job<'a>, usize, usize);

impl<const SPLIT: bool, const W: usize> Work for Flush<'_, '_, SPLIT, W> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        let Self(job, pack, lane) = self;
        match job.block.dimension {
            1 | 2 => flush::<S, SPLIT, W, 2>(s, job, *pack, *lane),
            3..=5 => flush::<S, SPLIT, W, 5>(s, job, *pack, *lane),
            _ => flush::<S, SPLIT, W, 8>(s, job, *pack, *lane),
        }
    }
}
