//! Advances eight methods of TD(0) type along a trajectory, for any vector instructions.
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

use robust_td_simd::{Register, Simd, Vector};

use crate::generators::GROUP;
use crate::kernel::{Line, PACK};

/// A block of steps of up to eight runs. Built by [`PackRuns`](super::pack::PackRuns).
pub struct Job<'a> {
    pub steps: usize,
    pub runs: usize,
    pub dimension: usize,
    /// For each step and run, the index of the transition; for each transition r, psi, phi.
    pub entries: &'a [[u32; GROUP]],
    pub table: &'a [f64],
    /// For each step: eta and the weight of the iterate in the average.
    pub eta: &'a [Line],
    pub weight: &'a [Line],
    /// -lambda, R and R^2.
    pub pull: &'a Line,
    pub radius: &'a Line,
    pub radius_sq: &'a Line,
    /// For each run, d entries: the iterate and the weighted sum.
    pub theta: &'a mut [Line],
    pub sum: &'a mut [Line],
    /// For each run.
    pub max: &'a mut [Line],
    pub projections: &'a mut [Line],
    /// For each step.
    pub norms: &'a mut [Line],
}

/// The table row of a run's transition, in d dimensions.
#[inline(always)]
pub fn row<'a>(table: &'a [f64], entries: &[u32; GROUP], run: usize, d: usize) -> &'a [f64] {
    let length = 2 * d + 1;
    let at = entries[run] as usize * length;
    &table[at..at + length]
}

/// The constants of a vector of methods.
#[derive(Clone, Copy)]
struct Methods<S: Simd> {
    pull: S::Register,
    radius: S::Register,
    radius_sq: S::Register,
}

impl<S: Simd> Methods<S> {
    #[inline(always)]
    fn load(s: S, job: &Job<'_>, lane: usize) -> Self {
        Self {
            pull: s.load(&job.pull.0[lane..]),
            radius: s.load(&job.radius.0[lane..]),
            radius_sq: s.load(&job.radius_sq.0[lane..]),
        }
    }

    /// The factors that project the iterates onto their balls, and the number of projections, 0 or 1.
    #[inline(always)]
    fn projection(&self, s: S, eta: S::Register, norm: S::Register) -> [S::Register; 2] {
        let (zero, one) = (s.splat(0.0), s.splat(1.0));
        // A dropped sample is not an update, and the last projection may have rounded up.
        let limit = eta.where_greater(zero, self.radius_sq, s.splat(f64::INFINITY));
        let factor = self.radius.div(norm.sqrt());
        [
            norm.where_greater(limit, factor, one),
            norm.where_greater(limit, one, zero),
        ]
    }
}

/// |theta|^2.
#[inline(always)]
fn norm_sq<V: Vector, const D: usize>(theta: &[V; D]) -> V {
    let mut norm = theta[0].mul(theta[0]);
    for j in 1..D {
        norm = theta[j].fma(theta[j], norm);
    }
    norm
}

