//! Applies a matrix to many vectors, and adds outer products to one.

use super::line::Line;
use super::vector::Vector;
use super::work::Work;

/// A linear map of many vectors, lane by lane: y = M x + weight v, and total += S x + weight u.
pub struct Map<'a> {
    /// The rows of M, each with its entry of v after its d entries.
    pub rows: &'a [Line],
    /// The rows of S, each with its entry of u.
    pub sum_rows: &'a [Line],
    /// What each lane multiplies v and u by; one per line.
    pub weights: &'a [Line],
    /// x: the coordinates of one line after the other.
    pub x: &'a [Line],
    /// y, in the same order.
    pub y: &'a mut [Line],
    /// total, in the same order.
    pub total: &'a mut [Line],
}

impl Map<'_> {
    /// Maps N lines from one on: an entry of the maps that is loaded serves all of them, and x both maps.
    #[inline(always)]
    unsafe fn lines<V: Vector, const N: usize>(&mut self, first: usize) {
        let d = self.rows.len();
        let x = &self.x[first * d..][..N * d];
        let y = &mut self.y[first * d..][..N * d];
        let total = &mut self.total[first * d..][..N * d];
        for (j, (row, sum_row)) in self.rows.iter().zip(self.sum_rows).enumerate() {
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let (v, u) = (V::splat(row[d]), V::splat(sum_row[d]));
                let (mut mapped, mut sums) = ([V::splat(0.0); N], [V::splat(0.0); N]);
                for n in 0..N {
                    let weight = V::load(&self.weights[first + n]);
                    mapped[n] = v.times(weight);
                    sums[n] = V::load(&total[n * d + j]).plus_product(u, weight);
                }
                for k in 0..d {
                    let (m, s) = (V::splat(row[k]), V::splat(sum_row[k]));
                    for n in 0..N {
                        let x = V::load(&x[n * d + k]);
                        mapped[n] = mapped[n].plus_product(m, x);
                        sums[n] = sums[n].plus_product(s, x);
                    }
                }
                for n in 0..N {
                    mapped[n].store(&mut y[n * d + j]);
                    sums[n].store(&mut total[n * d + j]);
                }
            }
        }
    }
}

impl Work for Map<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(&mut self) {
        const TOGETHER: usize = 4;
        let lines = self.weights.len();
        // Each line has two sums, and there are the entries of the maps and of x.
        let together = if V::HELD > 2 * TOGETHER + 3 {
            lines / TOGETHER
        } else {
            0
        };
        // SAFETY: the caller answers for the instructions.
        unsafe {
            for block in 0..together {
                self.lines::<V, TOGETHER>(block * TOGETHER);
            }
            for line in together * TOGETHER..lines {
                self.lines::<V, 1>(line);
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
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(&mut self) {
        for (row, x) in self.rows.chunks_exact_mut(self.y.len()).zip(self.x) {
            for (entry, y) in row.iter_mut().zip(self.y) {
                *entry += x * y;
            }
        }
    }
}
