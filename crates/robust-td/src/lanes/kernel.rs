//! Does the work of a step for sixteen lanes at once, with the vector instructions that the CPU has.
//!
//! All operations are in a fixed order, and a product with a sum is rounded once, so every instruction set gives the same bits
//! and a saved state goes on anywhere.

use super::line::{Line, WIDTH};
use super::vector::Vector;
use crate::learner::Features;

/// One transition as the lanes see it: delta = reward + psi.theta, theta += eta delta phi.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// gamma phi(s') - phi(s).
    pub psi: Features<'a>,
    /// phi(s).
    pub phi: Features<'a>,
    /// r.
    pub reward: f64,
}

/// A step of one line of lanes.
pub struct Advance<'a> {
    /// What happened.
    pub change: &'a Change<'a>,
    /// What the lanes take for the reward.
    pub reward: f64,
    /// The step size.
    pub eta: f64,
    /// What each lane multiplies the step size by.
    pub factors: &'a Line,
    /// What each lane multiplies the reward by.
    pub weights: &'a Line,
    /// How many iterates the averages count, the one before this step included.
    pub counted: f64,
    /// The d coordinates of the iterates.
    pub theta: &'a mut [Line],
    /// With Delta = eta delta phi the move of the iterate, this gains counted Delta (see
    /// [`average`](crate::learner::average)).
    pub moves: &'a mut [Line],
}

impl Advance<'_> {
    /// Advances, and says what was done.
    #[inline(always)]
    unsafe fn done<V: Vector>(self) -> Done<V> {
        let Change { psi, phi, .. } = *self.change;
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let reward = V::splat(self.reward).times(V::load(self.weights));
            let delta = plus_dot(reward, psi, self.theta);
            let eta = V::splat(self.eta).times(V::load(self.factors));
            let g = eta.times(delta);
            let mut step = Step {
                g,
                counted: g.times(V::splat(self.counted)),
                before: V::splat(0.0),
                after: V::splat(0.0),
            };
            match phi {
                Features::Dense(phi) => {
                    for ((x, theta), moves) in phi.iter().zip(self.theta).zip(self.moves) {
                        step.shift(*x, theta, moves);
                    }
                }
                Features::Sparse { indices, values } => {
                    for (j, x) in indices.iter().zip(values) {
                        let j = *j as usize;
                        step.shift(*x, &mut self.theta[j], &mut self.moves[j]);
                    }
                }
            }
            Done {
                delta,
                before: step.before,
                after: step.after,
            }
        }
    }
}

/// What a line did in a step.
struct Done<V> {
    /// The temporal-difference errors.
    delta: V,
    /// |theta|^2 of the coordinates that moved, before.
    before: V,
    /// The same after.
    after: V,
}

/// The step of one line.
struct Step<V> {
    /// eta delta.
    g: V,
    /// The same times the number of iterates counted.
    counted: V,
    /// |theta|^2 of the coordinates moved so far, before.
    before: V,
    /// The same after.
    after: V,
}

impl<V: Vector> Step<V> {
    /// Moves one coordinate, whose feature is x.
    #[inline(always)]
    unsafe fn shift(&mut self, x: f64, theta: &mut Line, moves: &mut Line) {
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let x = V::splat(x);
            let old = V::load(theta);
            let new = old.plus_product(self.g, x);
            new.store(theta);
            self.before = self.before.plus_product(old, old);
            self.after = self.after.plus_product(new, new);
            let sum = V::load(moves).plus_product(self.counted, x);
            sum.store(moves);
        }
    }
}

impl Work for Advance<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the caller answers for the instructions.
        unsafe { self.done::<V>() };
    }
}

/// A step of several lines, each with weights of its own.
pub struct AdvanceAll<'a> {
    /// What happened.
    pub change: &'a Change<'a>,
    /// What the lanes take for the reward.
    pub reward: f64,
    /// The step size.
    pub eta: f64,
    /// What each lane multiplies the reward by.
    pub weights: &'a [Line],
    /// How many iterates the averages count, the one before this step included.
    pub counted: f64,
    /// d.
    pub dimension: usize,
    /// The coordinates of one line after the other.
    pub theta: &'a mut [Line],
    /// The same for the sums of moves.
    pub moves: &'a mut [Line],
}

