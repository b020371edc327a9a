//! Enumerates every trajectory of TD(0) on a small problem, for expectations that no recursion of moments gives.
//!
//! `E|theta_k|`, `E[|theta_j| |theta_k|]` and other expectations of norms are not polynomials in `theta`, so that
//! [`Moments`](super::moments::Moments) does not have them. With `b` successors per state there are about `b^t` trajectories of
//! length `t`; for ten steps of a few states their sum is exact and quick:
//!
//! ```text
//! E[X] = sum over s_0, ..., s_t of P(s_0,s_1) ... P(s_{t-1},s_t) X(s_0, ..., s_t)
//! ```

use crate::model::problem::Problem;

/// The largest number of trajectories that are enumerated.
pub const MOST_PATHS: u64 = 10_000_000;

/// One trajectory with its iterates.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    /// Its probability.
    pub probability: f64,
    /// `s_0, ..., s_t`.
    pub states: &'a [usize],
    /// `theta_0 = 0, ..., theta_t`.
    pub thetas: &'a [Vec<f64>],
}

/// A problem with too many trajectories of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{paths} trajectories of {steps} steps are too many to enumerate; the limit is {MOST_PATHS}"
)]
pub struct TooManyPaths {
    /// The number of steps.
    pub steps: usize,
    /// The number of trajectories, at most `u64::MAX`.
    pub paths: u64,
}

/// Calls `visit` with every trajectory of the given number of steps from the problem's start state, and returns their number.
///
/// # Errors
/// When there are more than [`MOST_PATHS`].
///
/// ```
/// use robust_td_core::{catalog, paths::for_each_path};
///
/// let problem = catalog::problem("ref-2", &[])?;
/// let mut total = 0.0;
/// let paths = for_each_path(&problem, 5, |_| 0.1, |path| total += path.probability)?;
/// assert_eq!(paths, 32);
/// assert!((total - 1.0).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn for_each_path(
    problem: &Problem,
    steps: usize,
    eta: impl Fn(u64) -> f64,
    visit: impl FnMut(Path<'_>),
) -> Result<u64, TooManyPaths> {
    let paths = count(problem, steps);
    if paths > MOST_PATHS {
        return Err(TooManyPaths { steps, paths });
    }
    let mut walk = Walk {
        problem,
        steps,
        eta,
        visit,
        states: vec![problem.start()],
        thetas: vec![vec![0.0; problem.dimension()]; steps + 1],
    };
    walk.extend(1.0);
    Ok(paths)
}

/// The number of trajectories, at most `u64::MAX`.
fn count(problem: &Problem, steps: usize) -> u64 {
    let transition = problem.chain().transition();
    let mut ends = vec![0u64; problem.states()];
    ends[problem.start()] = 1;
    for _ in 0..steps {
        let mut next = vec![0u64; ends.len()];
        for (from, &paths) in ends.iter().enumerate() {
            for (to, _) in transition.entries(from) {
                next[to] = next[to].saturating_add(paths);
            }
        }
        ends = next;
    }
    ends.into_iter().fold(0, u64::saturating_add)
}

struct Walk<'a, E, V> {
    problem: &'a Problem,
    steps: usize,
    eta: E,
    visit: V,
    states: Vec<usize>,
    thetas: Vec<Vec<f64>>,
}

impl<E: Fn(u64) -> f64, V: FnMut(Path<'_>)> Walk<'_, E, V> {
    /// Visits every continuation of the states so far, which have the given probability.
    fn extend(&mut self, probability: f64) {
        let t = self.states.len() - 1;
        if t == self.steps {
            (self.visit)(Path {
                probability,
                states: &self.states,
                thetas: &self.thetas,
            });
            return;
        }
        let (problem, from, eta) = (self.problem, self.states[t], (self.eta)(t as u64));
        for (to, chance) in problem.chain().transition().entries(from) {
            let (before, after) = self.thetas.split_at_mut(t + 1);
            let update = problem.update(&before[t], from, to);
            for ((next, theta), g) in after[0].iter_mut().zip(&before[t]).zip(update) {
                *next = theta + eta * g;
            }
            self.states.push(to);
            self.extend(probability * chance);
            self.states.pop();
        }
    }
}
