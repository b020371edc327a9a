//! Runs the lane kernel compiled for the CPU's instructions and the problem's dimension.
//!
//! Each combination is a separate function, which keeps the functions small for the compiler.

use robust_td_simd::{Kernel, Simd, Work};

use super::scalar;
use super::step::{Job, run as steps, run_wide};
use crate::kernel::PACK;

/// Advances all lanes of all runs through a block.
pub fn run(kernel: Kernel, job: &mut Job<'_>) {
    match kernel {
        Kernel::Scalar => kernel.run(Twin(job)),
        _ => kernel.run(Vectors(job)),
    }
}

/// The scalar twin, compiled with FMA where the CPU has it, so that `mul_add` is one instruction.
struct Twin<'j, 'a>(&'j mut Job<'a>);

impl Work for Twin<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, _: S) {
        for run in 0..self.0.runs {
            for lane in 0..PACK {
                scalar::run(self.0, run, lane);
            }
        }
    }
}

/// All runs, several at once while their iterates fit in registers, because the operations of one run depend on each other.
struct Vectors<'j, 'a>(&'j mut Job<'a>);

impl Work for Vectors<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        for lane in (0..PACK).step_by(S::LANES) {
            let mut run = 0;
            while run < self.0.runs {
                run += some_runs(s, self.0, run, lane);
            }
        }
    }
}

/// Advances one or more runs from `first` on through the block; returns their number.
#[inline(always)]
fn some_runs<S: Simd>(s: S, job: &mut Job<'_>, first: usize, lane: usize) -> usize {
    let rest = job.runs - first;
    // For each dimension, the number of runs at once with many registers and with few.
    macro_rules! by_dimension {
        ($($d:literal: $many:literal $few:literal,)*) => {
            match job.dimension {
                $($d if const { S::REGISTERS >= 32 } && rest >= $many => {
                    s.call(&mut Steps::<$d, $many>(job, first, lane));
                    $many
                })*
                $($d if const { S::REGISTERS < 32 } && rest >= $few => {
                    s.call(&mut Steps::<$d, $few>(job, first, lane));
                    $few
                })*
                $($d => {
                    s.call(&mut Steps::<$d, 1>(job, first, lane));
                    1
                })*
                _ => {
                    s.call(&mut Any(job, first, lane));
                    1
                }
            }
        };
    }
    by_dimension!(1: 4 2, 2: 4 2, 3: 4 2, 4: 2 1, 5: 2 1, 6: 2 1, 7: 2 1, 8: 2 1,)
}

/// The steps of N runs of dimension D: the job, the first run, the first lane.
struct Steps<'j, 'a, const D: usize, const N: usize>(&'j mut Job<'a>, usize, usize);

impl<const D: usize, const N: usize> Work for Steps<'_, '_, D, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        steps::<S, D, N>(s, self.0, self.1, self.2);
    }
}

/// The steps of one run of any dimension.
struct Any<'j, 'a>(&'j mut Job<'a>, usize, usize);

impl Work for Any<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        run_wide(s, self.0, self.1, self.2);
    }
}
