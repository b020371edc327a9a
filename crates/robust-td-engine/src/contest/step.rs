//! Advances eight methods of TD(0) type along a trajectory, with any vector instructions.
//!
//! # Operations of one lane
//! A lane is a method. With eta_t = w_t = 0 where the method drops the sample, R = infinity where it does not
//! project, and fma(a, b, c) = a b + c rounded once, every kernel performs exactly this, in this order:
//! ```text
//! sum_j   = fma(w_t, theta_j, sum_j)
//! delta   = r; delta = fma(psi_j, theta_j, delta) for j in order
//! g       = eta_t * delta;  keep = fma(eta_t, -lambda, 1)
//! theta_j = fma(g, phi_j, keep * theta_j)
//! norm    = theta_0 * theta_0; norm = fma(theta_j, theta_j, norm) for j = 1, 2, ..
//! if norm > R^2 and eta_t > 0:  theta_j = theta_j * (R / sqrt(norm)), norm as above, projections += 1
//! max     = norm > max ? norm : max;  norms_t += norm
//! ```

use crate::generators::GROUP;
use crate::kernel::{PACK, Simd};

/// A block of steps of up to eight runs. Built by [`PackRuns`](super::pack::PackRuns), which checks the sizes.
///
/// Arrays of lanes have [`PACK`] values per entry.
#[derive(Clone, Copy)]
pub struct Raw {
    pub steps: usize,
    pub runs: usize,
    pub dimension: usize,
    /// Per step and run the number of the transition; per transition r, psi, phi.
    pub entries: *const [u32; GROUP],
    pub table: *const f64,
    /// Per step: eta and the weight of the iterate in the average.
    pub eta: *const f64,
    pub weight: *const f64,
    /// -lambda, R and R^2.
    pub pull: *const f64,
    pub radius: *const f64,
    pub radius_sq: *const f64,
    /// Per run d entries: the iterate and the weighted sum.
    pub theta: *mut f64,
    pub sum: *mut f64,
    /// Per run.
    pub max: *mut f64,
    pub projections: *mut f64,
    /// Per step.
    pub norms: *mut f64,
}

impl Raw {
    /// The table row of a run's transition.
    ///
    /// # Safety
    /// `t` and `run` must be in range.
    #[inline(always)]
    pub unsafe fn row(&self, t: usize, run: usize) -> *const f64 {
        // SAFETY: the caller's indices are in range, and so are the entries.
        unsafe {
            let entry = *self.entries.add(t).cast::<u32>().add(run) as usize;
            self.table.add(entry * (2 * self.dimension + 1))
        }
    }
}

/// What a vector of methods is.
#[derive(Clone, Copy)]
struct Methods<V> {
    pull: V,
    radius: V,
    radius_sq: V,
}

impl<V: Simd> Methods<V> {
    #[inline(always)]
    unsafe fn load(raw: &Raw, lane: usize) -> Self {
        // SAFETY: `lane` is below PACK.
        unsafe {
            Self {
                pull: V::load(raw.pull.add(lane)),
                radius: V::load(raw.radius.add(lane)),
                radius_sq: V::load(raw.radius_sq.add(lane)),
            }
        }
    }

    /// The factors that bring iterates back to their balls, and the number of times, 0 or 1.
    #[inline(always)]
    unsafe fn projection(&self, eta: V, norm: V) -> (V, V) {
        // SAFETY: passed on from the caller.
        unsafe {
            let (zero, one) = (V::splat(0.0), V::splat(1.0));
            // A dropped sample is no update, and the last projection may have rounded up.
            let limit = eta.where_greater(zero, self.radius_sq, V::splat(f64::INFINITY));
            let factor = self.radius.div(norm.sqrt());
            (
                norm.where_greater(limit, factor, one),
                norm.where_greater(limit, one, zero),
            )
        }
    }
}

/// |theta|^2.
#[inline(always)]
unsafe fn norm_sq<V: Simd, const D: usize>(theta: &[V; D]) -> V {
    // SAFETY: passed on from the caller.
    unsafe {
        let mut norm = theta[0].mul(theta[0]);
        for j in 1..D {
            norm = theta[j].fma(theta[j], norm);
        }
        norm
    }
}

