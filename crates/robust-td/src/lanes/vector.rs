//! Gives eight lanes as one vector of the CPU, two, or a plain array.
//!
//! Products and sums are rounded one by one, so all give the same bits.

use super::kernel::{Line, WIDTH};

/// Eight numbers.
///
/// # Safety
/// The methods of a type may be called only where the CPU has its instructions.
pub trait Vector: Copy {
    /// The same number eight times.
    unsafe fn splat(value: f64) -> Self;
    /// The numbers of a line.
    unsafe fn load(line: &Line) -> Self;
    /// Writes them to a line.
    unsafe fn store(self, line: &mut Line);
    /// Products, lane by lane.
    unsafe fn times(self, other: Self) -> Self;
    /// Sums, lane by lane.
    unsafe fn plus(self, other: Self) -> Self;
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
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Line, Vector};

    // SAFETY of all blocks below: the caller answers for the instructions, and a line is 64 aligned bytes.

    impl Vector for __m512d {
        #[inline(always)]
        unsafe fn splat(value: f64) -> Self {
            // SAFETY: see above.
            unsafe { _mm512_set1_pd(value) }
        }
        #[inline(always)]
        unsafe fn load(line: &Line) -> Self {
            // SAFETY: see above.
            unsafe { _mm512_load_pd(line.0.as_ptr()) }
        }
        #[inline(always)]
        unsafe fn store(self, line: &mut Line) {
            // SAFETY: see above.
            unsafe { _mm512_store_pd(line.0.as_mut_ptr(), self) }
        }
        #[inline(always)]
        unsafe fn times(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm512_mul_pd(self, other) }
        }
        #[inline(always)]
        unsafe fn plus(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe { _mm512_add_pd(self, other) }
        }
    }

    impl Vector for [__m256d; 2] {
        #[inline(always)]
        unsafe fn splat(value: f64) -> Self {
            // SAFETY: see above.
            unsafe { [_mm256_set1_pd(value); 2] }
        }
        #[inline(always)]
        unsafe fn load(line: &Line) -> Self {
            let p = line.0.as_ptr();
            // SAFETY: see above.
            unsafe { [_mm256_load_pd(p), _mm256_load_pd(p.add(4))] }
        }
        #[inline(always)]
        unsafe fn store(self, line: &mut Line) {
            let p = line.0.as_mut_ptr();
            // SAFETY: see above.
            unsafe {
                _mm256_store_pd(p, self[0]);
                _mm256_store_pd(p.add(4), self[1]);
            }
        }
        #[inline(always)]
        unsafe fn times(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe {
                [
                    _mm256_mul_pd(self[0], other[0]),
                    _mm256_mul_pd(self[1], other[1]),
                ]
            }
        }
        #[inline(always)]
        unsafe fn plus(self, other: Self) -> Self {
            // SAFETY: see above.
            unsafe {
                [
                    _mm256_add_pd(self[0], other[0]),
                    _mm256_add_pd(self[1], other[1]),
                ]
            }
        }
    }
}
