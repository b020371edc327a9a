//! Advances one cell of lanes through a block of steps, with any vector instructions.
//!
//! # Operations of one lane
//! With b_t the decay of the step, x_t the coefficient of the average, and fma(a, b, c) = a b + c
//! rounded once, every kernel performs exactly this, in this order:
//! ```text
//! eta   = fma(b_t, k1, k0)                  decaying lanes have k0 = 0, constant ones k1 = 0
//! delta = r; delta = fma(psi_j, theta_j, delta) for j in order          (d <= 5)
//!         for d > 5 the second half of j has its own chain from 0, added at the end
//! g     = eta * delta
//! theta_j = fma(g, phi_j, theta_j)
//! norm  = theta_0 * theta_0; norm = fma(theta_j, theta_j, norm) for j = 1, 2, ..
//! max   = norm > max ? norm : max;  sums_t += norm;  bucket_s = fma(x_t, g, bucket_s)
//! ```
//! # The average by buckets
//! A weighted sum of iterates over a block is, by Abel summation,
//! (sum of weights) theta_start + sum_t x_t g_t phi(s_t): one accumulator per visited state instead of
//! d operations per step. [`flush`] multiplies the buckets with the features at the block's end.

use super::simd::{CELL, PACK, QUAD, Simd};

/// Chains of the dot product: one hides enough latency for small d.
pub const ONE_CHAIN: usize = 5;

/// One cell and one block of steps. Built by `Block`, which checks the sizes.
#[derive(Clone, Copy)]
pub struct Raw {
    pub steps: usize,
    pub dimension: usize,
    /// d x CELL iterates, weighted sums; CELL maxima, k1, k0.
    pub theta: *mut f64,
    pub average: *mut f64,
    pub max: *mut f64,
    pub k1: *const f64,
    pub k0: *const f64,
    /// Per step: the decay b_t; per pack: the coefficients x_t and the block's total weight.
    pub decay: *const f64,
    pub coefficients: [*const f64; CELL / PACK],
    pub weights: [f64; CELL / PACK],
    /// Per step and trajectory: offset of the transition's table row, offset of the state's bucket.
    pub moves: *const [u32; 8],
    pub buckets_at: *const [u32; 8],
    /// The trajectory of a broadcast cell.
    pub column: usize,
    /// Rows r, psi, phi (in pairs of variants for split cells).
    pub table: *const f64,
    /// steps x CELL sums of |theta_t|^2.
    pub sums: *mut f64,
    pub buckets: *mut f64,
    /// Distance between the buckets of two trajectories of a split cell.
    pub bucket_stride: usize,
}

/// Pointers to the two trajectories of vector `v`, or twice the only one.
#[inline(always)]
unsafe fn rows<V: Simd, const SPLIT: bool>(raw: &Raw, at: &[u32; 8], v: usize) -> [usize; 2] {
    if SPLIT {
        let first = v * V::LANES / QUAD;
        [at[first] as usize, at[first + V::LANES / PACK] as usize]
    } else {
        // SAFETY: `column` is below 8.
        let row = unsafe { *at.get_unchecked(raw.column) } as usize;
        [row; 2]
    }
}

/// Entry `j` of the table rows at `p`.
#[inline(always)]
unsafe fn fetch<V: Simd, const SPLIT: bool>(p: [*const f64; 2], j: usize) -> V {
    // SAFETY: the caller's table rows have an entry j.
    unsafe {
        if SPLIT {
            V::pairs([p[0].add(2 * j), p[1].add(2 * j)])
        } else {
            V::splat(*p[0].add(j))
        }
    }
}