impl Work for AdvanceAll<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let d = self.dimension;
        for (k, weights) in self.weights.iter().enumerate() {
            let advance = Advance {
                change: self.change,
                reward: self.reward,
                eta: self.eta,
                factors: &Line::ONES,
                weights,
                counted: self.counted,
                theta: &mut self.theta[k * d..][..d],
                moves: &mut self.moves[k * d..][..d],
            };
            // SAFETY: the caller answers for the instructions.
            unsafe { advance.run::<V>() };
        }
    }
}

/// What is known about how far the lanes of a line go.
pub struct Watch<'a> {
    /// |theta|^2.
    pub norms: &'a mut Line,
    /// The largest |theta|^2.
    pub largest: &'a mut Line,
    /// Sums of squared temporal-difference errors.
    pub squares: &'a mut Line,
}

/// A step of one line under watch.
pub struct AdvanceAndWatch<'a>(pub Advance<'a>, pub Watch<'a>);

impl Work for AdvanceAndWatch<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Self(advance, watch) = self;
        let all_move = matches!(advance.change.phi, Features::Dense(_));
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let done = advance.done::<V>();
            let norms = match all_move {
                true => done.after,
                false => V::load(watch.norms).plus(done.after.minus(done.before)),
            };
            norms.store(watch.norms);
            V::load(watch.largest).or_larger(norms).store(watch.largest);
            let squares = V::load(watch.squares).plus_product(done.delta, done.delta);
            squares.store(watch.squares);
        }
    }
}

/// sums += (reward + psi.theta) phi: the residuals of one line of fixed thetas.
pub struct Measure<'a> {
    /// What happened.
    pub change: &'a Change<'a>,
    /// The d coordinates.
    pub theta: &'a [Line],
    /// The same.
    pub sums: &'a mut [Line],
}

impl Work for Measure<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Change { psi, phi, reward } = *self.change;
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let delta = plus_dot(V::splat(reward), psi, self.theta);
            match phi {
                Features::Dense(phi) => {
                    for (x, sum) in phi.iter().zip(self.sums) {
                        add(delta, *x, sum);
                    }
                }
                Features::Sparse { indices, values } => {
                    for (j, x) in indices.iter().zip(values) {
                        add(delta, *x, &mut self.sums[*j as usize]);
                    }
                }
            }
        }
    }
}

/// sum += delta x.
#[inline(always)]
unsafe fn add<V: Vector>(delta: V, x: f64, sum: &mut Line) {
    // SAFETY: the caller answers for the instructions.
    unsafe { V::load(sum).plus_product(delta, V::splat(x)).store(sum) }
}

/// |theta|^2 of one line.
pub struct Norms<'a> {
    /// The d coordinates.
    pub theta: &'a [Line],
    /// The norms.
    pub norms: &'a mut Line,
}

impl Work for Norms<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let mut sum = V::splat(0.0);
            for theta in self.theta {
                let x = V::load(theta);
                sum = sum.plus_product(x, x);
            }
            sum.store(self.norms);
        }
    }
}

/// y = start + M x + weight w, lane by lane: a linear map of many vectors.
pub struct Map<'a> {
    /// The rows of M, each followed by its entry of w, and by anything up to the next row.
    pub rows: &'a [f64],
    /// From one row to the next.
    pub stride: usize,
    /// What each lane multiplies w by; one per line.
    pub weights: &'a [Line],
    /// x: the coordinates of one line after the other.
    pub x: &'a [Line],
    /// Holds the start and becomes y; the same order.
    pub y: &'a mut [Line],
}

impl Map<'_> {
    /// Maps N lines from one on: an entry of M that is loaded serves all of them.
    #[inline(always)]
    unsafe fn lines<V: Vector, const N: usize>(&mut self, first: usize) {
        let d = self.x.len() / self.weights.len();
        let mut x: [&[Line]; N] = [&[]; N];
        for (n, x) in x.iter_mut().enumerate() {
            *x = &self.x[(first + n) * d..][..d];
        }
        for (j, row) in self.rows.chunks_exact(self.stride).enumerate() {
            let (row, w) = (&row[..d], row[d]);
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let mut sums = [V::splat(0.0); N];
                for (n, sum) in sums.iter_mut().enumerate() {
                    let weight = V::load(&self.weights[first + n]);
                    let start = V::load(&self.y[(first + n) * d + j]);
                    *sum = start.plus_product(V::splat(w), weight);
                }
                for (k, entry) in row.iter().enumerate() {
                    let entry = V::splat(*entry);
                    for (sum, x) in sums.iter_mut().zip(&x) {
                        *sum = sum.plus_product(entry, V::load(&x[k]));
                    }
                }
                for (n, sum) in sums.into_iter().enumerate() {
                    sum.store(&mut self.y[(first + n) * d + j]);
                }
            }
        }
    }
}

