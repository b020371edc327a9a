//! Combines a chain, features and a reward into an average-reward problem with its exact gain and bias.
//!
//! # Reference
//! Puterman, "Markov decision processes", 1994, Chapter 8, for gain and bias; Tsitsiklis & Van Roy, "Average cost temporal-difference learning", Automatica 35,
//! 1999, for the fixed point.
//!
//! ```text
//! gain    g = pi . rbar                                                   the reward per step
//! bias    h - P h = rbar - g 1,   pi . h = 0                              the advantage of starting in a state
//! theta*: Phi' D ( rbar - g 1 + P Phi theta - Phi theta ) = 0             the fixed point of differential TD
//! ```
//! As gamma -> 1 the discounted values are `V_gamma = g/(1-gamma) + h + O(1-gamma)`. `Phi' D (I - P) Phi` is singular exactly if the features can represent constants. The
//! fixed point is then a line, theta* plus a multiple of the weights of the constant; its values are unique after centring, and so are all of this module's.

use crate::linalg;
use crate::matrix::{Matrix, dot};
use crate::model::problem::Problem;

/// An average-reward problem with linear features. The discount of the underlying problem plays no part.
#[derive(Debug, Clone, PartialEq)]
pub struct AverageReward {
    problem: Problem,
    gain: f64,
    bias: Vec<f64>,
    /// The values of the fixed point, centred to mean 0 under pi.
    fixed_point: Vec<f64>,
}

impl AverageReward {
    /// The average-reward problem with the chain, features and reward of a problem.
    ///
    /// # Errors
    /// When a decomposition fails.
    pub fn new(problem: Problem) -> crate::Result<Self> {
        let pi = problem.stationary();
        let gain = dot(pi, problem.mean_rewards());
        let n = problem.states();
        let transition = problem.chain().transition();
        let excess: Vec<f64> = problem.mean_rewards().iter().map(|r| r - gain).collect();
        // I - P + 1 pi' is invertible, and its solution has mean 0.
        let fundamental = Matrix::from_fn(n, n, |s, to| {
            f64::from(u8::from(s == to)) - transition.get(s, to) + pi[to]
        });
        let bias = linalg::solve(&fundamental, &excess);
        // In centred features constants are 0, and the matrix is singular only along them.
        let d = problem.dimension();
        let means: Vec<f64> = (0..d)
            .map(|i| (0..n).map(|s| pi[s] * problem.phi(s)[i]).sum())
            .collect();
        let centred = Matrix::from_fn(n, d, |s, i| problem.phi(s)[i] - means[i]);
        let (a, b) = equations(&problem, &centred, &excess);
        let theta = least_norm(&a, &b)?;
        let fixed_point = centred.times(&theta);
        Ok(Self {
            gain,
            bias,
            fixed_point,
            problem,
        })
    }

    /// The chain, features and reward.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// `g`, the reward per step.
    #[must_use]
    pub fn gain(&self) -> f64 {
        self.gain
    }

    /// `h` by state.
    #[must_use]
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// The centred values of the fixed point of differential TD: the best that its features can do.
    #[must_use]
    pub fn fixed_point(&self) -> &[f64] {
        &self.fixed_point
    }

    /// The centred values of some weights.
    #[must_use]
    pub fn centred_values(&self, theta: &[f64]) -> Vec<f64> {
        let values = self.problem.values(theta);
        let mean = dot(self.problem.stationary(), &values);
        values.iter().map(|value| value - mean).collect()
    }

    /// The squared distance of centred values from those of the fixed point under D.
    #[must_use]
    pub fn error_sq(&self, theta: &[f64]) -> f64 {
        let values = self.centred_values(theta);
        let error: Vec<f64> = values
            .iter()
            .zip(&self.fixed_point)
            .map(|(x, y)| x - y)
            .collect();
        self.problem.d_norm_sq(&error)
    }
}

