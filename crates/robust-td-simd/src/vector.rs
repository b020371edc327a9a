//! Abstracts the vector instructions that the kernels use.

use crate::dispatch::Work;
use crate::line::Line;
use crate::xoshiro;

/// A token: a proof that the CPU has certain vector instructions.
///
/// Vectors are created only by methods of a token, so a vector is itself a proof that its instructions exist.
pub trait Simd: Copy {
    /// The number of lanes of a register: 4 or 8.
    const LANES: usize;
    /// The number of vector registers.
    const REGISTERS: usize;
    /// A vector in one register.
    type Register: Register;
    /// Sixteen lanes, in as many registers as needed.
    type Wide: Wide;

    /// All lanes equal to `x`.
    fn splat(self, x: f64) -> Self::Register;
    /// The first `LANES` numbers of a list.
    ///
    /// # Panics
    /// If there are fewer; likewise for the other loads.
    fn load(self, from: &[f64]) -> Self::Register;
    /// Quad q holds the first two numbers of `from[q]` twice. With four lanes there is only quad 0.
    fn pairs(self, from: [&[f64]; 2]) -> Self::Register;
    /// Quad q holds `from[q]`.
    fn quads(self, from: [&[f64; 4]; 2]) -> Self::Register;

    /// All sixteen lanes equal to `x`.
    fn splat16(self, x: f64) -> Self::Wide;
    /// The numbers of a line.
    fn load16(self, from: &Line<16>) -> Self::Wide;
    /// The first sixteen numbers of a list, padded with zeros if there are fewer.
    fn load16_some(self, from: &[f64]) -> Self::Wide;

    /// The next draws of eight Xoshiro256++ generators: the high 53 bits of their outputs.
    #[inline(always)]
    fn xoshiro256pp(self, state: &mut [[u64; 8]; 4], draws: &mut [[u64; 8]]) {
        xoshiro::plain(state, draws);
    }

    /// Does the work in a separate function, compiled for these instructions.
    ///
    /// Small functions help the compiler's register allocation, and a caller may select among many of them.
    fn call<W: Work>(self, work: &mut W) -> W::Output;
}

/// Numbers side by side; operations act lane by lane.
pub trait Vector: Copy {
    /// self + other.
    fn add(self, other: Self) -> Self;
    /// self - other.
    fn sub(self, other: Self) -> Self;
    /// self * other.
    fn mul(self, other: Self) -> Self;
    /// self / other.
    fn div(self, other: Self) -> Self;
    /// self * b + c with one rounding.
    fn fma(self, b: Self, c: Self) -> Self;
    /// self if self > other, else other; also if either is NaN.
    fn max(self, other: Self) -> Self;
}

/// A vector in one register.
pub trait Register: Vector {
    /// Writes the lanes to the front of a list.
    ///
    /// # Panics
    /// If the list is shorter.
    fn store(self, to: &mut [f64]);
    /// Writes the first lanes, as many as fit in the list.
    fn store_some(self, to: &mut [f64]);
    /// The square root.
    fn sqrt(self) -> Self;
    /// Whether self > other in any lane.
    fn any_greater(self, other: Self) -> bool;
    /// `yes` in lanes with self > other, else `no`.
    fn where_greater(self, other: Self, yes: Self, no: Self) -> Self;
    /// Adds factor * self to four numbers, for quad Q of both: fma(factor, self, old). All lanes of `factor` are equal.
    fn accumulate_quad<const Q: usize>(self, factor: Self, quad: &mut [f64; 4]);
    /// The number of one lane.
    ///
    /// # Panics
    /// If there is no such lane.
    fn lane(self, lane: usize) -> f64;
    /// The sum of all lanes: adds lanes four apart, then two, then one.
    fn sum(self) -> f64;
}

/// Sixteen lanes.
pub trait Wide: Vector {
    /// Writes all lanes to a line.
    fn store(self, to: &mut Line<16>);
    /// Writes the first lanes, as many as fit in the list.
    fn store_some(self, to: &mut [f64]);
    /// The number of one lane, counted modulo sixteen.
    fn lane(self, lane: usize) -> f64;
    /// The sum of all lanes: adds lanes eight apart, then four, two and one.
    fn sum(self) -> f64;
}
