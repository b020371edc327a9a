//! Advances one line of lanes by one step.

use robust_td_simd::{Simd, Vector, Wide};

use super::Lanes;
use super::line::Line;
use super::recent::Place;
use crate::phi::Features;

/// sums += delta phi.
pub struct Score<'a, S: Simd> {
    /// delta.
    pub delta: S::Wide,
    /// The d sums.
    pub sums: &'a mut [Line],
}

/// A step of one line of lanes.
pub struct Step<S: Simd> {
    s: S,
    /// eta delta.
    g: S::Wide,
    /// The same times the number of iterates in the averages, including the one before this step: with the move Delta = eta delta phi
    /// of the iterate, the sum of moves grows by counted Delta (see [`average`](crate::iterate::average)).
    coefficient: S::Wide,
    /// |theta|^2 of the coordinates that move, before a sparse step.
    pub before: S::Wide,
    /// |theta|^2 of those coordinates after the step.
    pub after: S::Wide,
}

impl<S: Simd> Step<S> {
    /// Prepares one step: step size, per-lane TD errors, and the number of iterates in the averages.
    #[inline(always)]
    pub fn new(s: S, eta: S::Wide, delta: S::Wide, counted: u64) -> Self {
        let g = eta.mul(delta);
        Self {
            s,
            g,
            coefficient: g.mul(s.splat16(counted as f64)),
            before: s.splat16(0.0),
            after: s.splat16(0.0),
        }
    }

    /// Moves a line; adds the score in the same pass if the transition is measured.
    #[inline(always)]
    pub fn take(
        &mut self,
        phi: &Features<'_>,
        lanes: &mut Lanes,
        line: usize,
        score: Option<Score<'_, S>>,
    ) {
        let d = lanes.dimension;
        let theta = &mut lanes.theta[line * d..][..d];
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

    /// Moves all coordinates; the sums of moves are updated later.
    #[inline(always)]
    fn take_dense(
        &mut self,
        phi: &[f64],
        theta: &mut [Line],
        moves: Place<'_>,
        score: Option<Score<'_, S>>,
    ) {
        let d = theta.len();
        assert_eq!(phi.len(), d, "features have the dimension of theta");
        let s = self.s;
        self.coefficient.store(moves.coefficients);
        let coordinates = phi.iter().zip(theta);
        match (moves.phi(), score) {
            (None, _) => {
                for (x, theta) in coordinates {
                    self.shift(theta, s.splat16(*x));
                }
            }
            (Some(places), None) => {
                for ((x, theta), place) in coordinates.zip(places) {
                    *place = *x;
                    self.shift(theta, s.splat16(*x));
                }
            }
            (Some(places), Some(Score { delta, sums })) => {
                let sums = &mut sums[..d];
                for (((x, theta), place), sum) in coordinates.zip(places).zip(sums) {
                    *place = *x;
                    let x = s.splat16(*x);
                    self.shift(theta, x);
                    delta.fma(x, s.load16(sum)).store(sum);
                }
            }
        }
    }

    /// Moves the coordinates with nonzero features.
    #[inline(always)]
    fn take_sparse(
        &mut self,
        indices: &[u32],
        values: &[f64],
        theta: &mut [Line],
        moves: &mut [Line],
        mut score: Option<Score<'_, S>>,
    ) {
        let s = self.s;
        for (j, x) in indices.iter().zip(values) {
            let j = *j as usize;
            let (theta, x) = (&mut theta[j], s.splat16(*x));
            let old = s.load16(theta);
            self.before = old.fma(old, self.before);
            self.shift(theta, x);
            let sum = &mut moves[j];
            self.coefficient.fma(x, s.load16(sum)).store(sum);
            if let Some(Score { delta, sums }) = &mut score {
                let sum = &mut sums[j];
                delta.fma(x, s.load16(sum)).store(sum);
            }
        }
    }

    /// Moves one coordinate with feature x.
    #[inline(always)]
    fn shift(&mut self, theta: &mut Line, x: S::Wide) {
        let new = self.g.fma(x, self.s.load16(theta));
        new.store(theta);
        self.after = new.fma(new, self.after);
    }
}