/// Runs the vectors `first..first + NV` of a cell through the block.
///
/// # Safety
/// `raw` must describe live, large enough, disjoint arrays, and the CPU must have V's instructions.
#[inline(always)]
pub unsafe fn run<V: Simd, const D: usize, const NV: usize, const SPLIT: bool>(
    raw: &Raw,
    first: usize,
) {
    // SAFETY: every offset is below the sizes that `Block` has checked.
    unsafe {
        let mut theta = [[V::splat(0.0); D]; NV];
        let mut max = [V::splat(0.0); NV];
        for v in 0..NV {
            let lane = (first + v) * V::LANES;
            let weight = V::splat(raw.weights[lane / PACK]);
            max[v] = V::load(raw.max.add(lane));
            for j in 0..D {
                theta[v][j] = V::load(raw.theta.add(j * CELL + lane));
                let sum = raw.average.add(j * CELL + lane);
                weight.fma(theta[v][j], V::load(sum)).store(sum);
            }
        }
        for t in 0..raw.steps {
            let moves = &*raw.moves.add(t);
            let buckets_at = &*raw.buckets_at.add(t);
            let decay = V::splat(*raw.decay.add(t));
            let sums = raw.sums.add(t * CELL);
            // Stage by stage with the vectors inside: independent operations are neighbours, so the
            // CPU's window always holds work of all vectors.
            let mut p = [[raw.table; 2]; NV];
            let mut delta = [V::splat(0.0); NV];
            for v in 0..NV {
                let at = rows::<V, SPLIT>(raw, moves, first + v);
                p[v] = [raw.table.add(at[0]), raw.table.add(at[1])];
                delta[v] = fetch::<V, SPLIT>(p[v], 0);
            }
            let half = if D <= ONE_CHAIN { D } else { D / 2 };
            for j in 0..half {
                for v in 0..NV {
                    delta[v] = fetch::<V, SPLIT>(p[v], 1 + j).fma(theta[v][j], delta[v]);
                }
            }
            if half < D {
                let mut second = [V::splat(0.0); NV];
                for j in half..D {
                    for v in 0..NV {
                        second[v] = fetch::<V, SPLIT>(p[v], 1 + j).fma(theta[v][j], second[v]);
                    }
                }
                for v in 0..NV {
                    delta[v] = delta[v].add(second[v]);
                }
            }
            for v in 0..NV {
                let lane = (first + v) * V::LANES;
                let eta = decay.fma(V::load(raw.k1.add(lane)), V::load(raw.k0.add(lane)));
                delta[v] = eta.mul(delta[v]);
            }
            let g = delta;
            for j in 0..D {
                for v in 0..NV {
                    theta[v][j] = g[v].fma(fetch::<V, SPLIT>(p[v], 1 + D + j), theta[v][j]);
                }
            }
            for v in 0..NV {
                bucket::<V, SPLIT>(raw, buckets_at, t, first + v, g[v]);
            }
            let mut norm = [V::splat(0.0); NV];
            for v in 0..NV {
                norm[v] = theta[v][0].mul(theta[v][0]);
            }
            for j in 1..D {
                for v in 0..NV {
                    norm[v] = theta[v][j].fma(theta[v][j], norm[v]);
                }
            }
            for v in 0..NV {
                let sum = sums.add((first + v) * V::LANES);
                max[v] = norm[v].max(max[v]);
                V::load(sum).add(norm[v]).store(sum);
            }
        }
        for v in 0..NV {
            let lane = (first + v) * V::LANES;
            max[v].store(raw.max.add(lane));
            for j in 0..D {
                theta[v][j].store(raw.theta.add(j * CELL + lane));
            }
        }
    }
}

/// bucket_s = fma(x_t, g, bucket_s).
#[inline(always)]
unsafe fn bucket<V: Simd, const SPLIT: bool>(raw: &Raw, at: &[u32; 8], t: usize, v: usize, g: V) {
    let lane = v * V::LANES;
    // SAFETY: bucket offsets are below the size of the bucket array.
    unsafe {
        let x = *raw.coefficients[lane / PACK].add(t);
        let offset = rows::<V, SPLIT>(raw, at, v);
        if SPLIT {
            let first = lane / QUAD;
            let second = first + V::LANES / PACK;
            g.accumulate_quads(
                x,
                [
                    raw.buckets.add(first * raw.bucket_stride + offset[0]),
                    raw.buckets.add(second * raw.bucket_stride + offset[1]),
                ],
            );
        } else {
            let p = raw.buckets.add(offset[0] + lane);
            V::splat(x).fma(g, V::load(p)).store(p);
        }
    }
}

