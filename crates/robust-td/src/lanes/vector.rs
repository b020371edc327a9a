//! Gives sixteen lanes as two registers of the CPU, four, or a plain array.
//!
//! They are more than one register holds, because a chain of dependent sums leaves the CPU idle unless there are others beside it.
//!
//! A product with a sum is rounded once by all of them, so all give the same bits. A CPU that cannot do that takes the array and
//! computes it in software: slow, but the same numbers.

use super::line::{Line, WIDTH};

/// Sixteen numbers.
///
/// # Safety
/// The methods of a type may be called only where the CPU has its instructions.
pub trait Vector: Copy {
    /// The same number sixteen times.
    unsafe fn splat(value: f64) -> Self;
    /// The numbers of a line.
    unsafe fn load(line: &Line) -> Self;
    /// Writes them to a line.
    unsafe fn store(self, line: &mut Line);
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
    /// self where it is larger, else the other, also where either is not a number.
    unsafe fn or_larger(self, other: Self) -> Self;
}

/// For any CPU.
impl Vector for [f64; WIDTH] {
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

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Line, Vector, WIDTH};

    /// Sixteen numbers in registers of some width.
    macro_rules! vector {
        ($register:ty, $count:literal, $splat:ident, $load:ident, $store:ident, $times:ident, $plus:ident, $minus:ident,
         $fused:ident, $larger:ident, $lane:ident) => {
            // SAFETY of all blocks below: the caller answers for the instructions, and a line is aligned to 64 bytes.
            impl Vector for [$register; $count] {
                #[inline(always)]
                unsafe fn splat(value: f64) -> Self {
                    // SAFETY: see above.
                    unsafe { [$splat(value); $count] }
                }
                #[inline(always)]
                unsafe fn load(line: &Line) -> Self {
                    // SAFETY: see above.
                    unsafe {
                        let mut numbers = Self::splat(0.0);
                        for (i, numbers) in numbers.iter_mut().enumerate() {
                            *numbers = $load(line.0.as_ptr().add(WIDTH / $count * i));
                        }
                        numbers
                    }
                }
                #[inline(always)]
                unsafe fn store(self, line: &mut Line) {
                    for (i, numbers) in self.into_iter().enumerate() {
                        // SAFETY: see above.
                        unsafe { $store(line.0.as_mut_ptr().add(WIDTH / $count * i), numbers) }
                    }
                }
                #[inline(always)]
                unsafe fn times(mut self, other: Self) -> Self {
                    for (x, y) in self.iter_mut().zip(other) {
                        // SAFETY: see above.
                        *x = unsafe { $times(*x, y) };
                    }
                    self
                }
                #[inline(always)]
                unsafe fn plus(mut self, other: Self) -> Self {
                    for (x, y) in self.iter_mut().zip(other) {
                        // SAFETY: see above.
                        *x = unsafe { $plus(*x, y) };
                    }
                    self
                }
                #[inline(always)]
                unsafe fn minus(mut self, other: Self) -> Self {
                    for (x, y) in self.iter_mut().zip(other) {
                        // SAFETY: see above.
                        *x = unsafe { $minus(*x, y) };
                    }
                    self
                }
                #[inline(always)]
                unsafe fn plus_product(mut self, x: Self, y: Self) -> Self {
                    for (sum, (x, y)) in self.iter_mut().zip(x.into_iter().zip(y)) {
                        // SAFETY: see above.
                        *sum = unsafe { $fused(x, y, *sum) };
                    }
                    self
                }
                #[inline(always)]
                unsafe fn lane(self, lane: usize) -> f64 {
                    // SAFETY: see above.
                    unsafe { $lane(self, lane) }
                }
                #[inline(always)]
                unsafe fn or_larger(mut self, other: Self) -> Self {
                    for (x, y) in self.iter_mut().zip(other) {
                        // SAFETY: see above.
                        *x = unsafe { $larger(*x, y) };
                    }
                    self
                }
            }
        };
    }

    /// Without going through memory, where stores are what a step waits for.
    #[inline(always)]
    unsafe fn lane_of_512(registers: [__m512d; 2], lane: usize) -> f64 {
        let register = if lane < 8 { registers[0] } else { registers[1] };
        // SAFETY: the caller answers for the instructions.
        unsafe { _mm512_cvtsd_f64(_mm512_maskz_compress_pd(1 << (lane % 8), register)) }
    }

    #[inline(always)]
    unsafe fn lane_of_256(registers: [__m256d; 4], lane: usize) -> f64 {
        let mut line = Line::default();
        // SAFETY: the caller answers for the instructions.
        unsafe { registers.store(&mut line) };
        line[lane]
    }

    vector!(
        __m512d,
        2,
        _mm512_set1_pd,
        _mm512_load_pd,
        _mm512_store_pd,
        _mm512_mul_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_fmadd_pd,
        _mm512_max_pd,
        lane_of_512
    );
    vector!(
        __m256d,
        4,
        _mm256_set1_pd,
        _mm256_load_pd,
        _mm256_store_pd,
        _mm256_mul_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_fmadd_pd,
        _mm256_max_pd,
        lane_of_256
    );
}
