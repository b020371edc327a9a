//! Holds sixteen lanes in the registers of AVX-512 and of AVX2.

use std::arch::x86_64::*;

use super::Vector;
use crate::lanes::line::{Line, WIDTH};

/// Sixteen numbers in registers of some width.
macro_rules! vector {
    ($register:ty, $count:literal, $registers:literal, $splat:ident, $load:ident, $store:ident, $load_some:ident, $store_some:ident,
     $times:ident, $plus:ident, $minus:ident, $fused:ident, $larger:ident, $lane:ident, $sum:ident) => {
        // SAFETY of all blocks below: the caller answers for the instructions, and a line is aligned to 64 bytes.
        impl Vector for [$register; $count] {
            const HELD: usize = $registers / $count;

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
            unsafe fn load_some(numbers: &[f64]) -> Self {
                // SAFETY: see above; only numbers of the list are read.
                unsafe {
                    let mut registers = Self::splat(0.0);
                    for (i, register) in registers.iter_mut().enumerate() {
                        let first = WIDTH / $count * i;
                        let left = numbers.len().saturating_sub(first);
                        *register = $load_some(numbers.as_ptr().wrapping_add(first), left);
                    }
                    registers
                }
            }
            #[inline(always)]
            unsafe fn store_some(self, numbers: &mut [f64]) {
                for (i, register) in self.into_iter().enumerate() {
                    let first = WIDTH / $count * i;
                    let left = numbers.len().saturating_sub(first);
                    let place = numbers.as_mut_ptr().wrapping_add(first);
                    // SAFETY: see above; only numbers of the list are written.
                    unsafe { $store_some(place, left, register) }
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
            unsafe fn sum(self) -> f64 {
                // SAFETY: see above.
                unsafe { $sum(self) }
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

/// A bit for each of the first numbers of eight.
#[inline(always)]
fn mask_of_8(count: usize) -> __mmask8 {
    !(0xff_u32 << count.min(8)) as u8
}

/// # Safety
/// There are `count` numbers, or eight, at the place.
#[inline(always)]
unsafe fn load_some_of_8(place: *const f64, count: usize) -> __m512d {
    // SAFETY: the caller answers for the instructions and the numbers.
    unsafe { _mm512_maskz_loadu_pd(mask_of_8(count), place) }
}

/// # Safety
/// There is room for `count` numbers, or eight, at the place.
#[inline(always)]
unsafe fn store_some_of_8(place: *mut f64, count: usize, numbers: __m512d) {
    // SAFETY: the caller answers for the instructions and the room.
    unsafe { _mm512_mask_storeu_pd(place, mask_of_8(count), numbers) }
}

/// All bits of the first numbers of four.
#[inline(always)]
unsafe fn mask_of_4(count: usize) -> __m256i {
    // SAFETY: the caller answers for the instructions.
    unsafe {
        let count = _mm256_set1_epi64x(count.min(4) as i64);
        _mm256_cmpgt_epi64(count, _mm256_setr_epi64x(0, 1, 2, 3))
    }
}

/// # Safety
/// There are `count` numbers, or four, at the place.
#[inline(always)]
unsafe fn load_some_of_4(place: *const f64, count: usize) -> __m256d {
    // SAFETY: the caller answers for the instructions and the numbers.
    unsafe { _mm256_maskload_pd(place, mask_of_4(count)) }
}

/// # Safety
/// There is room for `count` numbers, or four, at the place.
#[inline(always)]
unsafe fn store_some_of_4(place: *mut f64, count: usize, numbers: __m256d) {
    // SAFETY: the caller answers for the instructions and the room.
    unsafe { _mm256_maskstore_pd(place, mask_of_4(count), numbers) }
}

#[inline(always)]
unsafe fn sum_of_4(x: __m256d) -> f64 {
    // SAFETY: the caller answers for the instructions.
    unsafe {
        let pair = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
        _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)))
    }
}

#[inline(always)]
unsafe fn sum_of_512([x, y]: [__m512d; 2]) -> f64 {
    // SAFETY: the caller answers for the instructions.
    unsafe {
        let sum = _mm512_add_pd(x, y);
        let (low, high) = (
            _mm512_castpd512_pd256(sum),
            _mm512_extractf64x4_pd::<1>(sum),
        );
        sum_of_4(_mm256_add_pd(low, high))
    }
}

#[inline(always)]
unsafe fn sum_of_256([a, b, c, d]: [__m256d; 4]) -> f64 {
    // SAFETY: the caller answers for the instructions.
    unsafe { sum_of_4(_mm256_add_pd(_mm256_add_pd(a, c), _mm256_add_pd(b, d))) }
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
    32,
    _mm512_set1_pd,
    _mm512_load_pd,
    _mm512_store_pd,
    load_some_of_8,
    store_some_of_8,
    _mm512_mul_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_fmadd_pd,
    _mm512_max_pd,
    lane_of_512,
    sum_of_512
);
vector!(
    __m256d,
    4,
    16,
    _mm256_set1_pd,
    _mm256_load_pd,
    _mm256_store_pd,
    load_some_of_4,
    store_some_of_4,
    _mm256_mul_pd,
    _mm256_add_pd,
    _mm256_sub_pd,
    _mm256_fmadd_pd,
    _mm256_max_pd,
    lane_of_256,
    sum_of_256
);
