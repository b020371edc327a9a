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
    /// Advances with the step sizes and temporal-difference errors of the lanes; where the same transition is measured, its
    /// score is added in the same pass.
    #[inline(always)]
    unsafe fn take<V: Vector>(
        &mut self,
        eta: V,
        delta: V,
        mut score: Option<Score<'_, V>>,
    ) -> Moved<V> {
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let g = eta.times(delta);
            let mut step = Step {
                g,
                counted: g.times(V::splat(self.counted)),
                moved: Moved {
                    before: V::splat(0.0),
                    after: V::splat(0.0),
                },
            };
            match (*self.change.phi, &mut score) {
                (Features::Dense(phi), None) => {
                    let d = phi.len();
                    let (theta, moves) = (&mut self.theta[..d], &mut self.moves[..d]);
                    let (pairs, last) = phi.as_chunks::<2>();
                    let (theta_pairs, theta_last) = theta.as_chunks_mut::<2>();
                    let (moves_pairs, moves_last) = moves.as_chunks_mut::<2>();
                    for ((x, theta), moves) in pairs.iter().zip(theta_pairs).zip(moves_pairs) {
                        step.shift(V::splat(x[0]), &mut theta[0], &mut moves[0]);
                        step.shift(V::splat(x[1]), &mut theta[1], &mut moves[1]);
                    }
                    for ((x, theta), moves) in last.iter().zip(theta_last).zip(moves_last) {
                        step.shift(V::splat(*x), theta, moves);
                    }
                }
                (Features::Dense(phi), Some(score)) => {
                    let d = phi.len();
                    let lines = self.theta[..d].iter_mut().zip(&mut self.moves[..d]);
                    for ((x, (theta, moves)), sum) in
                        phi.iter().zip(lines).zip(&mut score.sums[..d])
                    {
                        let x = V::splat(*x);
                        step.shift(x, theta, moves);
                        V::load(sum).plus_product(score.delta, x).store(sum);
                    }
                }
                (Features::Sparse { indices, values }, score) => {
                    for (j, x) in indices.iter().zip(values) {
                        let (j, x) = (*j as usize, V::splat(*x));
                        step.shift(x, &mut self.theta[j], &mut self.moves[j]);
                        if let Some(score) = score {
                            let sum = &mut score.sums[j];
                            V::load(sum).plus_product(score.delta, x).store(sum);
                        }
                    }
                }
            }
            step.moved
        }
    }
}

/// sums += delta phi.
struct Score<'a, V> {
    delta: V,
    sums: &'a mut [Line],
}

/// |theta|^2 of the coordinates that a step moved.
struct Moved<V> {
    before: V,
    after: V,
}

/// The step of one line.
struct Step<V> {
    /// eta delta.
    g: V,
    /// The same times the number of iterates counted.
    counted: V,
    /// What was moved so far.
    moved: Moved<V>,
}

impl<V: Vector> Step<V> {
    /// Moves one coordinate, whose feature is x.
    #[inline(always)]
    unsafe fn shift(&mut self, x: V, theta: &mut Line, moves: &mut Line) {
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let old = V::load(theta);
            let new = old.plus_product(self.g, x);
            new.store(theta);
            let Moved { before, after } = &mut self.moved;
            *before = before.plus_product(old, old);
            *after = after.plus_product(new, new);
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
                let [delta] = plus_dots([reward], self.change.psi, [advance.theta]);
                advance.take::<V>(V::splat(self.eta), delta, None);
            }
        }
    }
}

/// What is known about how far the lanes of a line go.
pub struct Watch<'a> {
    /// |theta|^2 before; it is brought up to date only by a sparse step, which needs it.
    pub norms: &'a mut Line,
    /// The largest |theta|^2.
    pub largest: &'a mut Line,
    /// Sums of squared temporal-difference errors.
    pub squares: &'a mut Line,
    /// A lane.
    pub leader: usize,
    /// Its temporal-difference error.
    pub error: &'a mut f64,
}

