//! Applies a matrix to many vectors and adds outer products to a matrix.

use robust_td_simd::{Simd, Vector, Wide, Work};

use super::line::{Line, WIDTH};

/// A linear map of many vectors, lane by lane: y = M x + weight v, and total += S x + weight u.
pub struct Map<'a> {
    /// The rows of M, each with its entry of v after its d entries.
    pub rows: &'a [Line],
    /// The rows of S, each with its entry of u after its d entries.
    pub sum_rows: &'a [Line],
    /// The factor of each lane on v and u; one line of lanes per line of x.
    pub weights: &'a [Line],
    /// x: all coordinates of the first line, then of the next.
    pub x: &'a [Line],
    /// y, in the same order.
    pub y: &'a mut [Line],
    /// total, in the same order.
    pub total: &'a mut [Line],
}

impl Map<'_> {
    /// Maps N lines at once, so that each loaded entry of the maps serves all of them and x serves both maps.
    #[inline(always)]
    fn lines<S: Simd, const N: usize>(&mut self, s: S, first: usize) {
        let d = self.rows.len();
        let x = &self.x[first * d..][..N * d];
        let y = &mut self.y[first * d..][..N * d];
        let total = &mut self.total[first * d..][..N * d];
        for (j, (row, sum_row)) in self.rows.iter().zip(self.sum_rows).enumerate() {
            let (v, u) = (s.splat16(row[d]), s.splat16(sum_row[d]));
            let (mut mapped, mut sums) = ([s.splat16(0.0); N], [s.splat16(0.0); N]);
            for n in 0..N {
                let weight = s.load16(&self.weights[first + n]);
                mapped[n] = v.mul(weight);
                sums[n] = u.fma(weight, s.load16(&total[n * d + j]));
            }
            for k in 0..d {
                let (m, of_sum) = (s.splat16(row[k]), s.splat16(sum_row[k]));
                for n in 0..N {
                    let x = s.load16(&x[n * d + k]);
                    mapped[n] = m.fma(x, mapped[n]);
                    sums[n] = of_sum.fma(x, sums[n]);
                }
            }
            for n in 0..N {
                mapped[n].store(&mut y[n * d + j]);
                sums[n].store(&mut total[n * d + j]);
            }
        }
    }
}

impl Work for Map<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        const TOGETHER: usize = 4;
        let lines = self.weights.len();
        // Registers needed: two sums per line, plus the entries of both maps and of x.
        let together = if S::REGISTERS * S::LANES / WIDTH > 2 * TOGETHER + 3 {
            lines / TOGETHER
        } else {
            0
        };
        for block in 0..together {
            self.lines::<S, TOGETHER>(s, block * TOGETHER);
        }
        for line in together * TOGETHER..lines {
            self.lines::<S, 1>(s, line);
        }
    }
}

/// M += x y', row by row, in f64 without fused operations; the compiler vectorises it.
pub struct Outer<'a> {
    /// x.
    pub x: &'a [f64],
    /// y.
    pub y: &'a [f64],
    /// The rows of M.
    pub rows: &'a mut [f64],
}

impl Work for Outer<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, _: S) {
        for (row, x) in self.rows.chunks_exact_mut(self.y.len()).zip(self.x) {
            for (entry, y) in row.iter_mut().zip(self.y) {
                *entry += x * y;
            }
        }
    }
}
