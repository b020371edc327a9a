//! Computes the powers of a transition matrix and their distances, each only once.

use crate::matrix::{Matrix, SparseMatrix};

/// The distances `d(0), d(1), ...` computed so far, with the power of P to continue from.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    powers: Powers,
    distances: Vec<f64>,
    /// `dbar` at the last lag, once requested.
    contraction: Option<(usize, f64)>,
}

impl Reached {
    /// Computes the missing distances up to `lag`.
    pub fn extend(&mut self, transition: &SparseMatrix, stationary: &[f64], lag: usize) {
        if self.distances.is_empty() {
            self.powers = Powers::new(stationary.len());
            self.distances
                .push(distance_to(stationary, &self.powers.current));
        }
        while self.distances.len() <= lag {
            self.powers.advance(transition);
            // d is nonincreasing, but rounding may raise a distance in its last digit.
            let previous = self.distances.last().copied().unwrap_or(1.0);
            self.distances
                .push(distance_to(stationary, &self.powers.current).min(previous));
        }
    }

    /// `d(0), d(1), ...` as far as computed.
    pub fn distances(&self) -> &[f64] {
        &self.distances
    }

    /// `dbar` at the last lag.
    pub fn contraction(&mut self) -> f64 {
        let last = self.distances.len();
        match self.contraction {
            Some((at, contraction)) if at == last => contraction,
            _ => {
                let contraction = largest_row_distance(&self.powers.current);
                self.contraction = Some((last, contraction));
                contraction
            }
        }
    }
}

/// The powers of P, one after the other.
#[derive(Debug)]
pub(crate) struct Powers {
    current: Matrix,
    /// Scratch space for the next power.
    next: Matrix,
}

impl Default for Powers {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Powers {
    /// Starts at `P^0 = I`.
    pub fn new(states: usize) -> Self {
        Self {
            current: Matrix::identity(states),
            next: Matrix::zeros(states, states),
        }
    }

    /// The current power.
    pub fn current(&self) -> &Matrix {
        &self.current
    }

    /// Multiplies the power by `P` from the left, row by row.
    pub fn advance(&mut self, transition: &SparseMatrix) {
        for s in 0..self.current.rows() {
            let row = self.next.row_mut(s);
            for (place, (to, probability)) in transition.entries(s).enumerate() {
                let terms = row.iter_mut().zip(self.current.row(to));
                if place == 0 {
                    // Every row has an entry, so this overwrites the old values.
                    terms.for_each(|(sum, value)| *sum = probability * value);
                } else {
                    terms.for_each(|(sum, value)| *sum += probability * value);
                }
            }
        }
        std::mem::swap(&mut self.current, &mut self.next);
    }
}

/// `TV(p, q) = 1/2 sum |p - q|`.
fn total_variation(p: &[f64], q: &[f64]) -> f64 {
    // Eight partial sums make the additions independent.
    let (p_blocks, p_rest) = p.as_chunks::<8>();
    let (q_blocks, q_rest) = q.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in p_blocks.iter().zip(q_blocks) {
        for k in 0..8 {
            sums[k] += (a[k] - b[k]).abs();
        }
    }
    let rest: f64 = p_rest.iter().zip(q_rest).map(|(a, b)| (a - b).abs()).sum();
    0.5 * (sums.iter().sum::<f64>() + rest)
}

/// `d`: the largest distance of a row from the stationary distribution.
fn distance_to(stationary: &[f64], power: &Matrix) -> f64 {
    (0..power.rows())
        .map(|s| total_variation(power.row(s), stationary))
        .fold(0.0, f64::max)
}

/// `dbar`: the largest distance between two rows.
pub(crate) fn largest_row_distance(power: &Matrix) -> f64 {
    let n = power.rows();
    let mut largest = 0.0_f64;
    for s in 0..n {
        for other in s + 1..n {
            largest = largest.max(total_variation(power.row(s), power.row(other)));
        }
    }
    largest
}
