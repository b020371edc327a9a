//! Extends the fixed point, the potential and certificate Y to TD(lambda).
//!
//! With `x = gamma lambda`, the stationary mean of the TD(lambda) update is `b_l - A_l theta`, where
//!
//! ```text
//! A_l     = Phi' D (I - xP)^{-1} (I - gamma P) Phi        b_l = Phi' D (I - xP)^{-1} rbar        theta*_l = A_l^{-1} b_l
//! kappa_l = gamma (1 - lambda) / (1 - x)                   P_l = (1 - x) P (I - xP)^{-1}
//! f_l     = e' A_l e = (1 - kappa_l) |Phi e|_D^2 + kappa_l |Phi e|_{Dir, P_l}^2,      e = theta - theta*_l
//! ```
//!
//! `P_l` is stochastic with the same stationary distribution, so TD(lambda) is TD(0) with discount `kappa_l`
//! on another chain (Liu and Olshevsky 2021). An update is not Markovian in one transition, however: the
//! trace depends on the past. Given the past up to lag `h`, the bias of an update is at most
//! `2 max|delta| phi_inf dl(h)` with
//!
//! ```text
//! dl(h) = sum_{j=0}^{h} x^j d(h-j) + x^{h+1} / (1 - x),       dl(h) = d(h) + x dl(h-1),   dl(-1) = 1/(1-x)
//! ```
//!
//! # Certificate
//! Let `q = 1/(1-x)`. An update is at most `q` times as large and as steep as that of TD(0), so the proof of
//! certificate Y holds with `dl` for `d` and with `q^2` before `W1`, `W2` and `H`. This equals certificate Y
//! for the step sizes `q eta_t` and the distances `dl/q`, except that the bound is divided by the sum of
//! `eta_t`, not of `q eta_t`. With `eta_t = (1-x) / (c phi_inf^2 log T log(t+3) sqrt(t+1))` the step sizes
//! `q eta_t` are those of Algorithm 1.

use super::certificate::{Certificate, Inputs, centred};
use super::certify::{max_lag, unit_steps};
use super::recommend::{Recommendation, recommend};
use super::step_sums::StepProfile;
use crate::check::check_lambda;
use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::{Matrix, dot, norm_sq};
use crate::model::mixing::Mixing;
use crate::model::problem::Problem;

/// The exact theory of TD(lambda) on one problem.
#[derive(Debug, Clone)]
pub struct LambdaTheory<'a> {
    problem: &'a Problem,
    lambda: f64,
    a: Matrix,
    b: Vec<f64>,
    theta_star: Vec<f64>,
}

impl<'a> LambdaTheory<'a> {
    /// Solves for the fixed point.
    ///
    /// # Errors
    /// A lambda outside [0, 1], or a fixed point that is not finite.
    pub fn new(problem: &'a Problem, lambda: f64) -> Result<Self> {
        check_lambda(lambda)?;
        let (d, discount) = (problem.dimension(), problem.discount());
        let transition = problem.chain().transition();
        let resolvent = problem.chain().resolvent(discount * lambda);
        let weighted = |values: &[f64]| -> Vec<f64> {
            let mut sum = vec![0.0; d];
            for (s, (p, value)) in problem.stationary().iter().zip(values).enumerate() {
                for (sum, phi) in sum.iter_mut().zip(problem.phi(s)) {
                    *sum += p * value * phi;
                }
            }
            sum
        };
        let mut a = Matrix::zeros(d, d);
        for j in 0..d {
            let feature = |s| problem.phi(s)[j];
            // (I - gamma P) phi written as (1-gamma) phi + gamma (phi - P phi), which avoids cancellation as
            // gamma approaches 1.
            let ahead: Vec<f64> = (0..problem.states())
                .map(|s| {
                    let fall = transition
                        .entries(s)
                        .map(|(to, p)| p * (feature(s) - feature(to)));
                    (1.0 - discount) * feature(s) + discount * fall.sum::<f64>()
                })
                .collect();
            for (i, entry) in weighted(&resolvent(&ahead)).into_iter().enumerate() {
                a.row_mut(i)[j] = entry;
            }
        }
        let b = weighted(&resolvent(problem.mean_rewards()));
        let theta_star = linalg::solve(&a, &b);
        let theta_star_norm = norm_sq(&theta_star).sqrt();
        if !theta_star_norm.is_finite() {
            return Err(Error::SolutionRange {
                omega: problem.omega(),
                theta_star_norm,
            });
        }
        Ok(Self {
            problem,
            lambda,
            a,
            b,
            theta_star,
        })
    }

    /// The decay `gamma lambda` of the trace.
    pub fn decay(&self) -> f64 {
        self.problem.discount() * self.lambda
    }

