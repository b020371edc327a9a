//! Evaluates the lemmas on the bias of Markov data: how far a bias moves with its iterate, and their sum over a run.
//!
//! The scalar bias in state `s` is `Xi(theta, s) = <E[g(theta; s, s')] - gbar(theta), theta - theta*>`. The proof replaces `theta_k` by the
//! iterate `h_k = min(k, u_t)` steps earlier, which the state `s_k` has nearly forgotten, and pays for the distance between the two
//! (arXiv:2506.01052, Lemmas `lipschitz_TD`, `cross_terms` and `bias`). With `d_k = |theta_k - theta*|` and
//! `ell_k = r_inf phi_inf + 2 phi_inf^2 |theta_k|`:
//!
//! ```text
//! |Xi(theta_k, s) - Xi(theta_j, s)| <= (2 ell_k + 4 phi_inf^2 d_j) |theta_k - theta_j|
//! ```

use crate::exact::paths::{Path, TooManyPaths, for_each_path};
use crate::matrix::{dot, norm_sq};
use crate::model::problem::Problem;
use crate::schedule::decay;
use crate::theory::horizon::lag_at;
use crate::theory::lemma_sums::Sides;
use crate::theory::proof_terms::{envelope, lookback};

/// The scalar bias `Xi(theta, s)`.
#[must_use]
pub fn scalar_bias(problem: &Problem, theta: &[f64], state: usize) -> f64 {
    let error = problem.error(theta);
    dot(&problem.mean_update_from(theta, state), &error) - dot(&problem.mean_update(theta), &error)
}

/// Lemma `lipschitz_TD`: both sides for the iterates `now` and `before`, in any state.
#[must_use]
pub fn lipschitz(problem: &Problem, now: &[f64], before: &[f64], state: usize) -> Sides {
    let moved: Vec<f64> = now.iter().zip(before).map(|(x, y)| x - y).collect();
    let slope =
        2.0 * envelope(problem, now) + 4.0 * problem.phi_inf().powi(2) * distance(problem, before);
    Sides {
        left: (scalar_bias(problem, now, state) - scalar_bias(problem, before, state)).abs(),
        right: slope * norm_sq(&moved).sqrt(),
    }
}

/// `E|theta_k|` and `E|theta_k|^2`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormMoments {
    /// `E|theta_k|`.
    pub mean: f64,
    /// `E|theta_k|^2`.
    pub square: f64,
}

/// Lemma `cross_terms`, first part: a bound on `E[ell_j ell_k]`, symmetric in the two.
#[must_use]
pub fn envelope_product_bound(problem: &Problem, k: NormMoments, j: NormMoments) -> f64 {
    let (r, ph) = (problem.r_inf(), problem.phi_inf());
    let norms = 2.0 * r * ph * (k.mean + j.mean) + 2.0 * ph * ph * (k.square + j.square);
    ph * ph * (r * r + norms)
}

/// Lemma `cross_terms`, second part: a bound on `phi_inf^2 E[d_j ell_k]`.
#[must_use]
pub fn distance_product_bound(problem: &Problem, k: NormMoments, j: NormMoments) -> f64 {
    let (r, ph, d0) = (
        problem.r_inf(),
        problem.phi_inf(),
        problem.theta_star_norm(),
    );
    let start = 0.5 * (ph * ph * d0 * d0 + r * r);
    let now = 2.0 * r * ph * k.mean + 2.0 * ph * ph * k.square;
    let before = ph * ph * (d0 * j.mean + 0.5 * j.square);
    ph * ph * (start + now + before)
}

/// Lemma `bias`: both sides of the bound on `E sum_{k<t} eta_k <b_k, theta_k - theta*>` for Algorithm 1 with constant `c` and the given
/// horizon, in a chain with `d(t) <= 2 alpha^t`. The expectations are exact, over all trajectories.
///
/// Where `t <= u_t` the sums end at `t - 1`, since later iterates do not enter the left side. `None` for `t = 0` or an `alpha` outside (0, 1).
///
/// # Errors
/// When there are too many trajectories.
pub fn bias_lemma(
    problem: &Problem,
    (c, horizon): (f64, u64),
    alpha: f64,
    t: usize,
) -> Result<Option<Sides>, TooManyPaths> {
    let Some(lag) = lag_at(t as f64, alpha) else {
        return Ok(None);
    };
    let scale = c * problem.phi_inf().powi(2) * (horizon as f64).ln();
    let lag = usize::try_from(lag).unwrap_or(usize::MAX);
    let (mut left, mut right) = (0.0, 0.0);
    for_each_path(
        problem,
        t - 1,
        |k| decay(k) / scale,
        |path| {
            left += path.probability * bias_along(problem, scale, path);
            right += path.probability * bias_bound(problem, scale, lag, path);
        },
    )?;
    Ok(Some(Sides { left, right }))
}

/// `sum_k eta_k Xi(theta_k, s_k)` along a trajectory.
fn bias_along(problem: &Problem, scale: f64, path: Path<'_>) -> f64 {
    let pairs = path.thetas.iter().zip(path.states).enumerate();
    pairs
        .map(|(k, (theta, &state))| decay(k as u64) / scale * scalar_bias(problem, theta, state))
        .sum()
}

/// The right side of the lemma along a trajectory, line by line; `scale = c phi_inf^2 log T`.
fn bias_bound(problem: &Problem, scale: f64, lag: usize, path: Path<'_>) -> f64 {
    let t = path.thetas.len();
    let square = problem.phi_inf().powi(2);
    let ell: Vec<f64> = path.thetas.iter().map(|x| envelope(problem, x)).collect();
    let d: Vec<f64> = path.thetas.iter().map(|x| distance(problem, x)).collect();
    let log = |k: usize| (k as f64 + 3.0).ln();
    let root = |k: usize| (k as f64 + 1.0).sqrt();
    let first = 8.0 * d[0] * ell[0] * (lag as f64 + 1.0).sqrt() / scale;
    let (mut forgotten, mut moved) = (0.0, 0.0);
    for k in 0..t {
        let from = k - lookback(k as u64, lag as u64) as usize;
        let weight = (ell[k] + 2.0 * square * d[from]) / (log(k) * root(k));
        let late = k > lag;
        // Up to the lag each step keeps its own logarithm; later ones take the smallest, at the first step.
        let since: f64 = (from..k)
            .map(|i| ell[i] / root(i) / log(if late { from } else { i }))
            .sum();
        moved += weight * since;
        if late {
            forgotten += d[from] * ell[from] / (log(k) * root(k) * (t as f64).sqrt());
        }
    }
    first + 4.0 * forgotten / scale + 2.0 * moved / (scale * scale)
}

/// `d = |theta - theta*|`.
fn distance(problem: &Problem, theta: &[f64]) -> f64 {
    norm_sq(&problem.error(theta)).sqrt()
}
