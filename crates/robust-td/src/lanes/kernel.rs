//! Takes one TD step of eight lanes at once, compiled for the vector instructions that the CPU has.
//!
//! The operations are plain products and sums in a fixed order, never fused, so every instruction set gives the
//! same bits and a saved state goes on anywhere.

use std::ops::{Index, IndexMut};

use crate::learner::Features;

/// Lanes of one line.
pub const WIDTH: usize = 8;

/// Eight lanes side by side.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(align(64))]
pub struct Line(pub [f64; WIDTH]);

impl Line {
    /// The same number in all lanes.
    #[must_use]
    pub fn of(value: f64) -> Self {
        Self([value; WIDTH])
    }
}

impl Index<usize> for Line {
    type Output = f64;

    #[inline(always)]
    fn index(&self, lane: usize) -> &f64 {
        &self.0[lane]
    }
}

impl IndexMut<usize> for Line {
    #[inline(always)]
    fn index_mut(&mut self, lane: usize) -> &mut f64 {
        &mut self.0[lane]
    }
}

/// One transition as the lanes see it: delta = reward + psi.theta, theta += gain delta phi.
///
/// Where lanes have rewards of their own, those count instead.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// gamma phi(s') - phi(s).
    pub psi: Features<'a>,
    /// phi(s).
    pub phi: Features<'a>,
    /// r.
    pub reward: f64,
    /// How many iterates the average counts, the one before this step included; 0 when it counts none.
    pub counted: f64,
}

/// Advances lines of lanes, each lane with a reward of its own; `theta` and `moves` hold the d coordinates of one line
/// after the other.
///
/// `deltas` holds the rewards and becomes the temporal-difference errors. With Delta = gain delta phi the move of the iterate, `moves` gains counted Delta (see
/// [`average`](crate::learner::average)).
pub fn advance(
    change: &Change<'_>,
    gains: &[Line],
    theta: &mut [Line],
    moves: &mut [Line],
    deltas: &mut [Line],
) {
    let work = Advance {
        change,
        gains,
        theta,
        moves,
        deltas,
    };
    with_vectors(work);
}

/// deltas = reward + psi.theta, line by line.
pub fn td_errors(change: &Change<'_>, theta: &[Line], deltas: &mut [Line]) {
    with_vectors(TdErrors {
        change,
        theta,
        deltas,
    });
}

/// sums += factors x phi, line by line.
pub fn accumulate(phi: Features<'_>, factors: &[Line], sums: &mut [Line]) {
    with_vectors(Accumulate { phi, factors, sums });
}

/// Work to be compiled for several instruction sets; `run` and all it calls must be `#[inline(always)]`.
trait Work {
    fn run(self);
}

fn with_vectors(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn avx512(work: impl Work) {
            work.run();
        }
        #[target_feature(enable = "avx2")]
        fn avx2(work: impl Work) {
            work.run();
        }
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: just detected.
            return unsafe { avx512(work) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: just detected.
            return unsafe { avx2(work) };
        }
    }
    work.run();
}

struct Advance<'a> {
    change: &'a Change<'a>,
    gains: &'a [Line],
    theta: &'a mut [Line],
    moves: &'a mut [Line],
    deltas: &'a mut [Line],
}

impl Work for Advance<'_> {
    #[inline(always)]
    fn run(self) {
        let change = self.change;
        let d = self.theta.len() / self.gains.len();
        let lines = self.theta.chunks_exact_mut(d);
        let lines = lines.zip(self.moves.chunks_exact_mut(d));
        for (((theta, moves), gain), delta) in lines.zip(self.gains).zip(self.deltas) {
            add_next_minus_here(change.psi, theta, delta);
            let mut g = Line::default();
            for l in 0..WIDTH {
                g[l] = gain[l] * delta[l];
            }
            add(change.phi, &g, theta);
            if change.counted > 0.0 {
                for l in 0..WIDTH {
                    g[l] *= change.counted;
                }
                add(change.phi, &g, moves);
            }
        }
    }
}

struct TdErrors<'a> {
    change: &'a Change<'a>,
    theta: &'a [Line],
    deltas: &'a mut [Line],
}

impl Work for TdErrors<'_> {
    #[inline(always)]
    fn run(self) {
        let d = self.theta.len() / self.deltas.len();
        for (theta, delta) in self.theta.chunks_exact(d).zip(self.deltas) {
            *delta = Line::of(self.change.reward);
            add_next_minus_here(self.change.psi, theta, delta);
        }
    }
}

struct Accumulate<'a> {
    phi: Features<'a>,
    factors: &'a [Line],
    sums: &'a mut [Line],
}

impl Work for Accumulate<'_> {
    #[inline(always)]
    fn run(self) {
        let d = self.sums.len() / self.factors.len();
        for (sums, factor) in self.sums.chunks_exact_mut(d).zip(self.factors) {
            add(self.phi, factor, sums);
        }
    }
}

/// delta += psi.theta.
#[inline(always)]
fn add_next_minus_here(psi: Features<'_>, theta: &[Line], total: &mut Line) {
    // A local stays in a register.
    let mut delta = *total;
    let mut term = |x: f64, theta: &Line| {
        for l in 0..WIDTH {
            delta[l] += x * theta[l];
        }
    };
    match psi {
        Features::Dense(psi) => psi.iter().zip(theta).for_each(|(x, theta)| term(*x, theta)),
        Features::Sparse { indices, values } => {
            for (i, x) in indices.iter().zip(values) {
                term(*x, &theta[*i as usize]);
            }
        }
    }
    *total = delta;
}

#[inline(always)]
fn add(phi: Features<'_>, g: &Line, target: &mut [Line]) {
    let term = |x: f64, target: &mut Line| {
        for l in 0..WIDTH {
            target[l] += g[l] * x;
        }
    };
    match phi {
        Features::Dense(phi) => {
            for (x, target) in phi.iter().zip(target) {
                term(*x, target);
            }
        }
        Features::Sparse { indices, values } => {
            for (i, x) in indices.iter().zip(values) {
                term(*x, &mut target[*i as usize]);
            }
        }
    }
}
