//! Advances packs of lanes through a block of steps, for any vector instructions.
//!
//! # Operations of one lane
//! With b_t the decay of the step, x_t the coefficient of the average, and fma(a, b, c) = a b + c
//! rounded once, every kernel performs exactly this, in this order:
//! ```text
//! eta   = fma(b_t, k1, k0)                  decaying lanes have k0 = 0, constant ones k1 = 0
//! delta = r; delta = fma(psi_j, theta_j, delta) for j in order          (d <= 5)
//!         for d > 5 the second half of j has its own chain, started by a product and added at the end
//! g     = eta * delta
//! theta_j = fma(g, phi_j, theta_j)
//! norm  = theta_0 * theta_0; norm = fma(theta_j, theta_j, norm) for j = 1, 2, ..
//! max   = norm > max ? norm : max;  sums_t += norm;  bucket_s = fma(x_t, g, bucket_s)
//! ```
//! # Order of independent operations
//! The dependency chain from one iterate to the next, delta, g, theta, is as long as the other work of all vectors.
//! The CPU prefers older instructions, so that chain comes first: the norm of theta_t is computed after the
//! delta of the next step, just before the update that overwrites theta_t.
//! # The average by buckets
//! A weighted sum of iterates over a block is, by Abel summation,
//! (sum of weights) theta_start + sum_t x_t g_t phi(s_t): one accumulator per visited state instead of
//! d operations per step. [`flush`] multiplies the buckets with the features at the block's end.

use std::hint::black_box;

use robust_td_simd::{Register, Rows, Simd, Slots, Vector};

use super::{Block, CELL, Job, Line, PACK, QUAD};

/// Dimension up to which the dot product is one chain: enough vectors then fit in registers to hide its
/// latency, and a second chain would cost an addition.
pub const ONE_CHAIN: usize = 5;

/// The trajectories of the vector at `lane` of a pack, or the only one twice.
#[inline(always)]
pub(super) fn columns<S: Simd, const SPLIT: bool>(pack: usize, lane: usize) -> [usize; 2] {
    if SPLIT {
        let first = 2 * pack + lane / QUAD;
        [first % 8, (first + S::LANES / PACK) % 8]
    } else {
        [pack % 8; 2]
    }
}

/// The table rows of two trajectories, in any dimension.
#[inline(always)]
pub(super) fn rows<'a, const SPLIT: bool>(
    block: &Block<'a>,
    t: usize,
    columns: [usize; 2],
) -> [&'a [f64]; 2] {
    let length = (2 * block.dimension + 1) * if SPLIT { 2 } else { 1 };
    let row = |column: usize| {
        let at = block.moves.at(t, column);
        &block.table[at..at + length]
    };
    if SPLIT {
        columns.map(row)
    } else {
        [row(columns[0]); 2]
    }
}

/// Entry `j` of table rows.
#[inline(always)]
pub(super) fn fetch<S: Simd, const SPLIT: bool>(s: S, rows: [&[f64]; 2], j: usize) -> S::Register {
    if SPLIT {
        s.pairs(rows.map(|row| &row[2 * j..]))
    } else {
        s.splat(rows[0][j])
    }
}

/// One entry of the rows.
#[inline(always)]
fn entry<S: Simd, const W: usize>(s: S, [a, b]: [&[f64; W]; 2]) -> S::Register {
    if W == 1 {
        s.splat(a[0])
    } else {
        s.pairs([a, b])
    }
}

