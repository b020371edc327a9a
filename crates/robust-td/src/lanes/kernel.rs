//! Takes one TD step of eight lanes at once, with the vector instructions that the CPU has.
//!
//! The operations are plain products and sums in a fixed order, never fused, so every instruction set gives the
//! same bits and a saved state goes on anywhere.

use std::ops::{Index, IndexMut};

use super::vector::Vector;
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
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// gamma phi(s') - phi(s).
    pub psi: Features<'a>,
    /// phi(s).
    pub phi: Features<'a>,
    /// r.
    pub reward: f64,
}

/// A step of all lanes.
///
/// The arrays hold the d coordinates of one line after the other, or one entry per line.
pub struct Advance<'a> {
    /// What happened.
    pub change: &'a Change<'a>,
    /// How many iterates the averages count, the one before this step included.
    pub counted: f64,
    /// The step sizes.
    pub gains: &'a [Line],
    /// The iterates.
    pub theta: &'a mut [Line],
    /// With Delta = gain delta phi the move of the iterate, this gains counted Delta (see
    /// [`average`](crate::learner::average)).
    pub moves: &'a mut [Line],
    /// Holds the rewards, lane by lane, and becomes the temporal-difference errors.
    pub deltas: &'a mut [Line],
}

impl Work for Advance<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Change { psi, phi, .. } = *self.change;
        let d = self.theta.len() / self.gains.len();
        let lines = self.theta.chunks_exact_mut(d);
        let lines = lines.zip(self.moves.chunks_exact_mut(d));
        for (((theta, moves), gain), delta) in lines.zip(self.gains).zip(self.deltas) {
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let error = plus_product(V::load(delta), psi, theta);
                error.store(delta);
                let g = V::load(gain).times(error);
                add(phi, g, theta);
                add(phi, g.times(V::splat(self.counted)), moves);
            }
        }
    }
}

/// deltas = reward + psi.theta, and sums += deltas phi: the residuals of fixed thetas.
pub struct Measure<'a> {
    /// What happened.
    pub change: &'a Change<'a>,
    /// d.
    pub dimension: usize,
    /// The coordinates of one line after the other.
    pub theta: &'a [Line],
    /// The same.
    pub sums: &'a mut [Line],
}

impl Work for Measure<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let d = self.dimension;
        for (theta, sums) in self
            .theta
            .chunks_exact(d)
            .zip(self.sums.chunks_exact_mut(d))
        {
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let reward = V::splat(self.change.reward);
                let delta = plus_product(reward, self.change.psi, theta);
                add(self.change.phi, delta, sums);
            }
        }
    }
}

/// |theta|^2 of the coordinates where some features are, or of all for dense ones.
pub struct Norms<'a> {
    /// The features.
    pub features: Features<'a>,
    /// The coordinates of one line after the other.
    pub theta: &'a [Line],
    /// One line for each.
    pub norms: &'a mut [Line],
}

impl Work for Norms<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let d = self.theta.len() / self.norms.len();
        for (theta, norm) in self.theta.chunks_exact(d).zip(self.norms) {
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let mut sum = V::splat(0.0);
                match self.features {
                    Features::Dense(_) => {
                        for theta in theta {
                            let x = V::load(theta);
                            sum = sum.plus(x.times(x));
                        }
                    }
                    Features::Sparse { indices, .. } => {
                        for i in indices {
                            let x = V::load(&theta[*i as usize]);
                            sum = sum.plus(x.times(x));
                        }
                    }
                }
                sum.store(norm);
            }
        }
    }
}

/// start + x.theta.
#[inline(always)]
unsafe fn plus_product<V: Vector>(start: V, x: Features<'_>, theta: &[Line]) -> V {
    let mut sum = start;
    // SAFETY: the caller answers for the instructions.
    unsafe {
        match x {
            Features::Dense(x) => {
                for (x, theta) in x.iter().zip(theta) {
                    sum = sum.plus(V::splat(*x).times(V::load(theta)));
                }
            }
            Features::Sparse { indices, values } => {
                for (i, x) in indices.iter().zip(values) {
                    sum = sum.plus(V::splat(*x).times(V::load(&theta[*i as usize])));
                }
            }
        }
    }
    sum
}

