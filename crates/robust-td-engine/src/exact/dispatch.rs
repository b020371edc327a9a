//! Runs the exact recursion compiled for the CPU's instructions and the problem's dimension.

use robust_td_simd::{Kernel, Simd, Work};

use super::moments::{Job, WIDTH, step};

/// The largest dimension of the exact recursion, whose cost is quadratic in the dimension.
pub const MAX_DIMENSION: usize = 64;

/// Advances a block of eight lanes by one step.
pub fn run(kernel: Kernel, job: &mut Job<'_>) {
    macro_rules! by_dimension {
        ($($d:literal)*) => {
            match job.chain.dimension {
                $($d => kernel.run(Step::<$d>(job)),)*
                _ => kernel.run(Step::<MAX_DIMENSION>(job)),
            }
        };
    }
    by_dimension!(1 2 3 4 5 6 7 8)
}

/// The step in dimension N, or in any dimension up to the maximum.
struct Step<'j, 'a, const N: usize>(&'j mut Job<'a>);

impl<const N: usize> Work for Step<'_, '_, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        // With a constant dimension the compiler unrolls the loops over it.
        let d = match N {
            MAX_DIMENSION => self.0.chain.dimension,
            _ => N,
        };
        for lane in (0..WIDTH).step_by(S::LANES) {
            step::<S, N>(s, self.0, d, lane);
        }
    }
}
