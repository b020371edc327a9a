//! Moves one line of lanes by one step.

use super::Lanes;
use super::line::Line;
use super::recent::Place;
use super::vector::Vector;
use crate::phi::Features;

/// sums += delta phi.
pub struct Score<'a, V> {
    /// delta.
    pub delta: V,
    /// The d sums.
    pub sums: &'a mut [Line],
}

/// A step of one line of lanes.
pub struct Step<V> {
    /// eta delta.
    g: V,
    /// The same times the number of iterates that the averages count, the one before this step included: with Delta = eta delta phi
    /// the move of the iterate, the sum of moves gains counted Delta (see [`average`](crate::iterate::average)).
    coefficient: V,
    /// |theta|^2 of the coordinates that moved, before a sparse step.
    pub before: V,
    /// The same after a step.
    pub after: V,
}

impl<V: Vector> Step<V> {
    /// A step of a size with the temporal-difference errors of the lanes, when the averages count so many iterates.
    ///
    /// # Safety
    /// The CPU must have the instructions of V; so for the others below.
    #[inline(always)]
    pub unsafe fn new(eta: V, delta: V, counted: u64) -> Self {
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let g = eta.times(delta);
            Self {
                g,
                coefficient: g.times(V::splat(counted as f64)),
                before: V::splat(0.0),
                after: V::splat(0.0),
            }
        }
    }

    /// Moves a line; where the same transition is measured, its score is added in the same pass.
    #[inline(always)]
    pub unsafe fn take(
        &mut self,
        phi: &Features<'_>,
        lanes: &mut Lanes,
        line: usize,
        score: Option<Score<'_, V>>,
    ) {
        let d = lanes.dimension;
        let theta = &mut lanes.theta[line * d..][..d];
        // SAFETY: the caller answers for the instructions.
        unsafe {
            match *phi {
                Features::Dense(phi) => {
                    let place = lanes.recent.next(d, line);
                    self.take_dense(phi, theta, place, score);
                }
                Features::Sparse { indices, values } => {
                    let moves = &mut lanes.moves[line * d..][..d];
                    self.take_sparse(indices, values, theta, moves, score);
                }
            }
        }
    }

    /// Moves all coordinates; that is still to be added to the sums of moves.
    #[inline(always)]
    unsafe fn take_dense(
        &mut self,
        phi: &[f64],
        theta: &mut [Line],
        moves: Place<'_>,
        score: Option<Score<'_, V>>,
    ) {
        let d = theta.len();
        assert_eq!(phi.len(), d, "features have the dimension of theta");
        // SAFETY: the caller answers for the instructions.
        unsafe {
            self.coefficient.store(moves.coefficients);
            let coordinates = phi.iter().zip(theta);
            match (moves.phi(), score) {
                (None, _) => {
                    for (x, theta) in coordinates {
                        self.shift(theta, V::splat(*x));
                    }
                }
                (Some(places), None) => {
                    for ((x, theta), place) in coordinates.zip(places) {
                        *place = *x;
                        self.shift(theta, V::splat(*x));
                    }
                }
                (Some(places), Some(Score { delta, sums })) => {
                    let sums = &mut sums[..d];
                    for (((x, theta), place), sum) in coordinates.zip(places).zip(sums) {
                        *place = *x;
                        let x = V::splat(*x);
                        self.shift(theta, x);
                        V::load(sum).plus_product(delta, x).store(sum);
                    }
                }
            }
        }
    }

    /// Moves the coordinates of the features.
    #[inline(always)]
    unsafe fn take_sparse(
        &mut self,
        indices: &[u32],
        values: &[f64],
        theta: &mut [Line],
        moves: &mut [Line],
        mut score: Option<Score<'_, V>>,
    ) {
        for (j, x) in indices.iter().zip(values) {
            let j = *j as usize;
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let (theta, x) = (&mut theta[j], V::splat(*x));
                let old = V::load(theta);
                self.before = self.before.plus_product(old, old);
                self.shift(theta, x);
                let sum = &mut moves[j];
                V::load(sum).plus_product(self.coefficient, x).store(sum);
                if let Some(Score { delta, sums }) = &mut score {
                    let sum = &mut sums[j];
                    V::load(sum).plus_product(*delta, x).store(sum);
                }
            }
        }
    }

    /// Moves one coordinate, whose feature is x.
    #[inline(always)]
    unsafe fn shift(&mut self, theta: &mut Line, x: V) {
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let new = V::load(theta).plus_product(self.g, x);
            new.store(theta);
            self.after = self.after.plus_product(new, new);
        }
    }
}