/// target += g phi.
#[inline(always)]
unsafe fn add<V: Vector>(phi: Features<'_>, g: V, target: &mut [Line]) {
    // SAFETY: the caller answers for the instructions.
    unsafe {
        match phi {
            Features::Dense(phi) => {
                for (x, target) in phi.iter().zip(target) {
                    V::load(target).plus(g.times(V::splat(*x))).store(target);
                }
            }
            Features::Sparse { indices, values } => {
                for (i, x) in indices.iter().zip(values) {
                    let target = &mut target[*i as usize];
                    V::load(target).plus(g.times(V::splat(*x))).store(target);
                }
            }
        }
    }
}

/// Work that any kind of vector can do; `run` and all it calls must be `#[inline(always)]`, because only what is inlined into
/// a function with target features is compiled for them.
pub trait Work {
    /// Does the work.
    ///
    /// # Safety
    /// The CPU must have the instructions of V.
    unsafe fn run<V: Vector>(self);
}

/// Does the work with the best vectors of this CPU.
#[inline]
pub fn with_vectors(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m256d, __m512d};

        #[target_feature(enable = "avx512f")]
        fn avx512(work: impl Work) {
            // SAFETY: the instructions of this function.
            unsafe { work.run::<__m512d>() }
        }
        #[target_feature(enable = "avx2")]
        fn avx2(work: impl Work) {
            // SAFETY: the instructions of this function.
            unsafe { work.run::<[__m256d; 2]>() }
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
    // SAFETY: arrays need no special instructions.
    unsafe { work.run::<[f64; WIDTH]>() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// One step of three lines by one kind of vector, as bits.
    fn step(run: impl Fn(Advance<'_>), seed: u64, sparse: bool) -> Vec<u64> {
        let mut stream = Stream::new(seed, 0);
        let mut numbers =
            |n: usize| -> Vec<f64> { (0..n).map(|_| stream.uniform() - 0.5).collect() };
        let (psi, phi) = (numbers(5), numbers(5));
        let mut lines = |n: usize| -> Vec<Line> {
            let flat = numbers(n * WIDTH);
            flat.chunks_exact(WIDTH)
                .map(|x| Line(std::array::from_fn(|l| x[l])))
                .collect()
        };
        let (gains, mut theta, mut moves, mut deltas) = (lines(3), lines(15), lines(15), lines(3));
        let indices = [0, 1, 2, 3, 4];
        let view = |values| match sparse {
            false => Features::Dense(values),
            true => Features::Sparse {
                indices: &indices,
                values,
            },
        };
        let change = Change {
            psi: view(&psi),
            phi: view(&phi),
            reward: 0.0,
        };
        run(Advance {
            change: &change,
            counted: 3.0,
            gains: &gains,
            theta: &mut theta,
            moves: &mut moves,
            deltas: &mut deltas,
        });
        let all = theta.iter().chain(&moves).chain(&deltas);
        all.flat_map(|line| line.0.map(f64::to_bits)).collect()
    }

    #[test]
    fn all_vectors_give_the_same_bits() {
        for seed in 0..20 {
            // SAFETY: arrays need no special instructions.
            let array = |work: Advance<'_>| unsafe { work.run::<[f64; WIDTH]>() };
            let expected = step(array, seed, false);
            assert_eq!(step(array, seed, true), expected);
            let best = |work: Advance<'_>| with_vectors(work);
            assert_eq!(step(best, seed, false), expected);
            #[cfg(target_arch = "x86_64")]
            {
                use std::arch::x86_64::{__m256d, __m512d};
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: just detected.
                    let avx2 = |work: Advance<'_>| unsafe { work.run::<[__m256d; 2]>() };
                    assert_eq!(step(avx2, seed, false), expected);
                }
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: just detected.
                    let avx512 = |work: Advance<'_>| unsafe { work.run::<__m512d>() };
                    assert_eq!(step(avx512, seed, true), expected);
                }
            }
        }
    }
}
