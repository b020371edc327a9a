//! Implements vectors as plain arrays of eight, for any CPU.

use crate::dispatch::Work;
use crate::line::Line;
use crate::vector::{Register, Simd, Vector};

/// The token of [`Eight`]. With `FMA` the CPU has AVX2 and FMA, and work is compiled for them: `f64::mul_add` is then an
/// instruction; otherwise it computes the same bits in software.
#[derive(Clone, Copy, Debug)]
pub struct Portable<const FMA: bool>(());

impl Portable<false> {
    /// Plain arrays need no special instructions.
    pub const PLAIN: Self = Self(());
}

impl Portable<true> {
    /// # Safety
    /// The CPU must have AVX2 and FMA.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        Self(())
    }
}

/// Eight lanes, vectorised by the compiler.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Eight([f64; 8]);

impl<const FMA: bool> Simd for Portable<FMA> {
    const LANES: usize = 8;
    const REGISTERS: usize = 8;
    type Register = Eight;
    type Wide = [Eight; 2];

    #[inline(always)]
    fn splat(self, x: f64) -> Eight {
        Eight([x; 8])
    }
    #[inline(always)]
    fn load(self, from: &[f64]) -> Eight {
        let mut lanes = [0.0; 8];
        lanes.copy_from_slice(&from[..8]);
        Eight(lanes)
    }
    #[inline(always)]
    fn pairs(self, [a, b]: [&[f64]; 2]) -> Eight {
        Eight([a[0], a[1], a[0], a[1], b[0], b[1], b[0], b[1]])
    }
    #[inline(always)]
    fn quads(self, [a, b]: [&[f64; 4]; 2]) -> Eight {
        Eight([a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]])
    }
    #[inline(always)]
    fn splat16(self, x: f64) -> [Eight; 2] {
        [self.splat(x); 2]
    }
    #[inline(always)]
    fn load16(self, from: &Line<16>) -> [Eight; 2] {
        [self.load(&from.0), self.load(&from.0[8..])]
    }
    #[inline(always)]
    fn load16_some(self, from: &[f64]) -> [Eight; 2] {
        let mut line = Line::default();
        for (x, number) in line.0.iter_mut().zip(from) {
            *x = *number;
        }
        self.load16(&line)
    }

    #[inline(always)]
    fn call<W: Work>(self, work: &mut W) -> W::Output {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        #[inline(never)]
        fn fused<W: Work, S: Simd>(s: S, work: &mut W) -> W::Output {
            work.run(s)
        }
        #[inline(never)]
        fn plain<W: Work, S: Simd>(s: S, work: &mut W) -> W::Output {
            work.run(s)
        }
        #[cfg(target_arch = "x86_64")]
        if FMA {
            // SAFETY: the token proves that the CPU has these instructions.
            return unsafe { fused(self, work) };
        }
        plain(self, work)
    }
}

impl Eight {
    #[inline(always)]
    fn with(mut self, other: Self, op: impl Fn(f64, f64) -> f64) -> Self {
        for i in 0..8 {
            self.0[i] = op(self.0[i], other.0[i]);
        }
        self
    }
}

impl Vector for Eight {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, |x, y| x + y)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, |x, y| x - y)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, |x, y| x * y)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.with(other, |x, y| x / y)
    }
    #[inline(always)]
    fn fma(mut self, b: Self, c: Self) -> Self {
        for i in 0..8 {
            self.0[i] = self.0[i].mul_add(b.0[i], c.0[i]);
        }
        self
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, |x, y| if x > y { x } else { y })
    }
}

impl Register for Eight {
    #[inline(always)]
    fn store(self, to: &mut [f64]) {
        to[..8].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn store_some(self, to: &mut [f64]) {
        for (x, number) in self.0.into_iter().zip(to) {
            *number = x;
        }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn any_greater(self, other: Self) -> bool {
        // No short-circuit, which would take eight branches.
        (0..8).fold(false, |any, i| any | (self.0[i] > other.0[i]))
    }
    #[inline(always)]
    fn where_greater(self, other: Self, yes: Self, mut no: Self) -> Self {
        for i in 0..8 {
            no.0[i] = if self.0[i] > other.0[i] {
                yes.0[i]
            } else {
                no.0[i]
            };
        }
        no
    }
    #[inline(always)]
    fn accumulate_quad<const Q: usize>(self, factor: Self, quad: &mut [f64; 4]) {
        for i in 0..4 {
            quad[i] = factor.0[4 * Q + i].mul_add(self.0[4 * Q + i], quad[i]);
        }
    }
    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        self.0[lane]
    }
    #[inline(always)]
    fn sum(mut self) -> f64 {
        for half in [4, 2, 1] {
            for l in 0..half {
                self.0[l] += self.0[l + half];
            }
        }
        self.0[0]
    }
}
