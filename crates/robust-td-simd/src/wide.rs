//! Combines several registers into vectors of sixteen lanes.
//!
//! They use several registers, because one chain of dependent sums leaves the CPU idle unless others run in parallel.

use crate::line::Line;
use crate::vector::{Register, Vector, Wide};

impl<V: Vector, const N: usize> Vector for [V; N] {
    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].add(other[i]);
        }
        self
    }
    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].sub(other[i]);
        }
        self
    }
    #[inline(always)]
    fn mul(mut self, other: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].mul(other[i]);
        }
        self
    }
    #[inline(always)]
    fn div(mut self, other: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].div(other[i]);
        }
        self
    }
    #[inline(always)]
    fn fma(mut self, b: Self, c: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].fma(b[i], c[i]);
        }
        self
    }
    #[inline(always)]
    fn max(mut self, other: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].max(other[i]);
        }
        self
    }
}

/// N registers of 16 / N lanes.
impl<V: Register, const N: usize> Wide for [V; N] {
    #[inline(always)]
    fn store(self, to: &mut Line<16>) {
        for (i, register) in self.into_iter().enumerate() {
            register.store(&mut to.0[16 / N * i..]);
        }
    }
    #[inline(always)]
    fn store_some(self, to: &mut [f64]) {
        for (i, register) in self.into_iter().enumerate() {
            let first = (16 / N * i).min(to.len());
            register.store_some(&mut to[first..]);
        }
    }
    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        let (lane, lanes) = (lane % 16, 16 / N);
        let mut register = self[0];
        for i in 1..N {
            if lane >= i * lanes {
                register = self[i];
            }
        }
        register.lane(lane % lanes)
    }
    #[inline(always)]
    fn sum(mut self) -> f64 {
        let mut half = N / 2;
        while half > 0 {
            for i in 0..half {
                self[i] = self[i].add(self[i + half]);
            }
            half /= 2;
        }
        self[0].sum()
    }
}