/// Advances the vectors at `lane` of the packs `first..first + NV` through the block; W variants per table entry. The first
/// pack is a multiple of NV.
#[inline(always)]
pub fn run<S: Simd, const D: usize, const NV: usize, const SPLIT: bool, const W: usize>(
    s: S,
    job: &mut Job<'_>,
    first: usize,
    lane: usize,
) {
    // States the possible values, so that the compiler drops bounds checks and computes one address for all packs.
    debug_assert!(first.is_multiple_of(NV));
    let (lane, first) = (lane & (PACK - S::LANES), first & (8 - NV));
    // A local variable of a whole line aligns the stack: vectors stored there must not straddle cache lines.
    black_box(&mut Line::default());
    let block = &job.block;
    let zero = s.splat(0.0);
    let mut theta = [[zero; D]; NV];
    let mut max = [zero; NV];
    let mut buckets = [Buckets::default(); NV];
    let weight = s.splat(block.weight);
    for v in 0..NV {
        buckets[v] = Buckets::of::<S, SPLIT>(block, first + v, lane);
        let (cell, at) = block.place(first + v);
        let (cell, at) = (&mut job.cells[cell], (at + lane) & (CELL - S::LANES));
        max[v] = s.load(&cell.max[at..]);
        let own = coordinates::<D>(&mut cell.theta);
        let sums = coordinates::<D>(&mut cell.average);
        for j in 0..D {
            theta[v][j] = s.load(&own[j][at..]);
            let sum = &mut sums[j][at..];
            weight.fma(theta[v][j], s.load(sum)).store(sum);
        }
    }
    let (decays, steps) = (block.decay, block.decay.len());
    assert!(block.moves.steps() == steps && block.buckets_at.steps() == steps);
    // Without checks in the loop the compiler unrolls it, and only then do the iterates stay in registers.
    let table = Rows::<D, W>::new(block.table, block.moves);
    let (coefficients, sums) = (&block.coefficients[..steps], &mut job.sums[..=steps]);
    let mut memory = Memory::of::<SPLIT>(block, job.buckets);
    for t in 0..steps {
        let decay = s.splat(decays[t]);
        let eta = decay.fma(s.load(&block.k1.0[lane..]), s.load(&block.k0.0[lane..]));
        let x = s.splat(coefficients[t]);
        // The inner loops run over the vectors: adjacent operations are independent, so the
        // CPU's window always holds work of all vectors.
        let row = |v: usize, q: usize| table.get(t, buckets[v].columns[q]);
        let mut p = [[row(0, 0); 2]; NV];
        let mut delta = [zero; NV];
        for v in 0..NV {
            p[v] = [row(v, 0), row(v, if SPLIT { 1 } else { 0 })];
            delta[v] = entry(s, p[v].map(|row| row.0));
        }
        let half = if D <= ONE_CHAIN { D } else { D / 2 };
        for j in 0..half {
            for v in 0..NV {
                delta[v] = entry(s, p[v].map(|row| &row.1[j])).fma(theta[v][j], delta[v]);
            }
        }
        if half < D {
            let mut second = [zero; NV];
            for v in 0..NV {
                second[v] = entry(s, p[v].map(|row| &row.1[half])).mul(theta[v][half]);
            }
            for j in half + 1..D {
                for v in 0..NV {
                    second[v] = entry(s, p[v].map(|row| &row.1[j])).fma(theta[v][j], second[v]);
                }
            }
            for v in 0..NV {
                delta[v] = delta[v].add(second[v]);
            }
        }
        let sum = &mut sums[t].0[lane..];
        let mut total = s.load(sum);
        // One vector after the other: the compiler moves little across the store to a bucket, so the square of an iterate
        // stays next to its update, and few registers hold anything but iterates.
        for v in 0..NV {
            let g = eta.mul(delta[v]);
            let mut norm = zero;
            for j in 0..D {
                norm = add_square(theta[v][j], norm, j);
                theta[v][j] = g.fma(entry(s, p[v].map(|row| &row.2[j])), theta[v][j]);
            }
            max[v] = norm.max(max[v]);
            total = total.add(norm);
            memory.add(s, t, (first + v, lane), [x, g]);
        }
        total.store(sum);
    }
    let sum = &mut sums[steps].0[lane..];
    let mut total = s.load(sum);
    for v in 0..NV {
        let norm = (0..D).fold(zero, |norm, j| add_square(theta[v][j], norm, j));
        total = total.add(norm);
        let (cell, at) = block.place(first + v);
        let (cell, at) = (&mut job.cells[cell], (at + lane) & (CELL - S::LANES));
        norm.max(max[v]).store(&mut cell.max[at..]);
        let own = coordinates::<D>(&mut cell.theta);
        for j in 0..D {
            theta[v][j].store(&mut own[j][at..]);
        }
    }
    total.store(sum);
}

