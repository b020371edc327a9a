//! Advances packs of lanes through a block of steps, with any vector instructions.
//!
//! # Operations of one lane
//! With b_t the decay of the step, x_t the coefficient of the average, and fma(a, b, c) = a b + c
//! rounded once, every kernel performs exactly this, in this order:
//! ```text
//! eta   = fma(b_t, k1, k0)                  decaying lanes have k0 = 0, constant ones k1 = 0
//! delta = r; delta = fma(psi_j, theta_j, delta) for j in order          (d <= 5)
//!         for d > 5 the second half of j has its own chain, begun by a product and added at the end
//! g     = eta * delta
//! theta_j = fma(g, phi_j, theta_j)
//! norm  = theta_0 * theta_0; norm = fma(theta_j, theta_j, norm) for j = 1, 2, ..
//! max   = norm > max ? norm : max;  sums_t += norm;  bucket_s = fma(x_t, g, bucket_s)
//! ```
//! # Order of independent operations
//! The path from one iterate to the next, delta, g, theta, is as long as the work of all vectors beside it.
//! The CPU prefers older instructions, so that path comes first: the norm of theta_t is taken after the
//! delta of the next step, just before the update that overwrites theta_t.
//! # The average by buckets
//! A weighted sum of iterates over a block is, by Abel summation,
//! (sum of weights) theta_start + sum_t x_t g_t phi(s_t): one accumulator per visited state instead of
//! d operations per step. [`flush`] multiplies the buckets with the features at the block's end.

use std::hint::black_box;

use super::simd::{CELL, Line, PACK, QUAD, Simd};

/// Dimension up to which the dot product is one chain: there, enough vectors fit the registers to hide its
/// latency, and a second chain costs an addition.
pub const ONE_CHAIN: usize = 5;

/// Where the lanes of one pack live.
#[derive(Clone, Copy)]
pub struct RawPack {
    /// d iterates and weighted sums, CELL apart; the maxima.
    pub theta: *mut f64,
    pub average: *mut f64,
    pub max: *mut f64,
}

/// Up to eight packs and one block of steps. Built by `Block`, which checks the sizes.
///
/// All packs have the same stepsizes and weights and add to the same sums: what differs is the
/// trajectory. Pack i follows the trajectory i, or 2 i and 2 i + 1 in a split cell.
#[derive(Clone, Copy)]
pub struct Raw {
    pub steps: usize,
    pub dimension: usize,
    pub packs: [RawPack; 8],
    /// The pack's k1, k0.
    pub k1: *const f64,
    pub k0: *const f64,
    /// Per step: the decay b_t and the coefficient x_t; the block's total weight.
    pub decay: *const f64,
    pub coefficients: *const f64,
    pub weight: f64,
    /// Per step and trajectory: offset of the transition's table row, offset of the state's bucket.
    pub moves: *const [u32; 8],
    pub buckets_at: *const [u32; 8],
    /// Rows r, psi, phi (in pairs of variants for split cells).
    pub table: *const f64,
    /// (steps + 1) x PACK sums of |theta_t|^2; row 0, the start of the block, is not for use.
    pub sums: *mut f64,
    pub buckets: *mut f64,
    /// Buckets of one trajectory.
    pub bucket_capacity: usize,
}

impl Raw {
    /// The buckets of a pack, or of a trajectory of a split cell; packs four apart share them in turn.
    ///
    /// # Safety
    /// `buckets` must have room for four packs.
    #[inline(always)]
    pub unsafe fn buckets_of<const SPLIT: bool>(&self, index: usize) -> *mut f64 {
        let place = if SPLIT {
            index * QUAD
        } else {
            index % 4 * PACK
        };
        // SAFETY: four packs are eight quads.
        unsafe { self.buckets.add(place * self.bucket_capacity) }
    }
}

/// The trajectories of the vector at `lane` of a pack, or twice the only one.
#[inline(always)]
fn columns<V: Simd, const SPLIT: bool>(pack: usize, lane: usize) -> [usize; 2] {
    if SPLIT {
        let first = 2 * pack + lane / QUAD;
        [first, first + V::LANES / PACK]
    } else {
        [pack; 2]
    }
}

