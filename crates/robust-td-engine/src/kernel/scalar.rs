//! Advances packs lane by lane: the plain twin of the vector kernels.

use std::ops::Range;

use super::simd::{CELL, PACK, QUAD};
use super::step::{ONE_CHAIN, Raw, Visited};

/// Runs all lanes of the packs through the block, then empties the buckets into the weighted sums.
///
/// # Safety
/// As for [`super::step::run`].
#[inline(always)]
pub unsafe fn run<const SPLIT: bool>(raw: &Raw, visited: &Visited, packs: Range<usize>) {
    for pack in packs {
        for lane in 0..PACK {
            // SAFETY: passed on from the caller.
            unsafe {
                steps::<SPLIT>(raw, pack, lane);
                flush::<SPLIT>(raw, visited, pack, lane);
            }
        }
    }
}

/// Position of a lane: its trajectory, its variant in the table, the stride of the table.
fn place<const SPLIT: bool>(pack: usize, lane: usize) -> (usize, usize, usize) {
    if SPLIT {
        (2 * pack + lane / QUAD, lane % 2, 2)
    } else {
        (pack, 0, 1)
    }
}

#[inline(always)]
unsafe fn steps<const SPLIT: bool>(raw: &Raw, index: usize, lane: usize) {
    let d = raw.dimension;
    let (pack, (trajectory, variant, stride)) = (&raw.packs[index], place::<SPLIT>(index, lane));
    // SAFETY: every offset is below the sizes that `Block` has checked.
    unsafe {
        let theta = |j: usize| pack.theta.add(j * CELL + lane);
        let weight = raw.weight;
        for j in 0..d {
            let sum = pack.average.add(j * CELL + lane);
            *sum = weight.mul_add(*theta(j), *sum);
        }
        let mut max = *pack.max.add(lane);
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
                let mut second = entry(1 + half) * *theta(half);
                for j in half + 1..d {
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
            *raw.sums.add((t + 1) * PACK + lane) += norm;

            let offset = (*raw.buckets_at.add(t))[trajectory] as usize;
            let bucket = bucket_of::<SPLIT>(raw, trajectory, offset, lane);
            *bucket = (*raw.coefficients.add(t)).mul_add(g, *bucket);
        }
        *pack.max.add(lane) = max;
    }
}

/// The bucket of a lane at the sampler's offset.
unsafe fn bucket_of<const SPLIT: bool>(
    raw: &Raw,
    trajectory: usize,
    offset: usize,
    lane: usize,
) -> *mut f64 {
    let within = if SPLIT { lane % QUAD } else { lane };
    // SAFETY: bucket offsets are below the size of the bucket array; a pack that does not share its
    // trajectory has the trajectory's index.
    unsafe { raw.buckets_of::<SPLIT>(trajectory).add(offset + within) }
}

#[inline(always)]
unsafe fn flush<const SPLIT: bool>(raw: &Raw, visited: &Visited, index: usize, lane: usize) {
    let d = raw.dimension;
    let (pack, (trajectory, variant, stride)) = (&raw.packs[index], place::<SPLIT>(index, lane));
    let slot_width = if SPLIT { QUAD } else { PACK };
    // SAFETY: every offset is below the sizes that `Block` has checked.
    unsafe {
        for slot in 0..visited.count {
            let bucket = bucket_of::<SPLIT>(raw, trajectory, slot * slot_width, lane);
            let state = *visited.states.add(trajectory * raw.bucket_capacity + slot) as usize;
            let features = visited.features.add(state * d * stride + variant);
            for j in 0..d {
                let sum = pack.average.add(j * CELL + lane);
                *sum = (*bucket).mul_add(*features.add(stride * j), *sum);
            }
            *bucket = 0.0;
        }
    }
}
