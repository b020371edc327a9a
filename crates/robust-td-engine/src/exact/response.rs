//! Computes how the totals of a slow state evolve over thousands of steps.
//!
//! A basis of the slow space (see `basis.rs`), run forward by the plain recursion, gives by
//! superposition the totals of any slow state after 1, 2, 4, .. steps, and E|theta_t|^2 at every
//! step in between.

use super::basis::{Basis, Bundle, directions};
use super::moments::{Chain, Layout, WIDTH};
use crate::kernel::Kernel;

/// The longest jump. Longer jumps are more accurate, because the errors of jumps add up, but take longer to
/// prepare.
const LONGEST: u64 = 8192;

/// The evolution of the totals of a slow state over time.
#[derive(Clone, Debug)]
pub struct Response {
    dimension: usize,
    /// For 1, 2, 4, .. steps and each direction, the totals and the growth of E[S' A S].
    jumps: Vec<Vec<f64>>,
    /// For each direction, E|theta|^2 after 1, 2, 3, .. steps.
    norms: Vec<f64>,
}

impl Response {
    /// Runs a basis forward; jumps are at most `most` steps long.
    pub fn of(
        basis: &Basis,
        chain: &Chain,
        p: &[f64],
        kernel: Kernel,
        (eta, weight): (f64, f64),
        most: u64,
    ) -> Self {
        let mut bundle = Bundle::new(chain, p, kernel, eta, weight);
        bundle.load(&basis.values);
        let count = directions(chain.dimension);
        let steps = 1_usize << most.clamp(1, LONGEST).ilog2();
        let mut norms = vec![0.0; count * steps];
        let mut growth = vec![0.0; bundle.packs.len() * WIDTH];
        let mut jumps = Vec::new();
        for t in 0..steps {
            bundle.step(|b, sums| {
                for l in 0..WIDTH {
                    growth[b * WIDTH + l] += sums.growth[l];
                    if b * WIDTH + l < count {
                        norms[(b * WIDTH + l) * steps + t] = sums.norms[l];
                    }
                }
            });
            if (t + 1).is_power_of_two() {
                let mut jump = bundle.totals();
                jump.extend(&growth[..count]);
                jumps.push(jump);
            }
        }
        Self {
            dimension: chain.dimension,
            jumps,
            norms,
        }
    }

    /// The number of steps of the longest jump.
    pub fn longest(&self) -> u64 {
        1 << (self.jumps.len() - 1)
    }

    /// E|theta|^2 after 1, 2, .., out.len() steps from the totals.
    pub fn norms(&self, totals: &[f64], out: &mut [f64]) {
        let mut directions = self.norms.chunks_exact(self.longest() as usize);
        if let Some(first) = directions.next() {
            let steps = out.len();
            out.copy_from_slice(&first[..steps]);
        }
        for (norms, total) in directions.zip(totals) {
            for (x, norm) in out.iter_mut().zip(norms) {
                *x += total * norm;
            }
        }
    }

    /// Advances totals by `steps` and returns the growth of E[S' A S].
    pub fn jump(&self, form: &[f64], totals: &mut [f64], steps: u64) -> f64 {
        let mut growth = 0.0;
        for (k, jump) in self.jumps.iter().enumerate().rev() {
            if steps >> k & 1 == 1 {
                growth += self.apply(jump, form, totals);
            }
        }
        growth
    }

    fn apply(&self, jump: &[f64], form: &[f64], totals: &mut [f64]) -> f64 {
        let d = self.dimension;
        let (layout, count) = (Layout::new(d), directions(d));
        let old = totals.to_vec();
        let at = |i: usize| &jump[i * count..][..count];
        let respond = |i: usize| {
            let response = at(i);
            let mut x = response[0];
            for (c, total) in response[1..].iter().zip(&old) {
                x += c * total;
            }
            x
        };
        // (q_j, C_.j) evolves like (1, m): `i` is a moment m_k or its sum over time, q_k.
        let carried = |i: usize, j: usize| {
            let response = at(i);
            let mut x = response[0] * old[layout.sum(j)];
            for l in 0..d {
                x += response[1 + l] * old[layout.cross(l, j)];
            }
            x
        };
        for (i, total) in totals.iter_mut().enumerate() {
            *total = respond(i);
        }
        let mut growth = respond(layout.len());
        for j in 0..d {
            totals[layout.sum(j)] += old[layout.sum(j)];
            for k in 0..d {
                totals[layout.cross(k, j)] += carried(layout.first(k), j);
                growth += 2.0 * form[k * d + j] * carried(layout.sum(k), j);
            }
        }
        growth
    }
}
