//! Abstracts the vector instructions that the step loop needs.

use serde::{Deserialize, Serialize};

/// Lanes that one cell holds: four packs of eight.
pub const CELL: usize = 32;
/// Lanes of one pack.
pub const PACK: usize = 8;
/// Lanes that one trajectory drives in a split cell.
pub const QUAD: usize = 4;

/// Eight values in one cache line: a 512-bit access that straddles two lines costs double.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Line(pub [f64; PACK]);

/// Views lines as plain values.
pub fn values(lines: &[Line]) -> &[f64] {
    // SAFETY: a line is eight f64 without padding, since its size equals its alignment.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * PACK) }
}

/// Views lines as plain values.
pub fn values_mut(lines: &mut [Line]) -> &mut [f64] {
    // SAFETY: as for `values`; the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * PACK) }
}

/// A vector of f64 lanes.
///
/// Every operation acts on each lane exactly as the f64 operation of the same name, so a lane's
/// result does not depend on the implementation.
///
/// # Safety
/// Pointers must be valid for the lanes read or written, and the CPU must have the instructions of
/// the implementation.
pub unsafe trait Simd: Copy {
    /// Number of lanes: 4 or 8.
    const LANES: usize;
    /// Number of registers for vectors.
    const REGISTERS: usize;
    /// All lanes equal to `x`.
    unsafe fn splat(x: f64) -> Self;
    /// Reads `LANES` values.
    unsafe fn load(p: *const f64) -> Self;
    /// Writes `LANES` values.
    unsafe fn store(self, p: *mut f64);
    /// self * other.
    unsafe fn mul(self, other: Self) -> Self;
    /// self + other.
    unsafe fn add(self, other: Self) -> Self;
    /// self * b + c with one rounding.
    unsafe fn fma(self, b: Self, c: Self) -> Self;
    /// self if self > other, else other (so a NaN in self is dropped).
    unsafe fn max(self, other: Self) -> Self;
    /// Quad q holds p[q][0], p[q][1], p[q][0], p[q][1].
    unsafe fn pairs(p: [*const f64; 2]) -> Self;
    /// Quad q holds p[q][0..4].
    unsafe fn load_quads(p: [*const f64; 2]) -> Self;
    /// Adds factor * self to the four values at p[q], quad by quad: fma(factor, self, old).
    unsafe fn accumulate_quads(self, factor: Self, p: [*mut f64; 2]);
    /// self / other.
    unsafe fn div(self, other: Self) -> Self;
    /// The square root.
    unsafe fn sqrt(self) -> Self;
    /// Whether self > other in any lane.
    unsafe fn any_greater(self, other: Self) -> bool;
    /// Lane by lane `yes` if self > other, else `no`.
    unsafe fn where_greater(self, other: Self, yes: Self, no: Self) -> Self;
}
