//! Implements the vector operations with AVX-512: eight lanes.

use std::arch::x86_64::*;

use super::simd::Simd;

/// Eight lanes in a 512-bit register.
#[derive(Clone, Copy)]
pub struct Avx512(__m512d);

// SAFETY: each operation is one lane-wise instruction of AVX-512 F, DQ or VL, which the dispatcher
// has detected; pointers are the caller's duty.
unsafe impl Simd for Avx512 {
    const LANES: usize = 8;
    const REGISTERS: usize = 32;

    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        // SAFETY: AVX-512 was detected.
        Self(unsafe { _mm512_set1_pd(x) })
    }
    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self {
        // SAFETY: AVX-512 was detected; the caller gives eight readable values.
        Self(unsafe { _mm512_loadu_pd(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f64) {
        // SAFETY: AVX-512 was detected; the caller gives eight writable values.
        unsafe { _mm512_storeu_pd(p, self.0) }
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        // SAFETY: AVX-512 was detected.
        Self(unsafe { _mm512_mul_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: AVX-512 was detected.
        Self(unsafe { _mm512_add_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        // SAFETY: AVX-512 was detected.
        Self(unsafe { _mm512_fmadd_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: AVX-512 was detected.
        Self(unsafe { _mm512_max_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn pairs(p: [*const f64; 2]) -> Self {
        // SAFETY: AVX-512 DQ was detected; the caller gives two readable values per quad.
        unsafe {
            let low = _mm512_broadcast_f64x2(_mm_loadu_pd(p[0]));
            // A masked broadcast: one load and one port-0/5 operation for the upper trajectory.
            Self(_mm512_mask_broadcast_f64x2(low, 0xf0, _mm_loadu_pd(p[1])))
        }
    }
    #[inline(always)]
    unsafe fn load_quads(p: [*const f64; 2]) -> Self {
        // SAFETY: AVX-512 was detected; the caller gives four readable values per quad.
        unsafe {
            let low = _mm512_castpd256_pd512(_mm256_loadu_pd(p[0]));
            Self(_mm512_insertf64x4::<1>(low, _mm256_loadu_pd(p[1])))
        }
    }
    #[inline(always)]
    unsafe fn accumulate_quads(self, factor: Self, p: [*mut f64; 2]) {
        // SAFETY: AVX-512 and FMA were detected; the caller gives four writable values per quad,
        // the quads apart.
        unsafe {
            let factor = _mm512_castpd512_pd256(factor.0);
            let low = _mm512_castpd512_pd256(self.0);
            let high = _mm512_extractf64x4_pd::<1>(self.0);
            _mm256_storeu_pd(p[0], _mm256_fmadd_pd(factor, low, _mm256_loadu_pd(p[0])));
            _mm256_storeu_pd(p[1], _mm256_fmadd_pd(factor, high, _mm256_loadu_pd(p[1])));
        }
    }
    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        // SAFETY: AVX-512 was detected.
        Self(unsafe { _mm512_div_pd(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        // SAFETY: AVX-512 was detected.
        Self(unsafe { _mm512_sqrt_pd(self.0) })
    }
    #[inline(always)]
    unsafe fn any_greater(self, other: Self) -> bool {
        // SAFETY: AVX-512 was detected.
        unsafe { _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, other.0) != 0 }
    }
    #[inline(always)]
    unsafe fn where_greater(self, other: Self, yes: Self, no: Self) -> Self {
        // SAFETY: AVX-512 was detected.
        unsafe {
            let greater = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, other.0);
            Self(_mm512_mask_blend_pd(greater, no.0, yes.0))
        }
    }
}
