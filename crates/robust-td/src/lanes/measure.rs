//! Measures sixteen lanes at once: residuals and norms.

use super::advance::{Change, plus_dot};
use super::line::Line;
use super::vector::Vector;
use super::work::Work;
use crate::learner::Features;

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
    unsafe fn run<V: Vector>(&mut self) {
        let Change { psi, phi, reward } = *self.change;
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let delta = plus_dot(V::splat(reward), psi, self.theta);
            match *phi {
                Features::Dense(phi) => {
                    for (x, sum) in phi.iter().zip(&mut *self.sums) {
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
    unsafe fn run<V: Vector>(&mut self) {
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
