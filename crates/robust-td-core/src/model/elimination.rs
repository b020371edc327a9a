//! Eliminates states of a Markov chain without subtraction.
//!
//! The matrix `M = I - w` with non-negative off-diagonal weights `w(i,j)` and a leak `e >= 0` in every row
//! (`M(i,i) = sum_{j != i} w(i,j) + e`) is factored as `M = L U` row by row. The diagonal is never read: each
//! pivot is the sum of what is left to its right plus the row's leak, so that nothing cancels and every entry of
//! the factors is accurate to a few units in the last place, however nearly decomposable the chain is.
//!
//! - leak 0: Grassmann, Taksar and Heyman (1985), "Regenerative analysis and steady state distributions for
//!   Markov chains". The last pivot vanishes and `L` gives the stationary distribution.
//! - leak 1 - gamma on `w = gamma P`: Alfa, Xue and Ye (2002), "Accurate computation of the smallest eigenvalue
//!   of a diagonally dominant M-matrix". It solves `(I - gamma P) V = r`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::matrix::SparseMatrix;

/// The factors of `I - scale P` with a leak in every row.
pub(crate) struct Elimination {
    order: Vec<u32>,
    /// Multipliers of row k (in elimination order): (earlier row, multiplier).
    lower: Vec<Vec<(u32, f64)>>,
    /// Weights from row k to later rows: (later row, weight).
    upper: Vec<Vec<(u32, f64)>>,
    pivots: Vec<f64>,
}

impl Elimination {
    /// Factors `I - scale P` where `P` is stochastic, eliminating states in the given order.
    pub fn new(transition: &SparseMatrix, scale: f64, order: Vec<u32>) -> Self {
        let n = transition.size();
        let mut position = vec![0_u32; n];
        for (k, &state) in order.iter().enumerate() {
            position[state as usize] = k as u32;
        }
        let mut lower: Vec<Vec<(u32, f64)>> = Vec::with_capacity(n);
        let mut upper: Vec<Vec<(u32, f64)>> = Vec::with_capacity(n);
        let mut pivots = Vec::with_capacity(n);
        let mut leaks = Vec::with_capacity(n);

        // One row at a time, scattered over `weight`; `present` marks its pattern.
        let mut weight = vec![0.0_f64; n];
        let mut present = vec![false; n];
        let mut earlier: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
        let mut later: Vec<u32> = Vec::new();
        for (i, &state) in order.iter().enumerate() {
            let row = i as u32;
            let mut leak = 1.0 - scale;
            for (column, probability) in transition.entries(state as usize) {
                let j = position[column];
                if j != row {
                    weight[j as usize] = scale * probability;
                    present[j as usize] = true;
                    if j < row {
                        earlier.push(Reverse(j))
                    } else {
                        later.push(j)
                    }
                }
            }
            let mut multipliers = Vec::new();
            while let Some(Reverse(k)) = earlier.pop() {
                let multiplier = weight[k as usize] / pivots[k as usize];
                weight[k as usize] = 0.0;
                present[k as usize] = false;
                multipliers.push((k, multiplier));
                leak += multiplier * leaks[k as usize];
                for &(j, onward) in &upper[k as usize] {
                    if j == row {
                        continue;
                    }
                    weight[j as usize] += multiplier * onward;
                    if !present[j as usize] {
                        present[j as usize] = true;
                        if j < row {
                            earlier.push(Reverse(j))
                        } else {
                            later.push(j)
                        }
                    }
                }
            }
            later.sort_unstable();
            let onward: Vec<(u32, f64)> = later.iter().map(|&j| (j, weight[j as usize])).collect();
            for &j in &later {
                weight[j as usize] = 0.0;
                present[j as usize] = false;
            }
            later.clear();
            pivots.push(onward.iter().map(|&(_, weight)| weight).sum::<f64>() + leak);
            leaks.push(leak);
            lower.push(multipliers);
            upper.push(onward);
        }
        Self {
            order,
            lower,
            upper,
            pivots,
        }
    }

    /// The stationary distribution; the factors must be those of an irreducible chain without a leak.
    pub fn stationary(&self) -> Vec<f64> {
        let n = self.order.len();
        let mut weights = vec![0.0; n];
        weights[n - 1] = 1.0;
        for i in (0..n).rev() {
            let weight = weights[i];
            for &(k, multiplier) in &self.lower[i] {
                weights[k as usize] += weight * multiplier;
            }
        }
        let total: f64 = weights.iter().sum();
        let mut stationary = vec![0.0; n];
        for (&state, weight) in self.order.iter().zip(&weights) {
            stationary[state as usize] = weight / total;
        }
        stationary
    }

    /// Solves `(I - scale P) x = b`.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.order.len();
        let mut x: Vec<f64> = self.order.iter().map(|&state| b[state as usize]).collect();
        for i in 0..n {
            x[i] += self.lower[i]
                .iter()
                .map(|&(k, m)| m * x[k as usize])
                .sum::<f64>();
        }
        for i in (0..n).rev() {
            let onward: f64 = self.upper[i].iter().map(|&(j, w)| w * x[j as usize]).sum();
            x[i] = (x[i] + onward) / self.pivots[i];
        }
        let mut solution = vec![0.0; n];
        for (&state, value) in self.order.iter().zip(&x) {
            solution[state as usize] = *value;
        }
        solution
    }
}
