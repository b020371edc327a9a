//! Collects the constants of a problem that the theory uses.

use serde::Serialize;

use crate::model::mixing::Mixing;
use crate::model::problem::Problem;

/// The constants of a problem, under the names and in the order of the JSON output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Constants {
    /// Number of states `n`.
    pub states: usize,
    /// Number of features `d`.
    pub dimension: usize,
    /// The discount `gamma`.
    pub discount: f64,
    /// `max |phi(s)|`.
    pub phi_inf: f64,
    /// `max |r(s,s')|`.
    pub r_inf: f64,
    /// Smallest eigenvalue of `Phi' D Phi`.
    pub omega: f64,
    /// Condition number of `Phi' D Phi`.
    pub kappa: f64,
    /// The stationary distribution.
    pub stationary: Vec<f64>,
    /// The TD fixed point.
    pub theta_star: Vec<f64>,
    /// `|theta*|`.
    pub theta_star_norm: f64,
    /// `f(0)`, the value for `theta = 0`: the baseline for every bound.
    pub f_zero: f64,
    /// Modulus of the second eigenvalue of `P`, where mixing is known.
    pub lambda2: Option<f64>,
    /// The first `t >= 1` with `dbar(t) <= 1/2`, where mixing is known.
    pub t_mix: Option<u64>,
}

impl Constants {
    /// The constants of a problem; those that need `mixing` are `None` without it.
    pub fn new(problem: &Problem, mixing: Option<&Mixing>) -> Self {
        Self {
            states: problem.states(),
            dimension: problem.dimension(),
            discount: problem.discount(),
            phi_inf: problem.phi_inf(),
            r_inf: problem.r_inf(),
            omega: problem.omega(),
            kappa: problem.kappa(),
            stationary: problem.stationary().to_vec(),
            theta_star: problem.theta_star().to_vec(),
            theta_star_norm: problem.theta_star_norm(),
            f_zero: problem.f_zero(),
            lambda2: mixing.map(Mixing::lambda2),
            t_mix: mixing.map(Mixing::t_mix),
        }
    }

    /// The smallest and the largest stationary probability.
    #[must_use]
    pub fn stationary_range(&self) -> (f64, f64) {
        let pi = self.stationary.iter().copied();
        (
            pi.clone().fold(f64::INFINITY, f64::min),
            pi.fold(0.0, f64::max),
        )
    }
}