impl Work for Map<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(mut self) {
        const TOGETHER: usize = 4;
        let lines = self.weights.len();
        let whole = lines - lines % TOGETHER;
        // SAFETY: the caller answers for the instructions.
        unsafe {
            for first in (0..whole).step_by(TOGETHER) {
                self.lines::<V, TOGETHER>(first);
            }
            for first in whole..lines {
                self.lines::<V, 1>(first);
            }
        }
    }
}

/// M += x y', row after row, in f64 that is not fused: the compiler makes the vectors here.
pub struct Outer<'a> {
    /// x.
    pub x: &'a [f64],
    /// y.
    pub y: &'a [f64],
    /// The rows of M.
    pub rows: &'a mut [f64],
}

impl Work for Outer<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        for (row, x) in self.rows.chunks_exact_mut(self.y.len()).zip(self.x) {
            for (entry, y) in row.iter_mut().zip(self.y) {
                *entry += x * y;
            }
        }
    }
}

/// start + x.theta, summed in two parts: those with even indices and those with odd ones, which need not wait for each other.
#[inline(always)]
unsafe fn plus_dot<V: Vector>(start: V, x: Features<'_>, theta: &[Line]) -> V {
    // SAFETY: the caller answers for the instructions.
    unsafe {
        let (mut even, mut odd) = (start, V::splat(0.0));
        match x {
            Features::Dense(x) => {
                let (pairs, last) = x.as_chunks::<2>();
                let (theta_pairs, theta_last) = theta.as_chunks::<2>();
                for (x, theta) in pairs.iter().zip(theta_pairs) {
                    even = even.plus_product(V::splat(x[0]), V::load(&theta[0]));
                    odd = odd.plus_product(V::splat(x[1]), V::load(&theta[1]));
                }
                for (x, theta) in last.iter().zip(theta_last) {
                    even = even.plus_product(V::splat(*x), V::load(theta));
                }
            }
            Features::Sparse { indices, values } => {
                for (j, x) in indices.iter().zip(values) {
                    // Adding nothing to the other part costs less than a branch.
                    let parts = [[*x, 0.0], [0.0, *x]][(j % 2) as usize];
                    let theta = V::load(&theta[*j as usize]);
                    even = even.plus_product(V::splat(parts[0]), theta);
                    odd = odd.plus_product(V::splat(parts[1]), theta);
                }
            }
        }
        even.plus(odd)
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

/// One after the other, without leaving the vectors in between.
impl<A: Work, B: Work> Work for (A, B) {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the caller answers for the instructions.
        unsafe {
            self.0.run::<V>();
            self.1.run::<V>();
        }
    }
}

impl<A: Work> Work for Option<A> {
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        if let Some(work) = self {
            // SAFETY: the caller answers for the instructions.
            unsafe { work.run::<V>() }
        }
    }
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
            unsafe { work.run::<[__m512d; 2]>() }
        }
        #[target_feature(enable = "avx2,fma")]
        fn avx2(work: impl Work) {
            // SAFETY: the instructions of this function.
            unsafe { work.run::<[__m256d; 4]>() }
        }
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: just detected.
            return unsafe { avx512(work) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: just detected.
            return unsafe { avx2(work) };
        }
    }
    with_arrays(work);
}

