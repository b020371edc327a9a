//! Advances a cell lane by lane: the plain twin of the vector kernels.

use super::simd::{CELL, PACK, QUAD};
use super::step::{ONE_CHAIN, Raw, Visited};

/// Runs all lanes of a cell through the block, then empties the buckets into the weighted sums.
///
/// # Safety
/// As for [`super::step::run`].
#[inline(always)]
pub unsafe fn run<const SPLIT: bool>(raw: &Raw, visited: &Visited, packs: usize) {
    for lane in 0..packs * PACK {
        // SAFETY: passed on from the caller.
        unsafe {
            steps::<SPLIT>(raw, lane);
            flush::<SPLIT>(raw, visited, lane);
        }
    }
}

/// Position of a lane: its trajectory, its variant in the table, the stride of the table.
fn place<const SPLIT: bool>(raw: &Raw, lane: usize) -> (usize, usize, usize) {
    if SPLIT {
        (lane / QUAD, lane % 2, 2)
    } else {
        (raw.column, 0, 1)
    }
}

#[inline(always)]
unsafe fn steps<const SPLIT: bool>(raw: &Raw, lane: usize) {
    let d = raw.dimension;
    let (trajectory, variant, stride) = place::<SPLIT>(raw, lane);
    // SAFETY: every offset is below the sizes that `Block` has checked.
    unsafe {
        let theta = |j: usize| raw.theta.add(j * CELL + lane);
        let weight = raw.weights[lane / PACK];
        for j in 0..d {
            let sum = raw.average.add(j * CELL + lane);
            *sum = weight.mul_add(*theta(j), *sum);
        }
        let mut max = *raw.max.add(lane);
        for t in 0..raw.steps {
            let row = raw
                .table
                .add((*raw.moves.add(t))[trajectory] as usize + variant);
            let entry = |j: usize| *row.add(stride * j);
            let eta = (*raw.decay.add(t)).mul_add(*raw.k1.add(lane), *raw.k0.add(lane));

            let half = if d <= ONE_CHAIN { d } else { d / 2 };
            let mut delta = entry(0);
            for j in 0..half {
                delta = entry(1 + j).mul_add(*theta(j), delta);
            }
            if half < d {
                let mut second = 0.0;
                for j in half..d {
                    second = entry(1 + j).mul_add(*theta(j), second);
                }
                delta += second;
            }
            let g = eta * delta;
            for j in 0..d {
                *theta(j) = g.mul_add(entry(1 + d + j), *theta(j));
            }
            let mut norm = *theta(0) * *theta(0);
            for j in 1..d {
                norm = (*theta(j)).mul_add(*theta(j), norm);
            }
            max = if norm > max { norm } else { max };
            *raw.sums.add(t * CELL + lane) += norm;

            let slot = (*raw.buckets_at.add(t))[trajectory] as usize;
            let bucket = bucket_of::<SPLIT>(raw, trajectory, slot, lane);
            *bucket = (*raw.coefficients[lane / PACK].add(t)).mul_add(g, *bucket);
        }
        *raw.max.add(lane) = max;
    }
}

/// The bucket of a lane at the sampler's offset.
unsafe fn bucket_of<const SPLIT: bool>(
    raw: &Raw,
    trajectory: usize,
    offset: usize,
    lane: usize,
) -> *mut f64 {
    // SAFETY: bucket offsets are below the size of the bucket array.
    unsafe {
        if SPLIT {
            raw.buckets
                .add(trajectory * raw.bucket_stride + offset + lane % QUAD)
        } else {
            raw.buckets.add(offset + lane)
        }
    }
}

#[inline(always)]
unsafe fn flush<const SPLIT: bool>(raw: &Raw, visited: &Visited, lane: usize) {
    let d = raw.dimension;
    let (trajectory, variant, stride) = place::<SPLIT>(raw, lane);
    let slot_width = if SPLIT { QUAD } else { CELL };
    // SAFETY: every offset is below the sizes that `Block` has checked.
    unsafe {
        for slot in 0..visited.count {
            let bucket = bucket_of::<SPLIT>(raw, trajectory, slot * slot_width, lane);
            let state = *visited
                .states
                .add(trajectory * visited.states_stride + slot) as usize;
            let features = visited.features.add(state * d * stride + variant);
            for j in 0..d {
                let sum = raw.average.add(j * CELL + lane);
                *sum = (*bucket).mul_add(*features.add(stride * j), *sum);
            }
            *bucket = 0.0;
        }
    }
}
