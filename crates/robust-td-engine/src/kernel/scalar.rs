//! Advances packs lane by lane: the scalar twin of the vector kernels.

use std::ops::Range;

use super::step::ONE_CHAIN;
use super::{Block, CELL, Job, Line, PACK, QUAD};

/// Advances all lanes of the packs through the block, then flushes the buckets into the weighted sums.
#[inline(always)]
pub fn run<const SPLIT: bool>(job: &mut Job<'_>, packs: Range<usize>) {
    for pack in packs {
        for lane in 0..PACK {
            if job.block.projection.is_some() {
                projected_steps::<SPLIT>(job, pack, lane);
                continue;
            }
            steps::<SPLIT>(job, pack, lane);
            flush::<SPLIT>(job, pack, lane);
        }
    }
}

/// The position of a lane: its trajectory, its variant in the table, the stride of the table.
fn place<const SPLIT: bool>(pack: usize, lane: usize) -> (usize, usize, usize) {
    if SPLIT {
        (2 * pack + lane / QUAD, lane % 2, 2)
    } else {
        (pack, 0, 1)
    }
}

#[inline(always)]
fn steps<const SPLIT: bool>(job: &mut Job<'_>, index: usize, lane: usize) {
    let block = &job.block;
    let d = block.dimension;
    let (trajectory, variant, stride) = place::<SPLIT>(index, lane);
    let (cell, at) = block.place(index);
    let cell = &mut job.cells[cell];
    let (theta, average) = (&mut cell.theta[at + lane..], &mut cell.average[at + lane..]);
    for j in 0..d {
        average[j * CELL] = block.weight.mul_add(theta[j * CELL], average[j * CELL]);
    }
    let max = &mut cell.max[at + lane];
    for t in 0..block.decay.len() {
        let row = &block.table[block.moves.at(t, trajectory) + variant..];
        let entry = |j: usize| row[stride * j];
        let eta = block.decay[t].mul_add(block.k1[lane], block.k0[lane]);

        let half = if d <= ONE_CHAIN { d } else { d / 2 };
        let mut delta = entry(0);
        for j in 0..half {
            delta = entry(1 + j).mul_add(theta[j * CELL], delta);
        }
        if half < d {
            let mut second = entry(1 + half) * theta[half * CELL];
            for j in half + 1..d {
                second = entry(1 + j).mul_add(theta[j * CELL], second);
            }
            delta += second;
        }
        let g = eta * delta;
        for j in 0..d {
            theta[j * CELL] = g.mul_add(entry(1 + d + j), theta[j * CELL]);
        }
        let mut norm = theta[0] * theta[0];
        for j in 1..d {
            norm = theta[j * CELL].mul_add(theta[j * CELL], norm);
        }
        *max = if norm > *max { norm } else { *max };
        job.sums[t + 1][lane] += norm;

        let place = bucket_of::<SPLIT>(block, trajectory, block.buckets_at.at(t, trajectory), lane);
        let bucket = &mut Line::numbers_mut(job.buckets)[place];
        *bucket = block.coefficients[t].mul_add(g, *bucket);
    }
}

/// The steps of a lane whose iterates are projected: the twin of `project.rs`.
#[inline(always)]
fn projected_steps<const SPLIT: bool>(job: &mut Job<'_>, index: usize, lane: usize) {
    let block = &job.block;
    let Some(projection) = &block.projection else {
        return;
    };
    let d = block.dimension;
    let (trajectory, variant, stride) = place::<SPLIT>(index, lane);
    let (cell, at) = block.place(index);
    let cell = &mut job.cells[cell];
    let (theta, average) = (&mut cell.theta[at + lane..], &mut cell.average[at + lane..]);
    let max = &mut cell.max[at + lane];
    let radius = projection.radius[lane];
    for t in 0..block.decay.len() {
        let row = &block.table[block.moves.at(t, trajectory) + variant..];
        let entry = |j: usize| row[stride * j];
        let eta = block.decay[t].mul_add(block.k1[lane], block.k0[lane]);
        let weight = projection.weights[t];
        let half = if d <= ONE_CHAIN { d } else { d / 2 };
        let mut delta = entry(0);
        for j in 0..half {
            delta = entry(1 + j).mul_add(theta[j * CELL], delta);
        }
        if half < d {
            let mut second = entry(1 + half) * theta[half * CELL];
            for j in half + 1..d {
                second = entry(1 + j).mul_add(theta[j * CELL], second);
            }
            delta += second;
        }
        let g = eta * delta;
        for j in 0..d {
            if !projection.after {
                average[j * CELL] = weight.mul_add(theta[j * CELL], average[j * CELL]);
            }
            theta[j * CELL] = g.mul_add(entry(1 + d + j), theta[j * CELL]);
        }
        let norm_of = |theta: &[f64]| {
            let first = theta[0] * theta[0];
            (1..d).fold(first, |norm, j| {
                theta[j * CELL].mul_add(theta[j * CELL], norm)
            })
        };
        let mut norm = norm_of(theta);
        if norm > radius * radius {
            let factor = radius / norm.sqrt();
            for j in 0..d {
                theta[j * CELL] *= factor;
            }
            norm = norm_of(theta);
        }
        *max = if norm > *max { norm } else { *max };
        job.sums[t + 1][lane] += norm;
        if projection.after {
            for j in 0..d {
                average[j * CELL] = weight.mul_add(theta[j * CELL], average[j * CELL]);
            }
        }
    }
}

/// The numbers in a bucket.
const fn width<const SPLIT: bool>() -> usize {
    if SPLIT { QUAD } else { PACK }
}

/// The position of a lane in the bucket at an offset; a pack with its own trajectory uses the trajectory's index.
#[inline(always)]
fn bucket_of<const SPLIT: bool>(
    block: &Block<'_>,
    trajectory: usize,
    offset: usize,
    lane: usize,
) -> usize {
    let width = width::<SPLIT>();
    block.first_bucket::<SPLIT>(trajectory) * width + offset + lane % width
}

#[inline(always)]
fn flush<const SPLIT: bool>(job: &mut Job<'_>, index: usize, lane: usize) {
    let block = &job.block;
    let d = block.dimension;
    let (trajectory, variant, stride) = place::<SPLIT>(index, lane);
    let (cell, at) = block.place(index);
    let states = &block.bucket_states[trajectory * block.bucket_capacity..];
    for slot in 0..block.bucket_count {
        let place = bucket_of::<SPLIT>(block, trajectory, slot * width::<SPLIT>(), lane);
        let bucket = std::mem::take(&mut Line::numbers_mut(job.buckets)[place]);
        let features = &block.features[states[slot] as usize * d * stride + variant..];
        let average = &mut job.cells[cell].average[at + lane..];
        for j in 0..d {
            average[j * CELL] = bucket.mul_add(features[stride * j], average[j * CELL]);
        }
    }
}
