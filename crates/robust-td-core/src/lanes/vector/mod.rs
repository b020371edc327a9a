//! Gives sixteen lanes as two registers of the CPU, four, or a plain array.
//!
//! They are more than one register holds, because a chain of dependent sums leaves the CPU idle unless there are others beside it.
//!
//! A product with a sum is rounded once by all of them, so all give the same bits. A CPU that cannot do that takes the array and
//! computes it in software: slow, but the same numbers.

#[cfg(target_arch = "x86_64")]
mod x86;

use super::line::{Line, WIDTH};

/// Sixteen numbers.
///
/// # Safety
/// The methods of a type may be called only where the CPU has its instructions.
pub trait Vector: Copy {
    /// How many of these a loop may hold before the CPU runs out of registers.
    const HELD: usize;

    /// The same number sixteen times.
    unsafe fn splat(value: f64) -> Self;
    /// The numbers of a line.
    unsafe fn load(line: &Line) -> Self;
    /// Writes them to a line.
    unsafe fn store(self, line: &mut Line);
    /// The first sixteen numbers of a list, or all and zeros after them.
    unsafe fn load_some(numbers: &[f64]) -> Self;
    /// Writes the first of them, as many as there is room for.
    unsafe fn store_some(self, numbers: &mut [f64]);
    /// Products, lane by lane.
    unsafe fn times(self, other: Self) -> Self;
    /// Sums, lane by lane.
    unsafe fn plus(self, other: Self) -> Self;
    /// Differences, lane by lane.
    unsafe fn minus(self, other: Self) -> Self;
    /// self + x y, rounded once.
    unsafe fn plus_product(self, x: Self, y: Self) -> Self;
    /// The number of one lane.
    unsafe fn lane(self, lane: usize) -> f64;
    /// The sum of all: first lanes eight apart, then four, two and one.
    unsafe fn sum(self) -> f64;
    /// self where it is larger, else the other, also where either is not a number.
    unsafe fn or_larger(self, other: Self) -> Self;
}

/// For any CPU.
impl Vector for [f64; WIDTH] {
    const HELD: usize = 1;

    #[inline(always)]
    unsafe fn splat(value: f64) -> Self {
        [value; WIDTH]
    }
    #[inline(always)]
    unsafe fn load(line: &Line) -> Self {
        line.0
    }
    #[inline(always)]
    unsafe fn store(self, line: &mut Line) {
        line.0 = self;
    }
    #[inline(always)]
    unsafe fn load_some(numbers: &[f64]) -> Self {
        let mut all = [0.0; WIDTH];
        for (x, number) in all.iter_mut().zip(numbers) {
            *x = *number;
        }
        all
    }
    #[inline(always)]
    unsafe fn store_some(self, numbers: &mut [f64]) {
        for (x, number) in self.into_iter().zip(numbers) {
            *number = x;
        }
    }
    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] * other[l])
    }
    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] + other[l])
    }
    #[inline(always)]
    unsafe fn minus(self, other: Self) -> Self {
        std::array::from_fn(|l| self[l] - other[l])
    }
    #[inline(always)]
    unsafe fn plus_product(self, x: Self, y: Self) -> Self {
        std::array::from_fn(|l| x[l].mul_add(y[l], self[l]))
    }
    #[inline(always)]
    unsafe fn lane(self, lane: usize) -> f64 {
        self[lane]
    }
    #[inline(always)]
    unsafe fn sum(mut self) -> f64 {
        for half in [8, 4, 2, 1] {
            for l in 0..half {
                self[l] += self[l + half];
            }
        }
        self[0]
    }
    #[inline(always)]
    unsafe fn or_larger(self, other: Self) -> Self {
        std::array::from_fn(|l| {
            if self[l] > other[l] {
                self[l]
            } else {
                other[l]
            }
        })
    }
}
