//! Advances packs of lanes whose iterates are projected onto a ball, for any vector instructions.
//!
//! # Operations of one lane
//! As in `step.rs` up to the norm of the updated iterate; then, with R the radius and w_t the weight of the average,
//! ```text
//! if norm > R * R:  q = R / sqrt(norm);  theta_j = q * theta_j;  norm = theta_0 * theta_0, fma(theta_j, theta_j, norm) ..
//! max   = norm > max ? norm : max;  sums_t += norm
//! sum_j = fma(w_t, theta_j, sum_j)          with theta_j before the step (Algorithm 1) or after it (the authors)
//! ```

use robust_td_simd::{Register, Simd, Vector};

use super::step::{ONE_CHAIN, columns, fetch, rows};
use super::{CELL, Job};

/// Advances one vector of any dimension through the block, with the iterates in memory.
#[inline(always)]
pub fn run<S: Simd, const SPLIT: bool>(s: S, job: &mut Job<'_>, index: usize, lane: usize) {
    let block = &job.block;
    let Some(projection) = &block.projection else {
        return;
    };
    let d = block.dimension;
    let columns = columns::<S, SPLIT>(index, lane);
    let (cell, at) = block.place(index);
    let cell = &mut job.cells[cell];
    let theta = &mut cell.theta[at + lane..];
    let average = &mut cell.average[at + lane..];
    let largest = &mut cell.max[at + lane..];
    let mut max = s.load(largest);
    let (k1, k0) = (s.load(&block.k1.0[lane..]), s.load(&block.k0.0[lane..]));
    let radius = s.load(&projection.radius.0[lane..]);
    let (square, one) = (radius.mul(radius), s.splat(1.0));
    for t in 0..block.decay.len() {
        let p = rows::<SPLIT>(block, t, columns);
        let eta = s.splat(block.decay[t]).fma(k1, k0);
        let weight = s.splat(projection.weights[t]);
        let half = if d <= ONE_CHAIN { d } else { d / 2 };
        let mut delta = fetch::<S, SPLIT>(s, p, 0);
        for j in 0..half {
            delta = fetch::<S, SPLIT>(s, p, 1 + j).fma(s.load(&theta[j * CELL..]), delta);
        }
        if half < d {
            let mut second = fetch::<S, SPLIT>(s, p, 1 + half).mul(s.load(&theta[half * CELL..]));
            for j in half + 1..d {
                second = fetch::<S, SPLIT>(s, p, 1 + j).fma(s.load(&theta[j * CELL..]), second);
            }
            delta = delta.add(second);
        }
        let g = eta.mul(delta);
        let mut norm = s.splat(0.0);
        for j in 0..d {
            let theta = &mut theta[j * CELL..];
            let old = s.load(theta);
            if !projection.after {
                let sum = &mut average[j * CELL..];
                weight.fma(old, s.load(sum)).store(sum);
            }
            let new = g.fma(fetch::<S, SPLIT>(s, p, 1 + d + j), old);
            new.store(theta);
            norm = if j == 0 {
                new.mul(new)
            } else {
                new.fma(new, norm)
            };
        }
        if norm.any_greater(square) {
            // Lanes inside their ball are multiplied by one, which changes neither the iterate nor its norm.
            let factor = norm.where_greater(square, radius.div(norm.sqrt()), one);
            for j in 0..d {
                let theta = &mut theta[j * CELL..];
                let new = factor.mul(s.load(theta));
                new.store(theta);
                norm = if j == 0 {
                    new.mul(new)
                } else {
                    new.fma(new, norm)
                };
            }
        }
        max = norm.max(max);
        let sum = &mut job.sums[t + 1].0[lane..];
        s.load(sum).add(norm).store(sum);
        if projection.after {
            for j in 0..d {
                let sum = &mut average[j * CELL..];
                weight
                    .fma(s.load(&theta[j * CELL..]), s.load(sum))
                    .store(sum);
            }
        }
    }
    max.store(largest);
}
