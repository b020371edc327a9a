//! Finds the diagonal scaling of the features in which the certificates are smallest.
//!
//! With the features `m_i phi_i` and `q_i = m_i^2`, the coordinates enter the certificates through the product
//!
//! ```text
//! K(q)^2 = max_s sum_i q_i phi_i(s)^2  *  sum_i theta*_i^2 / q_i
//! ```
//!
//! In `x = log q` its logarithm is a maximum of log-sum-exp functions plus another one: a geometric program, convex in `x`. A maximum over states
//! is a maximum over weights `w` on them, so with `m_i(w) = sum_s w_s phi_i(s)^2` and Sion's theorem
//!
//! ```text
//! min_q K(q)^2 = max_w min_q sum_i q_i m_i(w) sum_i theta*_i^2 / q_i = max_w h(w)^2,    h(w) = sum_i |theta*_i| sqrt(m_i(w))
//! ```
//!
//! by Cauchy and Schwarz, with `q_i = |theta*_i| / sqrt(m_i(w))`. The dual is concave, and homogeneous of degree 1/2: the update
//! `w_s <- w_s a_s / h`, with `a_s = sum_i q_i phi_i(s)^2`, keeps the weights on the simplex and moves them to the states that attain the
//! maximum, as in the multiplicative algorithms of optimal design. Every `w` gives a scaling, whose `K` is then evaluated
//! exactly, and a lower bound `h(w)` on all of them: the result is valid wherever the iteration stops, and [`Scaling::gap`] says how good it is.

use crate::model::problem::Problem;

/// The most updates of the weights.
const MOST_UPDATES: usize = 2000;

/// The iteration stops when the product is within this factor of its minimum.
const GOOD_ENOUGH: f64 = 1.0 + 1e-4;

/// The most multiplications spent.
const WORK: usize = 200_000_000;

/// Coordinates of theta* that change the values by less than this share of the largest do not get a smaller scale: a scale of 0 would
/// leave them out.
const SMALLEST_SHARE: f64 = 1e-6;

/// A diagonal scaling.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// `q_i = m_i^2`.
    pub squares: Vec<f64>,
    /// `K(q)` over the lower bound on the smallest: at least 1, and 1 at the optimum.
    pub gap: f64,
}

/// The best scaling found for a problem; always a valid one.
#[must_use]
pub fn optimise(problem: &Problem) -> Scaling {
    let (n, d) = (problem.states(), problem.dimension());
    let square = |s: usize, i: usize| problem.phi(s)[i].powi(2);
    let theta = shares(problem);
    let updates = (WORK / (2 * n * d)).clamp(1, MOST_UPDATES);
    let mut weights = vec![1.0 / n as f64; n];
    let (mut best, mut lower) = (None, 0.0_f64);
    let mut sums = vec![0.0; n];
    for _ in 0..updates {
        let moments = (0..d).map(|i| (0..n).map(|s| weights[s] * square(s, i)).sum::<f64>());
        let roots: Vec<f64> = moments.map(f64::sqrt).collect();
        if roots.iter().any(|root| !(*root > 0.0)) {
            break;
        }
        let q: Vec<f64> = theta.iter().zip(&roots).map(|(t, root)| t / root).collect();
        for (s, sum) in sums.iter_mut().enumerate() {
            *sum = (0..d).map(|i| q[i] * square(s, i)).sum();
        }
        // sum_i theta_i^2 / q_i = sum_i theta_i sqrt(m_i) = h, and the mean of a_s under w is h, too.
        let h: f64 = theta.iter().zip(&roots).map(|(t, root)| t * root).sum();
        let largest = sums.iter().copied().fold(0.0, f64::max);
        let product = (largest * h).sqrt();
        lower = lower.max(h);
        if best
            .as_ref()
            .is_none_or(|(smallest, _)| product < *smallest)
        {
            best = Some((product, q));
        }
        if best
            .as_ref()
            .is_some_and(|(smallest, _)| *smallest <= GOOD_ENOUGH * lower)
        {
            break;
        }
        for (weight, sum) in weights.iter_mut().zip(&sums) {
            *weight *= sum / h;
        }
    }
    match best {
        Some((product, squares)) if product.is_finite() => Scaling {
            squares,
            gap: product / lower,
        },
        _ => Scaling {
            squares: vec![1.0; d],
            gap: f64::INFINITY,
        },
    }
}

/// `|theta*_i|`, but no coordinate changes the values by less than a small share of the largest change.
fn shares(problem: &Problem) -> Vec<f64> {
    let d = problem.dimension();
    let reach = |i: usize| {
        let entries = (0..problem.states()).map(|s| problem.phi(s)[i].abs());
        entries.fold(0.0, f64::max)
    };
    let reaches: Vec<f64> = (0..d).map(reach).collect();
    let changes = problem.theta_star().iter().zip(&reaches);
    let largest = changes
        .map(|(theta, reach)| theta.abs() * reach)
        .fold(0.0, f64::max);
    let floor = if largest > 0.0 {
        SMALLEST_SHARE * largest
    } else {
        1.0
    };
    let pairs = problem.theta_star().iter().zip(&reaches);
    pairs
        .map(|(theta, reach)| theta.abs().max(floor / reach))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::random::Stream;

    /// K(q)^2 by its definition.
    fn product(problem: &Problem, q: &[f64]) -> f64 {
        let state = |s: usize| problem.phi(s).iter().zip(q).map(|(x, q)| q * x * x).sum();
        let largest = (0..problem.states()).map(state).fold(0.0, f64::max);
        let theta = problem.theta_star().iter().zip(q);
        largest * theta.map(|(t, q)| t * t / q).sum::<f64>()
    }

    #[test]
    fn one_feature_more_or_less_has_the_closed_form() {
        // Phi = [[e, 1], [-e, 1]]: both states have the same squares, so K = |theta_1| e + |theta_2|.
        for epsilon in [0.9, 0.1, 0.001] {
            let problem = catalog::problem("two-state", &[("epsilon", epsilon)]).unwrap();
            let found = optimise(&problem);
            let theta = problem.theta_star();
            let exact = theta[0].abs() * epsilon + theta[1].abs();
            assert!((product(&problem, &found.squares).sqrt() / exact - 1.0).abs() < 1e-12);
            assert!((found.gap - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn no_other_scaling_is_better_than_the_gap_allows() {
        let mut stream = Stream::new(5, 0);
        for name in ["ref-3", "paper-ring", "boyan", "garnet", "e3", "e6", "e9"] {
            let problem = catalog::problem(name, &[]).unwrap();
            let found = optimise(&problem);
            let best = product(&problem, &found.squares);
            assert!(
                found.gap >= 1.0 && found.gap < 1.05,
                "{name}: {}",
                found.gap
            );
            for spread in [0.01, 0.3, 3.0] {
                for _ in 0..50 {
                    let other: Vec<f64> = (found.squares.iter())
                        .map(|q| q * (spread * (2.0 * stream.uniform() - 1.0)).exp())
                        .collect();
                    let other = product(&problem, &other);
                    assert!(best <= other * found.gap.powi(2) * (1.0 + 1e-9), "{name}");
                }
            }
        }
    }
}
