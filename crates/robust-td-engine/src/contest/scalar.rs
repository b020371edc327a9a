//! Advances methods of TD(0) type lane by lane: the scalar twin of the vector kernels.

use super::step::{Job, row};
use crate::kernel::Line;

/// Advances one lane of one run through the block; see [`step`](super::step) for the operations.
#[inline(always)]
pub fn run(job: &mut Job<'_>, run: usize, lane: usize) {
    let d = job.dimension;
    let theta = &mut job.theta[run * d..][..d];
    let sum = &mut job.sum[run * d..][..d];
    let max = &mut job.max[run][lane];
    for t in 0..job.steps {
        let (eta, weight) = (job.eta[t][lane], job.weight[t][lane]);
        let row = row(job.table, &job.entries[t], run, d);
        let mut delta = row[0];
        for j in 0..d {
            sum[j][lane] = weight.mul_add(theta[j][lane], sum[j][lane]);
            delta = row[1 + j].mul_add(theta[j][lane], delta);
        }
        let (g, keep) = (eta * delta, eta.mul_add(job.pull[lane], 1.0));
        for j in 0..d {
            theta[j][lane] = g.mul_add(row[1 + d + j], keep * theta[j][lane]);
        }
        let norm_sq = |theta: &[Line]| {
            let first = theta[0][lane] * theta[0][lane];
            let add = |norm: f64, theta: &Line| theta[lane].mul_add(theta[lane], norm);
            theta[1..].iter().fold(first, add)
        };
        let mut norm = norm_sq(theta);
        if norm > job.radius_sq[lane] && eta > 0.0 {
            let factor = job.radius[lane] / norm.sqrt();
            for theta in &mut *theta {
                theta[lane] *= factor;
            }
            norm = norm_sq(theta);
            job.projections[run][lane] += 1.0;
        }
        *max = if norm > *max { norm } else { *max };
        job.norms[t][lane] += norm;
    }
}