/// The offsets of two trajectories.
#[inline(always)]
unsafe fn offsets(at: *const [u32; 8], columns: [usize; 2]) -> [usize; 2] {
    // SAFETY: columns are below 8.
    columns.map(|i| unsafe { *at.cast::<u32>().add(i) as usize })
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

/// Runs the vectors at `lane` of the packs `first..first + NV` through the block.
///
/// # Safety
/// `raw` must describe live, large enough, disjoint arrays, and the CPU must have V's instructions.
#[inline(always)]
pub unsafe fn run<V: Simd, const D: usize, const NV: usize, const SPLIT: bool>(
    raw: &Raw,
    first: usize,
    lane: usize,
) {
    // SAFETY: every offset is below the sizes that `Block` has checked.
    unsafe {
        // A local of a whole line aligns the stack: vectors kept there must not straddle lines.
        black_box(&mut Line::default());
        let mut theta = [[V::splat(0.0); D]; NV];
        let mut max = [V::splat(0.0); NV];
        let weight = V::splat(raw.weight);
        for v in 0..NV {
            let pack = &raw.packs[first + v];
            max[v] = V::load(pack.max.add(lane));
            for j in 0..D {
                theta[v][j] = V::load(pack.theta.add(j * CELL + lane));
                let sum = pack.average.add(j * CELL + lane);
                weight.fma(theta[v][j], V::load(sum)).store(sum);
            }
        }
        for t in 0..raw.steps {
            let decay = V::splat(*raw.decay.add(t));
            let eta = decay.fma(V::load(raw.k1.add(lane)), V::load(raw.k0.add(lane)));
            let x = V::splat(*raw.coefficients.add(t));
            // Stage by stage with the vectors inside: independent operations are neighbours, so the
            // CPU's window always holds work of all vectors.
            let mut p = [[raw.table; 2]; NV];
            let mut delta = [V::splat(0.0); NV];
            for v in 0..NV {
                let at = offsets(raw.moves.add(t), columns::<V, SPLIT>(first + v, lane));
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
                for v in 0..NV {
                    second[v] = fetch::<V, SPLIT>(p[v], 1 + half).mul(theta[v][half]);
                }
                for j in half + 1..D {
                    for v in 0..NV {
                        second[v] = fetch::<V, SPLIT>(p[v], 1 + j).fma(theta[v][j], second[v]);
                    }
                }
                for v in 0..NV {
                    delta[v] = delta[v].add(second[v]);
                }
            }
            let sum = raw.sums.add(t * PACK + lane);
            let total = norms(&theta, &mut max, V::load(sum));
            // The compiler moves nothing across this store. Where all iterates are in registers, that
            // keeps the norms before the update; elsewhere it would cost extra trips to the stack.
            let fits = (D + 1) * NV < V::REGISTERS;
            if fits {
                total.store(sum);
            }
            let mut g = delta;
            for v in 0..NV {
                g[v] = eta.mul(delta[v]);
            }
            for j in 0..D {
                for v in 0..NV {
                    theta[v][j] = g[v].fma(fetch::<V, SPLIT>(p[v], 1 + D + j), theta[v][j]);
                }
            }
            for v in 0..NV {
                bucket::<V, SPLIT>(raw, t, first + v, lane, x, g[v]);
            }
            if !fits {
                total.store(sum);
            }
        }
        let sum = raw.sums.add(raw.steps * PACK + lane);
        norms(&theta, &mut max, V::load(sum)).store(sum);
        for v in 0..NV {
            let pack = &raw.packs[first + v];
            max[v].store(pack.max.add(lane));
            for j in 0..D {
                theta[v][j].store(pack.theta.add(j * CELL + lane));
            }
        }
    }
}

/// Adds |theta|^2 of the vectors to `total` and takes it into their maxima.
#[inline(always)]
unsafe fn norms<V: Simd, const D: usize, const NV: usize>(
    theta: &[[V; D]; NV],
    max: &mut [V; NV],
    mut total: V,
) -> V {
    // SAFETY: the CPU has V's instructions.
    unsafe {
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
            max[v] = norm[v].max(max[v]);
            total = total.add(norm[v]);
        }
        total
    }
}

