//! Implements the vector operations on plain arrays of eight, for any CPU.

use super::simd::{QUAD, Simd};

/// Eight lanes that the compiler vectorises as it can.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Portable([f64; 8]);

// SAFETY: plain f64 operations; pointers are the caller's duty.
unsafe impl Simd for Portable {
    const LANES: usize = 8;
    const REGISTERS: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f64) -> Self {
        Self([x; 8])
    }
    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self {
        // SAFETY: the caller gives eight readable values.
        Self(unsafe { p.cast::<[f64; 8]>().read() })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f64) {
        // SAFETY: the caller gives eight writable values.
        unsafe { p.cast::<[f64; 8]>().write(self.0) }
    }
    #[inline(always)]
    unsafe fn mul(mut self, other: Self) -> Self {
        for i in 0..8 {
            self.0[i] *= other.0[i];
        }
        self
    }
    #[inline(always)]
    unsafe fn add(mut self, other: Self) -> Self {
        for i in 0..8 {
            self.0[i] += other.0[i];
        }
        self
    }
    #[inline(always)]
    unsafe fn fma(mut self, b: Self, c: Self) -> Self {
        for i in 0..8 {
            self.0[i] = self.0[i].mul_add(b.0[i], c.0[i]);
        }
        self
    }
    #[inline(always)]
    unsafe fn max(mut self, other: Self) -> Self {
        for i in 0..8 {
            self.0[i] = if self.0[i] > other.0[i] {
                self.0[i]
            } else {
                other.0[i]
            };
        }
        self
    }
    #[inline(always)]
    unsafe fn pairs(p: [*const f64; 2]) -> Self {
        // SAFETY: the caller gives two readable values per quad.
        let [a, b] = unsafe {
            [
                p[0].cast::<[f64; 2]>().read(),
                p[1].cast::<[f64; 2]>().read(),
            ]
        };
        Self([a[0], a[1], a[0], a[1], b[0], b[1], b[0], b[1]])
    }
    #[inline(always)]
    unsafe fn load_quads(p: [*const f64; 2]) -> Self {
        // SAFETY: the caller gives four readable values per quad.
        let [a, b] = unsafe {
            [
                p[0].cast::<[f64; 4]>().read(),
                p[1].cast::<[f64; 4]>().read(),
            ]
        };
        Self([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]])
    }
    #[inline(always)]
    unsafe fn accumulate_quads(self, factor: Self, p: [*mut f64; 2]) {
        for (q, &p) in p.iter().enumerate() {
            // SAFETY: the caller gives four writable values per quad, the quads apart.
            let old = unsafe { &mut *p.cast::<[f64; QUAD]>() };
            for i in 0..QUAD {
                old[i] = factor.0[QUAD * q + i].mul_add(self.0[QUAD * q + i], old[i]);
            }
        }
    }
    #[inline(always)]
    unsafe fn div(mut self, other: Self) -> Self {
        for i in 0..8 {
            self.0[i] /= other.0[i];
        }
        self
    }
    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    unsafe fn any_greater(self, other: Self) -> bool {
        // Without a short cut, which would be eight branches.
        (0..8).fold(false, |any, i| any | (self.0[i] > other.0[i]))
    }
    #[inline(always)]
    unsafe fn where_greater(self, other: Self, yes: Self, mut no: Self) -> Self {
        for i in 0..8 {
            no.0[i] = if self.0[i] > other.0[i] {
                yes.0[i]
            } else {
                no.0[i]
            };
        }
        no
    }
}