/// Not inlined: it would only be in the way of the others.
#[inline(never)]
fn with_arrays(work: impl Work) {
    // SAFETY: arrays need no special instructions.
    unsafe { work.run::<[f64; WIDTH]>() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Numbers for a step in five dimensions.
    struct Numbers(Stream);

    impl Numbers {
        fn take<const N: usize>(&mut self) -> [f64; N] {
            std::array::from_fn(|_| self.0.uniform() - 0.5)
        }

        fn lines<const N: usize>(&mut self) -> [Line; N] {
            std::array::from_fn(|_| Line(self.take()))
        }
    }

    /// Everything that any work writes, done by one kind of vector, as bits.
    unsafe fn all<V: Vector>(seed: u64, sparse: bool) -> Vec<u64> {
        let mut numbers = Numbers(Stream::new(seed, 0));
        let (psi, phi): ([f64; 5], [f64; 5]) = (numbers.take(), numbers.take());
        let rows: [f64; 30] = numbers.take();
        let [factors, mut norms, mut largest, mut squares] = numbers.lines();
        let [mut theta, mut moves, mut sums]: [[Line; 5]; 3] = [(); 3].map(|()| numbers.lines());
        let (weights, x): ([Line; 5], [Line; 25]) = (numbers.lines(), numbers.lines());
        let mut y: [Line; 25] = numbers.lines();
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
            reward: 0.7,
        };
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let measure = Measure {
                change: &change,
                theta: &theta,
                sums: &mut sums,
            };
            measure.run::<V>();
            let map = Map {
                rows: &rows,
                stride: 6,
                weights: &weights,
                x: &x,
                y: &mut y,
            };
            map.run::<V>();
            let summed = Norms {
                theta: &theta,
                norms: &mut norms,
            };
            summed.run::<V>();
            let advance = Advance {
                change: &change,
                reward: 0.6,
                eta: 0.3,
                factors: &factors,
                weights: &weights[0],
                counted: 3.0,
                theta: &mut theta,
                moves: &mut moves,
            };
            let watch = Watch {
                norms: &mut norms,
                largest: &mut largest,
                squares: &mut squares,
            };
            AdvanceAndWatch(advance, watch).run::<V>();
        }
        let mut written = [&theta[..], &moves, &sums, &y, &[squares]].concat();
        // The norms of sparse steps are corrected, those of dense ones summed anew.
        if !sparse {
            written.extend([norms, largest]);
        }
        let bits = written.into_iter().flat_map(|line| line.0);
        bits.map(f64::to_bits).collect()
    }

    #[test]
    fn all_vectors_give_the_same_bits() {
        for seed in 0..20 {
            // SAFETY: arrays need no special instructions.
            let expected = [false, true].map(|sparse| unsafe { all::<[f64; WIDTH]>(seed, sparse) });
            assert_eq!(expected[0][..expected[1].len()], expected[1]);
            #[cfg(target_arch = "x86_64")]
            for (sparse, expected) in [false, true].into_iter().zip(&expected) {
                use std::arch::x86_64::{__m256d, __m512d};
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: just detected.
                    assert_eq!(unsafe { all::<[__m256d; 4]>(seed, sparse) }, *expected);
                }
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: just detected.
                    assert_eq!(unsafe { all::<[__m512d; 2]>(seed, sparse) }, *expected);
                }
            }
        }
    }

    /// The same products and sums as by hand, on numbers that need no rounding.
    #[test]
    fn a_step_is_that_of_the_formula() {
        let change = Change {
            psi: Features::Dense(&[1.0, -2.0]),
            phi: Features::Dense(&[3.0, 4.0]),
            reward: 5.0,
        };
        let of = |numbers: &[f64]| -> Vec<Line> { numbers.iter().map(|x| Line::of(*x)).collect() };
        let (mut theta, mut moves) = (of(&[2.0, 1.0]), of(&[1.0, 0.0]));
        let [mut norms, mut largest, mut squares] = [5.0, 30.0, 1.0].map(Line::of);
        let advance = Advance {
            change: &change,
            reward: change.reward,
            eta: 0.5,
            factors: &Line::of(0.25),
            weights: &Line::of(2.0),
            counted: 4.0,
            theta: &mut theta,
            moves: &mut moves,
        };
        let watch = Watch {
            norms: &mut norms,
            largest: &mut largest,
            squares: &mut squares,
        };
        with_vectors(AdvanceAndWatch(advance, watch));
        // delta = 2 * 5 + 2 - 2 = 10, the step is 0.5 * 0.25 * 10 = 1.25.
        assert_eq!(theta, of(&[5.75, 6.0]));
        assert_eq!(moves, of(&[16.0, 20.0]));
        assert_eq!(
            (norms[3], largest[7], squares[9]),
            (69.0625, 69.0625, 101.0)
        );
        let mut y = of(&[1.0, 1.0]);
        with_vectors(Map {
            rows: &[1.0, 2.0, 3.0, f64::NAN, 0.0, -1.0, 2.0, f64::NAN],
            stride: 4,
            weights: &of(&[-1.0]),
            x: &of(&[4.0, 8.0]),
            y: &mut y,
        });
        assert_eq!(y, of(&[18.0, -9.0]));
    }
}
