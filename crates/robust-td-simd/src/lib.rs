//! Runs numerical work with the vector instructions of the CPU; it contains all unsafe code of the project.
//!
//! Work is written once, as a [`Work`] that is generic over a token of type [`Simd`]. [`Kernel::run`] selects the token. A token
//! proves that the CPU supports certain instructions, and only this crate can create one. Vectors are created only by
//! methods of a token, so vector operations are safe to call anywhere.
//!
//! ```
//! use robust_td_simd::{Kernel, Register, Simd, Vector, Work};
//!
//! /// x += factor y.
//! struct Axpy<'a>(f64, &'a mut [f64], &'a [f64]);
//!
//! impl Work for Axpy<'_> {
//!     type Output = ();
//!
//!     #[inline(always)]
//!     fn run<S: Simd>(&mut self, s: S) {
//!         let factor = s.splat(self.0);
//!         let chunks = self.1.chunks_exact_mut(S::LANES);
//!         for (x, y) in chunks.zip(self.2.chunks_exact(S::LANES)) {
//!             factor.fma(s.load(y), s.load(x)).store(x);
//!         }
//!     }
//! }
//!
//! for kernel in Kernel::available() {
//!     let mut x = [1.0; 16];
//!     kernel.run(Axpy(0.5, &mut x, &[4.0; 16]));
//!     assert_eq!(x, [3.0; 16]);
//! }
//! ```
//!
//! # Same bits everywhere
//! An operation acts on each lane exactly as the f64 operation of the same name, and a fused multiply-add rounds once
//! in all implementations. Work with a fixed order of operations gives the same bits with every [`Kernel`].
//!
//! # Why not `pulp`
//! `pulp` 0.22 has the same design, and faer depends on it. We read its source and decided against it, without a benchmark:
//! - Its AVX-512 token exists only with the feature `x86-v4`. Cargo would then enable it for faer too, which would change
//!   the width of its sums and so the last bits of every solution.
//! - That token requires AVX-512 BW and CD, which no kernel here uses.
//! - Its generic trait lacks the operations that the kernels rely on: pairs and quads of two trajectories in one register, and lines
//!   of sixteen lanes with a fixed order of summation. They would need our own trait over its tokens, and only the lane-wise
//!   operations would remain from `pulp`, some fifty lines here.

mod dispatch;
mod kernel;
mod line;
mod links;
mod offsets;
mod portable;
mod upper;
mod vector;
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86;
mod xoshiro;

#[cfg(test)]
mod tests;

pub use dispatch::{Work, run};
pub use kernel::{Kernel, KernelError, current_kernel, set_kernel};
pub use line::Line;
pub use links::Links;
pub use offsets::{Offsets, Rows, Slots};
pub use portable::{Eight, Portable};
pub use upper::clean_upper_halves;
pub use vector::{Register, Simd, Vector, Wide};
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512, F64x4, F64x8};
