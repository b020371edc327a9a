//! Implements the vector operations with AVX2 and FMA: four lanes.

use std::arch::x86_64::*;

use super::simd::Simd;

/// Four lanes in a 256-bit register.
#[derive(Clone, Copy)]
pub struct Avx2(__m256d);

// SAFETY: each operation is one lane-wise instruction of AVX, AVX2 or FMA, which the dispatcher has
// detected; pointers are the caller's duty.
unsafe impl Simd for Avx2 {
    const LANES: usize = 4;
    const REGISTERS: usize = 16;

    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        // SAFETY: AVX was detected.
        Self(unsafe { _mm256_set1_pd(x) })
    }
    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self {
        // SAFETY: AVX was detected; the caller gives four readable values.
        Self(unsafe { _mm256_loadu_pd(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f64) {
        // SAFETY: AVX was detected; the caller gives four writable values.
        unsafe { _mm256_storeu_pd(p, self.0) }
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        // SAFETY: AVX was detected.
        Self(unsafe { _mm256_mul_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: AVX was detected.
        Self(unsafe { _mm256_add_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        // SAFETY: FMA was detected.
        Self(unsafe { _mm256_fmadd_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: AVX was detected.
        Self(unsafe { _mm256_max_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn pairs(p: [*const f64; 2]) -> Self {
        // SAFETY: AVX was detected; the caller gives two readable values.
        Self(unsafe { _mm256_broadcast_pd(&*p[0].cast::<__m128d>()) })
    }
    #[inline(always)]
    unsafe fn load_quads(p: [*const f64; 2]) -> Self {
        // SAFETY: AVX was detected; the caller gives four readable values.
        Self(unsafe { _mm256_loadu_pd(p[0]) })
    }
    #[inline(always)]
    unsafe fn accumulate_quads(self, factor: Self, p: [*mut f64; 2]) {
        // SAFETY: AVX and FMA were detected; the caller gives four writable values.
        unsafe {
            let old = _mm256_loadu_pd(p[0]);
            _mm256_storeu_pd(p[0], _mm256_fmadd_pd(factor.0, self.0, old));
        }
    }
    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        // SAFETY: AVX was detected.
        Self(unsafe { _mm256_div_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        // SAFETY: AVX was detected.
        Self(unsafe { _mm256_sqrt_pd(self.0) })
    }
    #[inline(always)]
    unsafe fn any_greater(self, other: Self) -> bool {
        // SAFETY: AVX was detected.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0)) != 0 }
    }
    #[inline(always)]
    unsafe fn where_greater(self, other: Self, yes: Self, no: Self) -> Self {
        // SAFETY: AVX was detected.
        unsafe {
            let greater = _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0);
            Self(_mm256_blendv_pd(no.0, yes.0, greater))
        }
    }
}
