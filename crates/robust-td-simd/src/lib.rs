//! Runs numerical work with the vector instructions of the CPU; all unsafe code of the project is here.
//!
//! Work is written once, as a [`Work`] that is generic over a token of type [`Simd`]. [`Kernel::run`] picks the token: it
//! stands for instructions that the CPU was found to have, and only this crate can make one. Every vector begins with
//! a method of the token, so vector operations are safe to call anywhere.
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
//! in all implementations. Work that fixes the order of its operations gives the same bits with every [`Kernel`].
//!
//! # Why not `pulp`
//! `pulp` 0.22 has the same design, and faer brings it along. We left it for these reasons. Its AVX-512 tokens need the
//! feature `x86-v4`; Cargo would enable that for faer too, whose sums then have another width and other last
//! bits. Its AVX-512 level asks for more than the kernels use (BW, CD and others). It has no vector of fixed width above one
//! register, no masked broadcast of pairs and no portable vector compiled with FMA, so those would stay unsafe code of our own
//! beside it. What is left of it would be the lane-wise operations: 150 lines here.

mod dispatch;
mod kernel;
mod line;
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
pub use portable::{Eight, Portable};
pub use upper::clean_upper_halves;
pub use vector::{Register, Simd, Vector, Wide};
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512, F64x4, F64x8};
