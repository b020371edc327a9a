//! Computes the quantities of the proof along a trajectory: noise, bias and the envelope that bounds them.
//!
//! With `theta_t` known before the transition `s_t -> s_{t+1}`,
//!
//! ```text
//! g_t   = g(theta_t; s_t, s_{t+1}) = m_t + xi_t,      m_t = E[g_t | past] = sum_s' P(s_t,s') g(theta_t; s_t, s')
//! m_t   = gbar(theta_t) + b_t
//! ell_t = r_inf phi_inf + 2 phi_inf^2 |theta_t|
//! ```
//!
//! `xi_t` is a martingale difference, `b_t` the bias of Markov data, and `|xi_t|, |b_t| <= 2 ell_t`
//! (arXiv:2506.01052, Section 4). The bias is unwound over `h_k = min(k, u_t)` steps.

use crate::matrix::norm_sq;
use crate::model::problem::Problem;

/// The decomposition of one update.
#[derive(Debug, Clone, PartialEq)]
pub struct ProofTerms {
    /// The envelope `ell_t`.
    pub envelope: f64,
    /// The update `g_t`.
    pub update: Vec<f64>,
    /// Its mean `E[g_t | past]` over the next state.
    pub conditional_mean: Vec<f64>,
    /// The noise `xi_t = g_t - E[g_t | past]`.
    pub noise: Vec<f64>,
    /// The bias `b_t = E[g_t | past] - gbar(theta_t)`.
    pub bias: Vec<f64>,
}

impl ProofTerms {
    /// The terms at `theta` for the transition `from -> to`.
    pub fn at(problem: &Problem, theta: &[f64], from: usize, to: usize) -> Self {
        let update = problem.update(theta, from, to);
        let conditional_mean = problem.mean_update_from(theta, from);
        let mean = problem.mean_update(theta);
        Self {
            envelope: envelope(problem, theta),
            noise: difference(&update, &conditional_mean),
            bias: difference(&conditional_mean, &mean),
            update,
            conditional_mean,
        }
    }

    /// The terms along a trajectory: `thetas[t]` is the iterate before the transition
    /// `states[t] -> states[t+1]`.
    ///
    /// Stops at the end of the shorter of the two.
    pub fn along<'a>(
        problem: &'a Problem,
        states: &'a [usize],
        thetas: &'a [Vec<f64>],
    ) -> impl Iterator<Item = Self> + 'a {
        states
            .windows(2)
            .zip(thetas)
            .map(|(pair, theta)| Self::at(problem, theta, pair[0], pair[1]))
    }
}

/// The envelope `ell = r_inf phi_inf + 2 phi_inf^2 |theta|`, which bounds every update at `theta`.
pub fn envelope(problem: &Problem, theta: &[f64]) -> f64 {
    let phi_inf = problem.phi_inf();
    phi_inf * (problem.r_inf() + 2.0 * phi_inf * norm_sq(theta).sqrt())
}

/// The number of steps over which the bias at step `k` is unwound: `h_k = min(k, u_t)`.
pub fn lookback(k: u64, lag: u64) -> u64 {
    k.min(lag)
}

/// `B = sum eta_k^2 (r^2 ph^2 + 4 r ph^3 E|theta_k| + 4 ph^4 E|theta_k|^2)`, which bounds `sum eta_k^2 E ell_k^2`.
///
/// `steps` yields `(eta_k, E|theta_k|, E|theta_k|^2)`.
pub fn variance_sum(problem: &Problem, steps: impl IntoIterator<Item = (f64, f64, f64)>) -> f64 {
    let (r, ph) = (problem.r_inf(), problem.phi_inf());
    steps
        .into_iter()
        .map(|(eta, norm, square)| {
            let second_moment = r * r + 4.0 * r * ph * norm + 4.0 * ph * ph * square;
            (eta * ph).powi(2) * second_moment
        })
        .sum()
}

fn difference(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x - y).collect()
}
