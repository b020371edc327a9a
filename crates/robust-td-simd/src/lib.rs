//! Runs numerical work with the vector instructions of the CPU; it contains the unsafe code of the Rust crates.
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
//! # Unsafe code
//! Every use of the word `unsafe`, by file; a test counts them.
//!
//! | file | uses | what | why it is sound |
//! |---|---|---|---|
//! | `dispatch.rs` | 3 | creates tokens | only for a kernel that the CPU was found to support |
//! | `line.rs` | 2 | lines as one list of numbers | a constant assertion: lines have no padding |
//! | `links.rs` | 2 | reads a row, follows a link | `Links::new` checks every link, `walk` the rows at the start; both lists are private |
//! | `offsets.rs` | 2 | reads rows, writes slots at offsets | `Offsets::new` finds the bound, `Rows::new` and `Slots::new` compare it with the memory; fields are private |
//! | `portable.rs` | 2 | creates a token, enters a function with FMA | the token proves the instructions |
//! | `upper.rs` | 4 | clears registers; three in its test | AVX is detected first |
//! | `x86.rs` | 35 | intrinsics, entering functions with their instructions | a token or a vector proves the instructions; slices are checked, loads and stores need no alignment |
//! | `xoshiro.rs` | 4 | unaligned loads and stores of whole words | arrays of that size |
//!
//! Miri runs no vector instructions; `cargo xtask sanitize` runs the tests of all kernels under valgrind, except AVX-512, which valgrind
//! does not know.
//!
//! # Why not `pulp`
//! faer depends on `pulp` 0.22, which has the same design. We ported the sweep's step and the random numbers to it and compared:
//! - All bits agree. Time relative to ours on one CPU, AVX2 and AVX-512: step 0.99 and 0.99, the mean of 22 cases of dimension
//!   1 to 18 (single cases 0.88 to 1.11 and 0.92 to 1.07), random numbers 1.00 and 1.00. Compile times are similar.
//! - The port adds no unsafe code: tokens have intrinsics as safe methods. About 44 of the 51 uses of `unsafe` here could go.
//! - Decisive against it: its AVX-512 token requires the feature `x86-v4`, which Cargo would enable for faer too. From about ten
//!   dimensions on, faer's QR, singular values and eigenvalues then have other last bits on CPUs with AVX-512 than on others.
//! - Its trait is sealed and lacks pairs and quads of trajectories and 64-bit shifts and rotations; `WithSimd` passes no other
//!   trait. So our `Simd`, `Work` and dispatch would stay, and the scalar `max`: that of `pulp` differs for NaN and -0.

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
