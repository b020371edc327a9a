//! Advances methods of TD(0) type lane by lane: the plain twin of the vector kernels.

use super::step::Raw;
use crate::kernel::PACK;

/// Takes one lane of one run through the block; see [`step`](super::step) for the operations.
///
/// # Safety
/// As for [`step::run`](super::step::run).
#[inline(always)]
pub unsafe fn run(raw: &Raw, run: usize, lane: usize) {
    let d = raw.dimension;
    // SAFETY: every offset is below the sizes that `PackRuns` has checked.
    unsafe {
        let theta = |j: usize| raw.theta.add((run * d + j) * PACK + lane);
        let norm_sq = || {
            let first = *theta(0) * *theta(0);
            (1..d).fold(first, |norm, j| (*theta(j)).mul_add(*theta(j), norm))
        };
        let max = raw.max.add(run * PACK + lane);
        for t in 0..raw.steps {
            let (eta, weight) = (
                *raw.eta.add(t * PACK + lane),
                *raw.weight.add(t * PACK + lane),
            );
            let row = raw.row(t, run);
            let mut delta = *row;
            for j in 0..d {
                let sum = raw.sum.add((run * d + j) * PACK + lane);
                *sum = weight.mul_add(*theta(j), *sum);
                delta = (*row.add(1 + j)).mul_add(*theta(j), delta);
            }
            let (g, keep) = (eta * delta, eta.mul_add(*raw.pull.add(lane), 1.0));
            for j in 0..d {
                *theta(j) = g.mul_add(*row.add(1 + d + j), keep * *theta(j));
            }
            let mut norm = norm_sq();
            if norm > *raw.radius_sq.add(lane) && eta > 0.0 {
                let factor = *raw.radius.add(lane) / norm.sqrt();
                for j in 0..d {
                    *theta(j) *= factor;
                }
                norm = norm_sq();
                *raw.projections.add(run * PACK + lane) += 1.0;
            }
            *max = if norm > *max { norm } else { *max };
            *raw.norms.add(t * PACK + lane) += norm;
        }
    }
}
