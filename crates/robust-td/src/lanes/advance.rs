//! Takes a step of sixteen lanes at once.

use super::line::Line;
use super::vector::Vector;
use super::work::Work;
use crate::learner::Features;

/// One transition as the lanes see it: delta = reward + psi.theta, theta += eta delta phi.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// gamma phi(s') - phi(s).
    pub psi: Features<'a>,
    /// phi(s).
    pub phi: &'a Features<'a>,
    /// r.
    pub reward: f64,
}

/// A step of one line of lanes.
pub struct Advance<'a> {
    /// What happened.
    pub change: &'a Change<'a>,
    /// How many iterates the averages count, the one before this step included.
    pub counted: f64,
    /// The d coordinates of the iterates.
    pub theta: &'a mut [Line],
    /// With Delta = eta delta phi the move of the iterate, this gains counted Delta (see
    /// [`average`](crate::learner::average)).
    pub moves: &'a mut [Line],
}

impl Advance<'_> {
    /// Advances with the step sizes and rewards of the lanes, and says what was done.
    #[inline(always)]
    unsafe fn done<V: Vector>(&mut self, eta: V, reward: V) -> Done<V> {
        let Change { psi, phi, .. } = *self.change;
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let delta = plus_dot(reward, psi, self.theta);
            let g = eta.times(delta);
            let mut step = Step {
                g,
                counted: g.times(V::splat(self.counted)),
                before: V::splat(0.0),
                after: V::splat(0.0),
            };
            match *phi {
                Features::Dense(phi) => {
                    let d = phi.len();
                    let (theta, moves) = (&mut self.theta[..d], &mut self.moves[..d]);
                    let (pairs, last) = phi.as_chunks::<2>();
                    let (theta_pairs, theta_last) = theta.as_chunks_mut::<2>();
                    let (moves_pairs, moves_last) = moves.as_chunks_mut::<2>();
                    for ((x, theta), moves) in pairs.iter().zip(theta_pairs).zip(moves_pairs) {
                        step.shift(x[0], &mut theta[0], &mut moves[0]);
                        step.shift(x[1], &mut theta[1], &mut moves[1]);
                    }
                    for ((x, theta), moves) in last.iter().zip(theta_last).zip(moves_last) {
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
    unsafe fn run<V: Vector>(&mut self) {
        let d = self.dimension;
        for (k, weights) in self.weights.iter().enumerate() {
            let mut advance = Advance {
                change: self.change,
                counted: self.counted,
                theta: &mut self.theta[k * d..][..d],
                moves: &mut self.moves[k * d..][..d],
            };
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let reward = V::splat(self.reward).times(V::load(weights));
                advance.done::<V>(V::splat(self.eta), reward);
            }
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
    /// Those of this step.
    pub errors: &'a mut Line,
}

/// A step of one line under watch.
pub struct AdvanceAndWatch<'a> {
    /// The step.
    pub advance: Advance<'a>,
    /// Its size.
    pub eta: f64,
    /// What each lane multiplies that by.
    pub factors: &'a Line,
    /// What is watched.
    pub watch: Watch<'a>,
}

impl Work for AdvanceAndWatch<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&mut self) {
        let Self { advance, watch, .. } = self;
        let Change { phi, reward, .. } = *advance.change;
        let all_move = matches!(phi, Features::Dense(_));
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let eta = V::splat(self.eta).times(V::load(self.factors));
            let done = advance.done::<V>(eta, V::splat(reward));
            let norms = match all_move {
                true => done.after,
                false => V::load(watch.norms).plus(done.after.minus(done.before)),
            };
            norms.store(watch.norms);
            V::load(watch.largest).or_larger(norms).store(watch.largest);
            let squares = V::load(watch.squares).plus_product(done.delta, done.delta);
            squares.store(watch.squares);
            done.delta.store(watch.errors);
        }
    }
}

/// start + x.theta, summed in two parts: those with even indices and those with odd ones, which need not wait for each other.
#[inline(always)]
pub(super) unsafe fn plus_dot<V: Vector>(start: V, x: Features<'_>, theta: &[Line]) -> V {
    // SAFETY: the caller answers for the instructions.
    unsafe {
        let (mut even, mut odd) = (start, V::splat(0.0));
        match x {
            Features::Dense(x) => {
                let theta = &theta[..x.len()];
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