/// bucket_s = fma(x_t, g, bucket_s).
#[inline(always)]
unsafe fn bucket<V: Simd, const SPLIT: bool>(
    raw: &Raw,
    t: usize,
    pack: usize,
    lane: usize,
    x: V,
    g: V,
) {
    // SAFETY: bucket offsets are below the size of the bucket array.
    unsafe {
        let columns = columns::<V, SPLIT>(pack, lane);
        let at = offsets(raw.buckets_at.add(t), columns);
        if SPLIT {
            let quad = |q: usize| raw.buckets_of::<SPLIT>(columns[q]).add(at[q]);
            g.accumulate_quads(x, [quad(0), quad(1)]);
        } else {
            let p = raw.buckets_of::<SPLIT>(pack).add(at[0] + lane);
            x.fma(g, V::load(p)).store(p);
        }
    }
}

/// Runs one vector of any dimension through the block, the iterates in memory.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
pub unsafe fn run_wide<V: Simd, const SPLIT: bool>(raw: &Raw, index: usize, lane: usize) {
    let d = raw.dimension;
    let pack = &raw.packs[index];
    // SAFETY: every offset is below the sizes that `Block` has checked.
    unsafe {
        let theta = |j: usize| pack.theta.add(j * CELL + lane);
        let weight = V::splat(raw.weight);
        for j in 0..d {
            let sum = pack.average.add(j * CELL + lane);
            weight.fma(V::load(theta(j)), V::load(sum)).store(sum);
        }
        let mut max = V::load(pack.max.add(lane));
        let (k1, k0) = (V::load(raw.k1.add(lane)), V::load(raw.k0.add(lane)));
        for t in 0..raw.steps {
            let at = offsets(raw.moves.add(t), columns::<V, SPLIT>(index, lane));
            let p = [raw.table.add(at[0]), raw.table.add(at[1])];
            let eta = V::splat(*raw.decay.add(t)).fma(k1, k0);
            let half = if d <= ONE_CHAIN { d } else { d / 2 };
            let mut delta: V = fetch::<V, SPLIT>(p, 0);
            for j in 0..half {
                delta = fetch::<V, SPLIT>(p, 1 + j).fma(V::load(theta(j)), delta);
            }
            if half < d {
                let mut second = fetch::<V, SPLIT>(p, 1 + half).mul(V::load(theta(half)));
                for j in half + 1..d {
                    second = fetch::<V, SPLIT>(p, 1 + j).fma(V::load(theta(j)), second);
                }
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
            let sum = raw.sums.add((t + 1) * PACK + lane);
            V::load(sum).add(norm).store(sum);
            let x = V::splat(*raw.coefficients.add(t));
            bucket::<V, SPLIT>(raw, t, index, lane, x, g);
        }
        max.store(pack.max.add(lane));
    }
}

/// Features by bucket, for [`flush`].
#[derive(Clone, Copy)]
pub struct Visited {
    /// Feature rows (in pairs of variants for split cells).
    pub features: *const f64,
    /// Per trajectory the states of its buckets.
    pub states: *const u32,
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
    index: usize,
    lane: usize,
) {
    let d = raw.dimension;
    let average = raw.packs[index].average;
    let columns = columns::<V, SPLIT>(index, lane);
    let width = if SPLIT { 2 * d } else { d };
    // SAFETY: every offset is below the sizes that `Block` has checked.
    unsafe {
        let quads = |slot: usize| columns.map(|i| raw.buckets_of::<SPLIT>(i).add(slot * QUAD));
        let whole = |slot: usize| raw.buckets_of::<SPLIT>(index).add(slot * PACK + lane);
        let [of_first, of_second] = columns.map(|i| visited.states.add(i * raw.bucket_capacity));
        for j in (0..d).step_by(N) {
            let mut sums = [V::splat(0.0); N];
            for (k, sum) in sums.iter_mut().enumerate().take(d - j) {
                *sum = V::load(average.add((j + k) * CELL + lane));
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
                sum.store(average.add((j + k) * CELL + lane));
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