/// The coordinates of a cell.
#[inline(always)]
fn coordinates<const D: usize>(numbers: &mut [f64]) -> &mut [[f64; CELL]; D] {
    match numbers.as_chunks_mut::<CELL>().0.first_chunk_mut() {
        Some(coordinates) => coordinates,
        None => unreachable!("the job has checked the length"),
    }
}

/// Adds the square of coordinate j to a norm, which begins with coordinate 0.
#[inline(always)]
fn add_square<V: Vector>(theta: V, norm: V, j: usize) -> V {
    match j {
        0 => theta.mul(theta),
        _ => theta.fma(theta, norm),
    }
}

/// The buckets of one vector.
#[derive(Clone, Copy, Default)]
struct Buckets {
    /// Its trajectories.
    columns: [usize; 2],
    /// The first bucket of each.
    first: [usize; 2],
}

impl Buckets {
    #[inline(always)]
    fn of<S: Simd, const SPLIT: bool>(block: &Block<'_>, pack: usize, lane: usize) -> Self {
        let columns = columns::<S, SPLIT>(pack, lane);
        Self {
            columns,
            first: columns.map(|column| block.first_bucket::<SPLIT>(column)),
        }
    }
}

/// The memory of all buckets, one of it for each kind of cell.
enum Memory<'a> {
    /// Lines of four packs.
    Lines(Slots<'a, PACK, 4>),
    /// Quads of eight trajectories.
    Quads(Slots<'a, QUAD, 8>),
}

impl<'a> Memory<'a> {
    #[inline(always)]
    fn of<const SPLIT: bool>(block: &Block<'a>, buckets: &'a mut [Line]) -> Self {
        let (capacity, at) = (block.bucket_capacity, block.buckets_at);
        let numbers = Line::numbers_mut(buckets);
        match SPLIT {
            true => Self::Quads(Slots::new(numbers, capacity, at)),
            false => Self::Lines(Slots::new(numbers, capacity, at)),
        }
    }

    /// bucket_s = fma(x_t, g, bucket_s) for a vector of a pack.
    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        s: S,
        t: usize,
        (pack, lane): (usize, usize),
        [x, g]: [S::Register; 2],
    ) {
        match self {
            Self::Lines(slots) => {
                let bucket = &mut slots.get(t, pack, pack)[lane..];
                x.fma(g, s.load(bucket)).store(bucket);
            }
            Self::Quads(slots) => {
                let [a, b] = columns::<S, true>(pack, lane);
                g.accumulate_quad::<0>(x, slots.get(t, a, a));
                if S::LANES == PACK {
                    g.accumulate_quad::<1>(x, slots.get(t, b, b));
                }
            }
        }
    }
}

/// The buckets of a split cell.
#[inline(always)]
fn quads(buckets: &[Line]) -> &[[f64; QUAD]] {
    Line::numbers(buckets).as_chunks().0
}

/// The buckets of a split cell.
#[inline(always)]
fn quads_mut(buckets: &mut [Line]) -> &mut [[f64; QUAD]] {
    Line::numbers_mut(buckets).as_chunks_mut().0
}