/// Takes the lanes from `lane` on of the runs `first..first + N` through the block.
///
/// # Safety
/// `raw` must describe live, large enough, disjoint arrays, and the CPU must have V's instructions.
#[inline(always)]
pub unsafe fn run<V: Simd, const D: usize, const N: usize>(raw: &Raw, first: usize, lane: usize) {
    // SAFETY: every offset is below the sizes that `PackRuns` has checked.
    unsafe {
        let methods = Methods::<V>::load(raw, lane);
        let at = |run: usize, j: usize| ((first + run) * D + j) * PACK + lane;
        let mut theta = [[V::splat(0.0); D]; N];
        let mut sum = [[V::splat(0.0); D]; N];
        let mut max = [V::splat(0.0); N];
        for i in 0..N {
            max[i] = V::load(raw.max.add((first + i) * PACK + lane));
            for j in 0..D {
                theta[i][j] = V::load(raw.theta.add(at(i, j)));
                sum[i][j] = V::load(raw.sum.add(at(i, j)));
            }
        }
        for t in 0..raw.steps {
            let eta = V::load(raw.eta.add(t * PACK + lane));
            let weight = V::load(raw.weight.add(t * PACK + lane));
            let keep = eta.fma(methods.pull, V::splat(1.0));
            // Stage by stage with the runs inside: independent operations are neighbours.
            let mut row = [raw.table; N];
            let mut delta = [V::splat(0.0); N];
            for i in 0..N {
                row[i] = raw.row(t, first + i);
                delta[i] = V::splat(*row[i]);
            }
            for j in 0..D {
                for i in 0..N {
                    sum[i][j] = weight.fma(theta[i][j], sum[i][j]);
                    delta[i] = V::splat(*row[i].add(1 + j)).fma(theta[i][j], delta[i]);
                }
            }
            for i in 0..N {
                delta[i] = eta.mul(delta[i]);
            }
            for j in 0..D {
                for i in 0..N {
                    let phi = V::splat(*row[i].add(1 + D + j));
                    theta[i][j] = delta[i].fma(phi, keep.mul(theta[i][j]));
                }
            }
            let mut total = V::load(raw.norms.add(t * PACK + lane));
            for i in 0..N {
                let mut norm = norm_sq(&theta[i]);
                if norm.any_greater(methods.radius_sq) {
                    let (factor, count) = methods.projection(eta, norm);
                    for j in 0..D {
                        theta[i][j] = theta[i][j].mul(factor);
                    }
                    norm = norm_sq(&theta[i]);
                    let projections = raw.projections.add((first + i) * PACK + lane);
                    V::load(projections).add(count).store(projections);
                }
                max[i] = norm.max(max[i]);
                total = total.add(norm);
            }
            total.store(raw.norms.add(t * PACK + lane));
        }
        for i in 0..N {
            max[i].store(raw.max.add((first + i) * PACK + lane));
            for j in 0..D {
                theta[i][j].store(raw.theta.add(at(i, j)));
                sum[i][j].store(raw.sum.add(at(i, j)));
            }
        }
    }
}

/// Takes the lanes from `lane` on of one run of any dimension through the block, the iterates in memory.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
pub unsafe fn run_wide<V: Simd>(raw: &Raw, run: usize, lane: usize) {
    let d = raw.dimension;
    // SAFETY: every offset is below the sizes that `PackRuns` has checked.
    unsafe {
        let methods = Methods::<V>::load(raw, lane);
        let theta = |j: usize| raw.theta.add((run * d + j) * PACK + lane);
        let sum = |j: usize| raw.sum.add((run * d + j) * PACK + lane);
        let largest = raw.max.add(run * PACK + lane);
        for t in 0..raw.steps {
            let eta = V::load(raw.eta.add(t * PACK + lane));
            let weight = V::load(raw.weight.add(t * PACK + lane));
            let keep = eta.fma(methods.pull, V::splat(1.0));
            let row = raw.row(t, run);
            let mut delta = V::splat(*row);
            for j in 0..d {
                let theta = V::load(theta(j));
                weight.fma(theta, V::load(sum(j))).store(sum(j));
                delta = V::splat(*row.add(1 + j)).fma(theta, delta);
            }
            let g = eta.mul(delta);
            let advanced = |j: usize| {
                let phi = V::splat(*row.add(1 + d + j));
                g.fma(phi, keep.mul(V::load(theta(j))))
            };
            let mut norm = store_all(d, theta, advanced);
            if norm.any_greater(methods.radius_sq) {
                let (factor, count) = methods.projection(eta, norm);
                norm = store_all(d, theta, |j| V::load(theta(j)).mul(factor));
                let projections = raw.projections.add(run * PACK + lane);
                V::load(projections).add(count).store(projections);
            }
            norm.max(V::load(largest)).store(largest);
            let total = raw.norms.add(t * PACK + lane);
            V::load(total).add(norm).store(total);
        }
    }
}

/// Replaces the iterate coordinate by coordinate; the new |theta|^2.
#[inline(always)]
unsafe fn store_all<V: Simd>(
    d: usize,
    theta: impl Fn(usize) -> *mut f64,
    new: impl Fn(usize) -> V,
) -> V {
    // SAFETY: passed on from the caller.
    unsafe {
        let first = new(0);
        first.store(theta(0));
        let mut norm = first.mul(first);
        for j in 1..d {
            let next = new(j);
            next.store(theta(j));
            norm = next.fma(next, norm);
        }
        norm
    }
}
