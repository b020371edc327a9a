//! Applies a matrix to many vectors, and adds outer products to one.

use super::line::Line;
use super::vector::Vector;
use super::work::Work;

/// y = start + M x + weight w, lane by lane: a linear map of many vectors.
pub struct Map<'a> {
    /// The rows of M, each followed by its entry of w, and by anything up to the next row.
    pub rows: &'a [f64],
    /// From one row to the next.
    pub stride: usize,
    /// What each lane multiplies w by; one per line.
    pub weights: &'a [Line],
    /// x: the coordinates of one line after the other.
    pub x: &'a [Line],
    /// Holds the start and becomes y; the same order.
    pub y: &'a mut [Line],
}

impl Map<'_> {
    /// Maps N lines from one on: an entry of M that is loaded serves all of them.
    #[inline(always)]
    unsafe fn lines<V: Vector, const N: usize>(&mut self, first: usize) {
        let d = self.x.len() / self.weights.len();
        let mut x: [&[Line]; N] = [&[]; N];
        for (n, x) in x.iter_mut().enumerate() {
            *x = &self.x[(first + n) * d..][..d];
        }
        for (j, row) in self.rows.chunks_exact(self.stride).enumerate() {
            let (row, w) = (&row[..d], row[d]);
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let mut sums = [V::splat(0.0); N];
                for (n, sum) in sums.iter_mut().enumerate() {
                    let weight = V::load(&self.weights[first + n]);
                    let start = V::load(&self.y[(first + n) * d + j]);
                    *sum = start.plus_product(V::splat(w), weight);
                }
                for (k, entry) in row.iter().enumerate() {
                    let entry = V::splat(*entry);
                    for (sum, x) in sums.iter_mut().zip(&x) {
                        *sum = sum.plus_product(entry, V::load(&x[k]));
                    }
                }
                for (n, sum) in sums.into_iter().enumerate() {
                    sum.store(&mut self.y[(first + n) * d + j]);
                }
            }
        }
    }
}

impl Work for Map<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&mut self) {
        const TOGETHER: usize = 4;
        let lines = self.weights.len();
        let whole = lines - lines % TOGETHER;
        // SAFETY: the caller answers for the instructions.
        unsafe {
            for first in (0..whole).step_by(TOGETHER) {
                self.lines::<V, TOGETHER>(first);
            }
            for first in whole..lines {
                self.lines::<V, 1>(first);
            }
        }
    }
}

/// M += x y', row after row, in f64 that is not fused: the compiler makes the vectors here.
pub struct Outer<'a> {
    /// x.
    pub x: &'a [f64],
    /// y.
    pub y: &'a [f64],
    /// The rows of M.
    pub rows: &'a mut [f64],
}

impl Work for Outer<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&mut self) {
        for (row, x) in self.rows.chunks_exact_mut(self.y.len()).zip(self.x) {
            for (entry, y) in row.iter_mut().zip(self.y) {
                *entry += x * y;
            }
        }
    }
}
