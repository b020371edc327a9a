//! Implements vectors with AVX2 and FMA, and with AVX-512.

use std::arch::x86_64::*;

use crate::dispatch::Work;
use crate::line::Line;
use crate::vector::{Register, Simd, Vector};
use crate::xoshiro;

/// The token of AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

/// The token of AVX-512 F, DQ and VL, with AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

/// Four lanes in a 256-bit register.
#[derive(Clone, Copy, Debug)]
pub struct F64x4(__m256d);

/// Eight lanes in a 512-bit register.
#[derive(Clone, Copy, Debug)]
pub struct F64x8(__m512d);

// SAFETY of all blocks below without their own reason: a token, or a vector created with one, proves that the
// CPU has the instructions, and slices are checked to be long enough.

/// The lane-wise operations of a register, each one instruction.
macro_rules! lanewise {
    ($vector:ident: $add:ident $sub:ident $mul:ident $div:ident $fma:ident $max:ident) => {
        impl Vector for $vector {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $add(self.0, other.0) })
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $sub(self.0, other.0) })
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $mul(self.0, other.0) })
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $div(self.0, other.0) })
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $fma(self.0, b.0, c.0) })
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $max(self.0, other.0) })
            }
        }
    };
}

lanewise!(F64x4: _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_fmadd_pd _mm256_max_pd);
lanewise!(F64x8: _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_fmadd_pd _mm512_max_pd);

/// The parts that both tokens share.
macro_rules! token {
    ($token:ident, $features:literal) => {
        impl $token {
            /// # Safety
            /// The CPU must have the instructions.
            #[inline(always)]
            pub(crate) unsafe fn assume() -> Self {
                Self(())
            }

            #[target_feature(enable = $features)]
            #[inline(never)]
            fn enter<W: Work>(self, work: &mut W) -> W::Output {
                work.run(self)
            }
        }
    };
}

token!(Avx2, "avx2,fma");
token!(Avx512, "avx2,fma,avx512f,avx512dq,avx512vl");

impl Simd for Avx2 {
    const LANES: usize = 4;
    const REGISTERS: usize = 16;
    type Register = F64x4;
    type Wide = [F64x4; 4];

    #[inline(always)]
    fn splat(self, x: f64) -> F64x4 {
        // SAFETY: see above.
        F64x4(unsafe { _mm256_set1_pd(x) })
    }
    #[inline(always)]
    fn load(self, from: &[f64]) -> F64x4 {
        let from = &from[..4];
        // SAFETY: see above.
        F64x4(unsafe { _mm256_loadu_pd(from.as_ptr()) })
    }
    #[inline(always)]
    fn pairs(self, [from, _]: [&[f64]; 2]) -> F64x4 {
        let from = &from[..2];
        // SAFETY: see above.
        F64x4(unsafe { _mm256_broadcast_pd(&_mm_loadu_pd(from.as_ptr())) })
    }
    #[inline(always)]
    fn quads(self, [from, _]: [&[f64; 4]; 2]) -> F64x4 {
        self.load(from)
    }
    #[inline(always)]
    fn splat16(self, x: f64) -> [F64x4; 4] {
        [self.splat(x); 4]
    }
    #[inline(always)]
    fn load16(self, from: &Line<16>) -> [F64x4; 4] {
        let numbers = &from.0;
        [
            self.load(numbers),
            self.load(&numbers[4..]),
            self.load(&numbers[8..]),
            self.load(&numbers[12..]),
        ]
    }
    #[inline(always)]
    fn load16_some(self, from: &[f64]) -> [F64x4; 4] {
        let mut wide = self.splat16(0.0);
        for (i, register) in wide.iter_mut().enumerate() {
            // The pointer stays in the list: reading nothing at an invalid address is slow.
            let rest = &from[(4 * i).min(from.len())..];
            // SAFETY: see above; the mask limits the read to the list.
            register.0 = unsafe { _mm256_maskload_pd(rest.as_ptr(), mask_of_4(rest.len())) };
        }
        wide
    }
    #[inline(always)]
    fn xoshiro256pp(self, state: &mut [[u64; 8]; 4], draws: &mut [[u64; 8]]) {
        // SAFETY: see above.
        unsafe { xoshiro::avx2(state, draws) }
    }
    #[inline(always)]
    fn call<W: Work>(self, work: &mut W) -> W::Output {
        // SAFETY: see above.
        unsafe { self.enter(work) }
    }
}

impl Simd for Avx512 {
    const LANES: usize = 8;
    const REGISTERS: usize = 32;
    type Register = F64x8;
    type Wide = [F64x8; 2];