/// `F' D (I - P) F` and `F' D x`.
fn equations(problem: &Problem, f: &Matrix, x: &[f64]) -> (Matrix, Vec<f64>) {
    let (n, d) = (f.rows(), f.columns());
    let pi = problem.stationary();
    let transition = problem.chain().transition();
    let mut a = Matrix::zeros(d, d);
    let mut b = vec![0.0; d];
    for s in 0..n {
        let mut onward = f.row(s).to_vec();
        for (to, probability) in transition.entries(s) {
            onward
                .iter_mut()
                .zip(f.row(to))
                .for_each(|(x, y)| *x -= probability * y);
        }
        for i in 0..d {
            let weight = pi[s] * f.get(s, i);
            b[i] += weight * x[s];
            a.row_mut(i)
                .iter_mut()
                .zip(&onward)
                .for_each(|(sum, x)| *sum += weight * x);
        }
    }
    (a, b)
}

/// The solution of least norm of `A theta = b`, which has one.
fn least_norm(a: &Matrix, b: &[f64]) -> crate::Result<Vec<f64>> {
    let (u, singular, v) = linalg::thin_svd(a)?;
    let d = b.len();
    let threshold = 1e-12 * singular[0];
    let mut theta = vec![0.0; d];
    for k in (0..d).filter(|&k| singular[k] > threshold) {
        let along: f64 = (0..d).map(|i| u.get(i, k) * b[i]).sum::<f64>() / singular[k];
        theta
            .iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x += along * v.get(i, k));
    }
    Ok(theta)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn close(x: f64, y: f64, tolerance: f64) {
        assert!(
            (x - y).abs() <= tolerance * y.abs().max(1.0),
            "{x} is not {y}"
        );
    }

    /// Two states that swap with probability (1+a)/2: g is the mean reward, and h - P h = rbar - g is solved by h = (rbar - g)/(1+a).
    #[test]
    fn two_states_have_a_closed_form() {
        for alpha in [0.0, 0.6, 0.9] {
            let problem = catalog::problem("two-state", &[("alpha", alpha)]).unwrap();
            let rbar = problem.mean_rewards().to_vec();
            let found = AverageReward::new(problem).unwrap();
            let gain = 0.5 * (rbar[0] + rbar[1]);
            close(found.gain(), gain, 1e-14);
            for s in 0..2 {
                close(found.bias()[s], (rbar[s] - gain) / (1.0 + alpha), 1e-13);
                // The features of the two-state problem represent everything.
                close(found.fixed_point()[s], found.bias()[s], 1e-12);
            }
        }
    }

    /// V_gamma = g/(1-gamma) + h + O(1-gamma), for the true values and for those of the fixed points.
    #[test]
    fn discounted_values_approach_gain_and_bias() {
        for name in ["garnet", "random-walk"] {
            let error = |discount: f64| {
                let problem = catalog::problem(name, &[("discount", discount)]).unwrap();
                let average = AverageReward::new(problem.clone()).unwrap();
                let shift = average.gain() / (1.0 - discount);
                let errors = problem.true_values().into_iter().zip(average.bias());
                errors
                    .map(|(v, h)| (v - shift - h).abs())
                    .fold(0.0, f64::max)
            };
            let (coarse, fine) = (error(0.99), error(0.999));
            assert!(
                (coarse / fine - 10.0).abs() < 2.0,
                "{name}: {coarse} {fine}"
            );
        }
    }

    #[test]
    fn the_fixed_point_solves_its_equations() {
        for name in ["ref-3", "garnet", "boyan", "e5"] {
            let average = AverageReward::new(catalog::problem(name, &[]).unwrap()).unwrap();
            let (problem, values) = (average.problem(), average.fixed_point());
            let transition = problem.chain().transition();
            for i in 0..problem.dimension() {
                let (mut sum, mut size) = (0.0, 0.0);
                for s in 0..problem.states() {
                    let next: f64 = transition.entries(s).map(|(to, p)| p * values[to]).sum();
                    let delta = problem.mean_rewards()[s] - average.gain() + next - values[s];
                    let term = problem.stationary()[s] * problem.phi(s)[i] * delta;
                    sum += term;
                    size += term.abs();
                }
                assert!(sum.abs() <= 1e-9 * size.max(1e-6), "{name}: {sum}");
            }
        }
    }
}