/// Advances the lanes from `lane` on of the runs `first..first + N` through the block.
#[inline(always)]
pub fn run<S: Simd, const D: usize, const N: usize>(
    s: S,
    job: &mut Job<'_>,
    first: usize,
    lane: usize,
) {
    let methods = Methods::load(s, job, lane);
    let (zero, runs) = (s.splat(0.0), first..first + N);
    let own_theta = &mut job.theta[first * D..][..N * D];
    let own_sum = &mut job.sum[first * D..][..N * D];
    let own_max = &mut job.max[runs.clone()];
    let own_projections = &mut job.projections[runs];
    let mut theta = [[zero; D]; N];
    let mut sum = [[zero; D]; N];
    let mut max = [zero; N];
    for i in 0..N {
        max[i] = s.load(&own_max[i].0[lane..]);
        for j in 0..D {
            theta[i][j] = s.load(&own_theta[i * D + j].0[lane..]);
            sum[i][j] = s.load(&own_sum[i * D + j].0[lane..]);
        }
    }
    let (table, steps) = (job.table, job.steps);
    let (entries, norms) = (&job.entries[..steps], &mut job.norms[..steps]);
    let (etas, weights) = (&job.eta[..steps], &job.weight[..steps]);
    for t in 0..steps {
        let eta = s.load(&etas[t].0[lane..]);
        let weight = s.load(&weights[t].0[lane..]);
        let keep = eta.fma(methods.pull, s.splat(1.0));
        // The inner loops run over the runs, so that adjacent operations are independent.
        let mut rows = [&table[..0]; N];
        let mut delta = [zero; N];
        for i in 0..N {
            rows[i] = row(table, &entries[t], first + i, D);
        }
        for i in 0..N {
            delta[i] = s.splat(rows[i][0]);
        }
        for j in 0..D {
            for i in 0..N {
                sum[i][j] = weight.fma(theta[i][j], sum[i][j]);
                delta[i] = s.splat(rows[i][1 + j]).fma(theta[i][j], delta[i]);
            }
        }
        for i in 0..N {
            delta[i] = eta.mul(delta[i]);
        }
        for j in 0..D {
            for i in 0..N {
                let phi = s.splat(rows[i][1 + D + j]);
                theta[i][j] = delta[i].fma(phi, keep.mul(theta[i][j]));
            }
        }
        let norms = &mut norms[t].0[lane..];
        let mut total = s.load(norms);
        for i in 0..N {
            let mut norm = norm_sq(&theta[i]);
            if norm.any_greater(methods.radius_sq) {
                let [factor, count] = methods.projection(s, eta, norm);
                for j in 0..D {
                    theta[i][j] = theta[i][j].mul(factor);
                }
                norm = norm_sq(&theta[i]);
                let projections = &mut own_projections[i].0[lane..];
                s.load(projections).add(count).store(projections);
            }
            max[i] = norm.max(max[i]);
            total = total.add(norm);
        }
        total.store(norms);
    }
    for i in 0..N {
        max[i].store(&mut own_max[i].0[lane..]);
        for j in 0..D {
            theta[i][j].store(&mut own_theta[i * D + j].0[lane..]);
            sum[i][j].store(&mut own_sum[i * D + j].0[lane..]);
        }
    }
}

/// Advances the lanes from `lane` on of one run of any dimension through the block, with the iterates in memory.
#[inline(always)]
pub fn run_wide<S: Simd>(s: S, job: &mut Job<'_>, run: usize, lane: usize) {
    let (d, methods) = (job.dimension, Methods::load(s, job, lane));
    let theta = &mut job.theta[run * d..][..d];
    let sum = &mut job.sum[run * d..][..d];
    let largest = &mut job.max[run].0[lane..];
    for t in 0..job.steps {
        let eta = s.load(&job.eta[t].0[lane..]);
        let weight = s.load(&job.weight[t].0[lane..]);
        let keep = eta.fma(methods.pull, s.splat(1.0));
        let row = row(job.table, &job.entries[t], run, d);
        let mut delta = s.splat(row[0]);
        for j in 0..d {
            let theta = s.load(&theta[j].0[lane..]);
            let sum = &mut sum[j].0[lane..];
            weight.fma(theta, s.load(sum)).store(sum);
            delta = s.splat(row[1 + j]).fma(theta, delta);
        }
        let g = eta.mul(delta);
        let mut norm = replace(s, theta, lane, |j, theta| {
            g.fma(s.splat(row[1 + d + j]), keep.mul(theta))
        });
        if norm.any_greater(methods.radius_sq) {
            let [factor, count] = methods.projection(s, eta, norm);
            norm = replace(s, theta, lane, |_, theta| theta.mul(factor));
            let projections = &mut job.projections[run].0[lane..];
            s.load(projections).add(count).store(projections);
        }
        norm.max(s.load(largest)).store(largest);
        let total = &mut job.norms[t].0[lane..];
        s.load(total).add(norm).store(total);
    }
}

/// Updates the iterate coordinate by coordinate; returns the new |theta|^2.
#[inline(always)]
fn replace<S: Simd>(
    s: S,
    theta: &mut [Line],
    lane: usize,
    new: impl Fn(usize, S::Register) -> S::Register,
) -> S::Register {
    let mut norm = s.splat(0.0);
    for (j, theta) in theta.iter_mut().enumerate() {
        let theta = &mut theta.0[lane..PACK];
        let next = new(j, s.load(theta));
        next.store(theta);
        norm = if j == 0 {
            next.mul(next)
        } else {
            next.fma(next, norm)
        };
    }
    norm
}