/// Answers whose residuals are measured: sums += (r + psi.theta) phi.
pub struct Measure<'a> {
    /// The d coordinates of theta.
    pub theta: &'a [Line],
    /// The same of the sums.
    pub sums: &'a mut [Line],
}

/// A step of one line under watch, before which other thetas are measured, or none.
pub struct AdvanceAndWatch<'a> {
    /// The step.
    pub advance: Advance<'a>,
    /// Its size.
    pub eta: f64,
    /// What each lane multiplies that by.
    pub factors: &'a Line,
    /// What is watched.
    pub watch: Watch<'a>,
    /// What is measured.
    pub measure: Option<Measure<'a>>,
}

impl Work for AdvanceAndWatch<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&mut self) {
        let Self { advance, watch, .. } = self;
        let Change { psi, phi, reward } = *advance.change;
        let all_move = matches!(phi, Features::Dense(_));
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let eta = V::splat(self.eta).times(V::load(self.factors));
            let reward = V::splat(reward);
            let (delta, score) = match &mut self.measure {
                None => {
                    let [delta] = plus_dots([reward], psi, [advance.theta]);
                    (delta, None)
                }
                Some(Measure { theta, sums }) => {
                    let thetas = [&*advance.theta, *theta];
                    let [own, delta] = plus_dots([reward; 2], psi, thetas);
                    (own, Some(Score { delta, sums }))
                }
            };
            let moved = advance.take::<V>(eta, delta, score);
            let norms = match all_move {
                true => moved.after,
                false => {
                    let norms = V::load(watch.norms).plus(moved.after.minus(moved.before));
                    norms.store(watch.norms);
                    norms
                }
            };
            V::load(watch.largest).or_larger(norms).store(watch.largest);
            let squares = V::load(watch.squares).plus_product(delta, delta);
            squares.store(watch.squares);
            *watch.error = delta.lane(watch.leader);
        }
    }
}

/// start + x.theta for N lines of thetas, summed in two parts: those with even indices and those with odd ones, which need
/// not wait for each other.
#[inline(always)]
unsafe fn plus_dots<V: Vector, const N: usize>(
    starts: [V; N],
    x: Features<'_>,
    thetas: [&[Line]; N],
) -> [V; N] {
    // SAFETY: the caller answers for the instructions.
    unsafe {
        let (mut even, mut odd) = (starts, [V::splat(0.0); N]);
        match x {
            Features::Dense(x) => {
                let thetas = thetas.map(|theta| theta[..x.len()].as_chunks::<2>());
                let (pairs, last) = x.as_chunks::<2>();
                for (j, x) in pairs.iter().enumerate() {
                    let [x, y] = [V::splat(x[0]), V::splat(x[1])];
                    for n in 0..N {
                        let theta = &thetas[n].0[j];
                        even[n] = even[n].plus_product(x, V::load(&theta[0]));
                        odd[n] = odd[n].plus_product(y, V::load(&theta[1]));
                    }
                }
                if let [x] = last {
                    for n in 0..N {
                        even[n] = even[n].plus_product(V::splat(*x), V::load(&thetas[n].1[0]));
                    }
                }
            }
            Features::Sparse { indices, values } => {
                for (j, x) in indices.iter().zip(values) {
                    // Adding nothing to the other part costs less than a branch.
                    let parts = [[*x, 0.0], [0.0, *x]][(j % 2) as usize];
                    let [x, y] = parts.map(|x| V::splat(x));
                    for n in 0..N {
                        let theta = V::load(&thetas[n][*j as usize]);
                        even[n] = even[n].plus_product(x, theta);
                        odd[n] = odd[n].plus_product(y, theta);
                    }
                }
            }
        }
        for n in 0..N {
            even[n] = even[n].plus(odd[n]);
        }
        even
    }
}