    /// `A_l`.
    pub fn a(&self) -> &Matrix {
        &self.a
    }

    /// `b_l`.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// The fixed point `theta*_l`.
    pub fn theta_star(&self) -> &[f64] {
        &self.theta_star
    }

    /// The discount `kappa_l` that TD(lambda) sees.
    pub fn kappa(&self) -> f64 {
        self.problem.discount() * (1.0 - self.lambda) / (1.0 - self.decay())
    }

    /// The chain `P_l` that TD(lambda) sees: a geometric number of steps of `P`. Dense, n x n.
    pub fn transition(&self) -> Matrix {
        let n = self.problem.states();
        let resolvent = self.problem.chain().resolvent(self.decay());
        let mut matrix = Matrix::zeros(n, n);
        for to in 0..n {
            let mut indicator = vec![0.0; n];
            indicator[to] = 1.0 - self.decay();
            let column = self
                .problem
                .chain()
                .transition()
                .times(&resolvent(&indicator));
            for (from, entry) in column.into_iter().enumerate() {
                matrix.row_mut(from)[to] = entry;
            }
        }
        matrix
    }

    /// The potential `f_l(theta)`.
    pub fn f(&self, theta: &[f64]) -> f64 {
        let error: Vec<f64> = theta
            .iter()
            .zip(&self.theta_star)
            .map(|(x, y)| x - y)
            .collect();
        self.a.quadratic(&error)
    }

    /// The stationary mean of the update, `b_l - A_l theta`.
    pub fn mean_update(&self, theta: &[f64]) -> Vec<f64> {
        let image = self.a.times(theta);
        self.b.iter().zip(image).map(|(b, x)| b - x).collect()
    }

    /// The bias distances `dl(0..)` from the mixing distances `d(0..)`.
    pub fn bias_distances(&self, distances: &[f64]) -> Vec<f64> {
        let mut last = 1.0 / (1.0 - self.decay());
        let mut next = |&distance: &f64| {
            last = distance + self.decay() * last;
            last
        };
        distances.iter().map(&mut next).collect()
    }

    /// The largest `|delta(theta; s,s')|` over possible transitions.
    pub fn largest_td_error(&self, theta: &[f64]) -> f64 {
        let (problem, values) = (self.problem, self.problem.values(theta));
        let error = |from: usize, to: usize| problem.discount() * values[to] - values[from];
        let errors = problem
            .edges()
            .map(|e| (e.reward + error(e.from, e.to)).abs());
        errors.fold(0.0, f64::max)
    }

    /// The inputs of certificate Y, for the step sizes `eta_t / (1 - gamma lambda)` in place of `eta_t`.
    pub fn inputs(&self, mixing: &Mixing, horizon: u64) -> Inputs {
        let phi_inf = self.problem.phi_inf();
        // dl decays at the slower rate of the chain and the trace.
        let lags = max_lag(horizon, mixing.lambda2().max(self.decay()));
        let distances = self.bias_distances(&mixing.distances(lags as usize));
        Inputs {
            phi_inf,
            r_inf: self.problem.r_inf(),
            discount: self.problem.discount(),
            distance: dot(&self.theta_star, &self.theta_star).sqrt(),
            update_at_solution: phi_inf * self.largest_td_error(&self.theta_star),
            update_at_start: phi_inf * self.problem.r_inf(),
            distances: distances.iter().map(|d| (1.0 - self.decay()) * d).collect(),
        }
    }

    /// Certificate Y for TD(lambda) with `T >= 3` steps `(1 - gamma lambda) / (c phi_inf^2 log T log(t+3) sqrt(t+1))`; its bound is on
    /// `E f_l(avg_T)`.
    pub fn certify(&self, mixing: &Mixing, horizon: u64, c: f64) -> Certificate {
        let inputs = self.inputs(mixing, horizon);
        let mut profile = self.profile(&inputs, horizon);
        let certificate = centred::certify(&inputs, &mut profile, c);
        Certificate {
            bound: certificate.bound.map(|bound| bound / (1.0 - self.decay())),
            ..certificate
        }
    }

    /// The `c` with the smallest certificate; `None` when none is certified.
    pub fn recommend(&self, mixing: &Mixing, horizon: u64) -> Option<Recommendation> {
        let inputs = self.inputs(mixing, horizon);
        let best = recommend(&inputs, &mut self.profile(&inputs, horizon))?;
        Some(Recommendation {
            bound: best.bound / (1.0 - self.decay()),
            ..best
        })
    }

    fn profile(&self, inputs: &Inputs, horizon: u64) -> StepProfile<impl Fn(u64) -> f64 + use<>> {
        let steps = unit_steps(inputs.phi_inf, horizon);
        StepProfile::new(steps, horizon, &inputs.distances)
    }
}