/// Advances one vector of any dimension through the block, with the iterates in memory.
#[inline(always)]
pub fn run_wide<S: Simd, const SPLIT: bool>(s: S, job: &mut Job<'_>, index: usize, lane: usize) {
    let block = &job.block;
    let d = block.dimension;
    let buckets = Buckets::of::<S, SPLIT>(block, index, lane);
    let (cell, at) = block.place(index);
    let cell = &mut job.cells[cell];
    let theta = &mut cell.theta[at + lane..];
    let weight = s.splat(block.weight);
    for j in 0..d {
        let sum = &mut cell.average[j * CELL + at + lane..];
        weight
            .fma(s.load(&theta[j * CELL..]), s.load(sum))
            .store(sum);
    }
    let largest = &mut cell.max[at + lane..];
    let mut max = s.load(largest);
    let (k1, k0) = (s.load(&block.k1.0[lane..]), s.load(&block.k0.0[lane..]));
    let mut memory = Memory::of::<SPLIT>(block, job.buckets);
    for t in 0..block.decay.len() {
        let p = rows::<SPLIT>(block, t, buckets.columns);
        let eta = s.splat(block.decay[t]).fma(k1, k0);
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
            let new = g.fma(fetch::<S, SPLIT>(s, p, 1 + d + j), s.load(theta));
            new.store(theta);
            norm = if j == 0 {
                new.mul(new)
            } else {
                new.fma(new, norm)
            };
        }
        max = norm.max(max);
        let sum = &mut job.sums[t + 1].0[lane..];
        s.load(sum).add(norm).store(sum);
        let x = s.splat(block.coefficients[t]);
        memory.add(s, t, (index, lane), [x, g]);
    }
    max.store(largest);
}

/// Adds the buckets of one vector, times the features of their states, to the weighted sums; empties them.
///
/// Processes N coordinates at a time, so that their sums stay in registers; W variants per feature.
#[inline(always)]
pub fn flush<S: Simd, const SPLIT: bool, const W: usize, const N: usize>(
    s: S,
    job: &mut Job<'_>,
    index: usize,
    lane: usize,
) {
    let lane = lane & (PACK - S::LANES);
    let block = &job.block;
    let (d, count) = (block.dimension, block.bucket_count);
    let Buckets { columns, first } = Buckets::of::<S, SPLIT>(block, index, lane);
    let (cell, at) = block.place(index);
    let average = &mut job.cells[cell].average[at + lane..];
    let features = block.features.as_chunks::<W>().0;
    let states = columns.map(|i| &block.bucket_states[i * block.bucket_capacity..][..count]);
    let lines = first.map(|first| first..first + count);
    for j in (0..d).step_by(N) {
        let mut sums = [s.splat(0.0); N];
        for (k, sum) in sums.iter_mut().enumerate().take(d - j) {
            *sum = s.load(&average[(j + k) * CELL..]);
        }
        let mut add = |value: S::Register, states: [u32; 2]| {
            let row = |q: usize| &features[states[q] as usize * d..][..d];
            let rows = [row(0), row(if SPLIT { 1 } else { 0 })];
            for (k, sum) in sums.iter_mut().enumerate() {
                // Beyond the last coordinate any feature works, because the sum is not stored.
                let coordinate = if j + k < d { j + k } else { 0 };
                *sum = value.fma(entry(s, rows.map(|row| &row[coordinate])), *sum);
            }
        };
        if SPLIT {
            let [a, b] = lines.clone().map(|range| &quads(job.buckets)[range]);
            for slot in 0..count {
                add(
                    s.quads([&a[slot], &b[slot]]),
                    [states[0][slot], states[1][slot]],
                );
            }
        } else {
            for (line, state) in job.buckets[lines[0].clone()].iter().zip(states[0]) {
                add(s.load(&line.0[lane..]), [*state; 2]);
            }
        }
        for (k, sum) in sums.iter().enumerate().take(d - j) {
            sum.store(&mut average[(j + k) * CELL..]);
        }
    }
    if SPLIT {
        for range in lines.into_iter().take(S::LANES / QUAD) {
            quads_mut(job.buckets)[range].fill([0.0; QUAD]);
        }
    } else {
        let [range, _] = lines;
        for line in &mut job.buckets[range] {
            s.splat(0.0).store(&mut line.0[lane..]);
        }
    }
}