    #[inline(always)]
    fn splat(self, x: f64) -> F64x8 {
        // SAFETY: see above.
        F64x8(unsafe { _mm512_set1_pd(x) })
    }
    #[inline(always)]
    fn load(self, from: &[f64]) -> F64x8 {
        let from = &from[..8];
        // SAFETY: see above.
        F64x8(unsafe { _mm512_loadu_pd(from.as_ptr()) })
    }
    #[inline(always)]
    fn pairs(self, from: [&[f64]; 2]) -> F64x8 {
        let [a, b] = from.map(|pair| &pair[..2]);
        // SAFETY: see above.
        unsafe {
            let low = _mm512_broadcast_f64x2(_mm_loadu_pd(a.as_ptr()));
            // A masked broadcast: one load and one operation for the upper quad.
            let high = _mm_loadu_pd(b.as_ptr());
            F64x8(_mm512_mask_broadcast_f64x2(low, 0xf0, high))
        }
    }
    #[inline(always)]
    fn quads(self, [a, b]: [&[f64; 4]; 2]) -> F64x8 {
        // SAFETY: see above.
        unsafe {
            let low = _mm512_castpd256_pd512(_mm256_loadu_pd(a.as_ptr()));
            F64x8(_mm512_insertf64x4::<1>(low, _mm256_loadu_pd(b.as_ptr())))
        }
    }
    #[inline(always)]
    fn splat16(self, x: f64) -> [F64x8; 2] {
        [self.splat(x); 2]
    }
    #[inline(always)]
    fn load16(self, from: &Line<16>) -> [F64x8; 2] {
        [self.load(&from.0), self.load(&from.0[8..])]
    }
    #[inline(always)]
    fn load16_some(self, from: &[f64]) -> [F64x8; 2] {
        let mut wide = self.splat16(0.0);
        for (i, register) in wide.iter_mut().enumerate() {
            // As for AVX2.
            let rest = &from[(8 * i).min(from.len())..];
            // SAFETY: see above; the mask limits the read to the list.
            register.0 = unsafe { _mm512_maskz_loadu_pd(mask_of_8(rest.len()), rest.as_ptr()) };
        }
        wide
    }
    #[inline(always)]
    fn xoshiro256pp(self, state: &mut [[u64; 8]; 4], draws: &mut [[u64; 8]]) {
        // SAFETY: see above.
        unsafe { xoshiro::avx512(state, draws) }
    }
    #[inline(always)]
    fn call<W: Work>(self, work: &mut W) -> W::Output {
        // SAFETY: see above.
        unsafe { self.enter(work) }
    }
}

/// A mask of the first `count` of four numbers.
#[target_feature(enable = "avx2")]
#[inline]
fn mask_of_4(count: usize) -> __m256i {
    let count = _mm256_set1_epi64x(count.min(4) as i64);
    _mm256_cmpgt_epi64(count, _mm256_setr_epi64x(0, 1, 2, 3))
}

/// A mask of the first `count` of eight numbers.
#[inline(always)]
fn mask_of_8(count: usize) -> __mmask8 {
    !(0xff_u32 << count.min(8)) as u8
}

/// The sum of four lanes: adds lanes two apart, then one.
#[target_feature(enable = "avx2")]
#[inline]
fn sum_of_4(x: __m256d) -> f64 {
    let pair = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
    _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)))
}

impl Register for F64x4 {
    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        let to = &mut to[..4];
        // SAFETY: see above.
        unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn store_some(self, to: &mut [f64]) {
        // SAFETY: see above; the mask limits the write to the list.
        unsafe { _mm256_maskstore_pd(to.as_mut_ptr(), mask_of_4(to.len()), self.0) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_sqrt_pd(self.0) })
    }
    #[inline(always)]
    fn any_greater(self, other: Self) -> bool {
        // SAFETY: see above.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0)) != 0 }
    }
    #[inline(always)]
    fn where_greater(self, other: Self, yes: Self, no: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let greater = _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0);
            Self(_mm256_blendv_pd(no.0, yes.0, greater))
        }
    }
    #[inline(always)]
    fn accumulate_quad<const Q: usize>(self, factor: Self, quad: &mut [f64; 4]) {
        assert!(Q == 0);
        let p = quad.as_mut_ptr();
        // SAFETY: see above.
        unsafe { _mm256_storeu_pd(p, _mm256_fmadd_pd(factor.0, self.0, _mm256_loadu_pd(p))) }
    }
    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        let mut lanes = [0.0; 4];
        self.store(&mut lanes);
        lanes[lane]
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        // SAFETY: see above.
        unsafe { sum_of_4(self.0) }
    }
}

impl Register for F64x8 {
    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        let to = &mut to[..8];
        // SAFETY: see above.
        unsafe { _mm512_storeu_pd(to.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn store_some(self, to: &mut [f64]) {
        // SAFETY: see above; the mask limits the write to the list.
        unsafe { _mm512_mask_storeu_pd(to.as_mut_ptr(), mask_of_8(to.len()), self.0) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm512_sqrt_pd(self.0) })
    }
    #[inline(always)]
    fn any_greater(self, other: Self) -> bool {
        // SAFETY: see above.
        unsafe { _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, other.0) != 0 }
    }
    #[inline(always)]
    fn where_greater(self, other: Self, yes: Self, no: Self) -> Self {
        // SAFETY: see above.
        unsafe {
            let greater = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, other.0);
            Self(_mm512_mask_blend_pd(greater, no.0, yes.0))
        }
    }
    #[inline(always)]
    fn accumulate_quad<const Q: usize>(self, factor: Self, quad: &mut [f64; 4]) {
        let p = quad.as_mut_ptr();
        // SAFETY: see above.
        unsafe {
            let factor = _mm512_castpd512_pd256(factor.0);
            let x = match Q {
                0 => _mm512_castpd512_pd256(self.0),
                _ => _mm512_extractf64x4_pd::<1>(self.0),
            };
            _mm256_storeu_pd(p, _mm256_fmadd_pd(factor, x, _mm256_loadu_pd(p)));
        }
    }
    /// Avoids memory, because a step is limited by its stores.
    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        assert!(lane < 8);
        // SAFETY: see above.
        unsafe { _mm512_cvtsd_f64(_mm512_maskz_compress_pd(1 << lane, self.0)) }
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        // SAFETY: see above.
        unsafe {
            let low = _mm512_castpd512_pd256(self.0);
            sum_of_4(_mm256_add_pd(low, _mm512_extractf64x4_pd::<1>(self.0)))
        }
    }
}