/// Runs one vector of a cell of any dimension through the block, the iterates in memory.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
pub unsafe fn run_wide<V: Simd, const SPLIT: bool>(raw: &Raw, v: usize) {
    let d = raw.dimension;
    let lane = v * V::LANES;
    // SAFETY: every offset is below the sizes that `Block` has checked.
    unsafe {
        let theta = |j: usize| raw.theta.add(j * CELL + lane);
        let weight = V::splat(raw.weights[lane / PACK]);
        for j in 0..d {
            let sum = raw.average.add(j * CELL + lane);
            weight.fma(V::load(theta(j)), V::load(sum)).store(sum);
        }
        let mut max = V::load(raw.max.add(lane));
        let (k1, k0) = (V::load(raw.k1.add(lane)), V::load(raw.k0.add(lane)));
        for t in 0..raw.steps {
            let at = rows::<V, SPLIT>(raw, &*raw.moves.add(t), v);
            let p = [raw.table.add(at[0]), raw.table.add(at[1])];
            let eta = V::splat(*raw.decay.add(t)).fma(k1, k0);
            let half = if d <= ONE_CHAIN { d } else { d / 2 };
            let mut delta: V = fetch::<V, SPLIT>(p, 0);
            let mut second = V::splat(0.0);
            for j in 0..half {
                delta = fetch::<V, SPLIT>(p, 1 + j).fma(V::load(theta(j)), delta);
            }
            for j in half..d {
                second = fetch::<V, SPLIT>(p, 1 + j).fma(V::load(theta(j)), second);
            }
            if d > ONE_CHAIN {
                delta = delta.add(second);
            }
            let g = eta.mul(delta);
            let mut norm = V::splat(0.0);
            for j in 0..d {
                let new = g.fma(fetch::<V, SPLIT>(p, 1 + d + j), V::load(theta(j)));
                new.store(theta(j));
                norm = if j == 0 {
                    new.mul(new)
                } else {
                    new.fma(new, norm)
                };
            }
            max = norm.max(max);
            let sum = raw.sums.add(t * CELL + lane);
            V::load(sum).add(norm).store(sum);
            bucket::<V, SPLIT>(raw, &*raw.buckets_at.add(t), t, v, g);
        }
        max.store(raw.max.add(lane));
    }
}

/// Features by bucket, for [`flush`].
#[derive(Clone, Copy)]
pub struct Visited {
    /// Feature rows (in pairs of variants for split cells).
    pub features: *const f64,
    /// Per trajectory the states of the buckets, `states_stride` apart.
    pub states: *const u32,
    pub states_stride: usize,
    /// Number of buckets, the largest among the trajectories; a bucket beyond a trajectory's own is
    /// empty and adds zero.
    pub count: usize,
}

/// Adds the buckets of one vector, times the features of their states, to the weighted sums; empties them.
///
/// Coordinates are taken N at a time, so that their sums stay in registers.
///
/// # Safety
/// As for [`run`], and `visited` must describe the buckets.
#[inline(always)]
pub unsafe fn flush<V: Simd, const SPLIT: bool, const N: usize>(
    raw: &Raw,
    visited: &Visited,
    v: usize,
) {
    let d = raw.dimension;
    let lane = v * V::LANES;
    let first = if SPLIT { lane / QUAD } else { raw.column };
    let second = if SPLIT {
        first + V::LANES / PACK
    } else {
        first
    };
    let width = if SPLIT { 2 * d } else { d };
    // SAFETY: every offset is below the sizes that `Block` has checked.
    unsafe {
        let quads = |slot: usize| {
            let quad = |i: usize| raw.buckets.add(i * raw.bucket_stride + slot * QUAD);
            [quad(first), quad(second)]
        };
        let whole = |slot: usize| raw.buckets.add(slot * CELL + lane);
        let states = |i: usize| visited.states.add(i * visited.states_stride);
        let (of_first, of_second) = (states(first), states(second));
        for j in (0..d).step_by(N) {
            let mut sums = [V::splat(0.0); N];
            for (k, sum) in sums.iter_mut().enumerate().take(d - j) {
                *sum = V::load(raw.average.add((j + k) * CELL + lane));
            }
            for slot in 0..visited.count {
                let value = if SPLIT {
                    V::load_quads(quads(slot).map(<*mut f64>::cast_const))
                } else {
                    V::load(whole(slot))
                };
                let rows = [
                    visited.features.add(*of_first.add(slot) as usize * width),
                    visited.features.add(*of_second.add(slot) as usize * width),
                ];
                for (k, sum) in sums.iter_mut().enumerate() {
                    // Beyond the last coordinate: any feature does, the sum is not stored.
                    let coordinate = if j + k < d { j + k } else { 0 };
                    *sum = value.fma(fetch::<V, SPLIT>(rows, coordinate), *sum);
                }
            }
            for (k, sum) in sums.iter().enumerate().take(d - j) {
                sum.store(raw.average.add((j + k) * CELL + lane));
            }
        }
        for slot in 0..visited.count {
            if SPLIT {
                for p in quads(slot).into_iter().take(V::LANES / QUAD) {
                    p.cast::<[f64; QUAD]>().write([0.0; QUAD]);
                }
            } else {
                V::splat(0.0).store(whole(slot));
            }
        }
    }
}
