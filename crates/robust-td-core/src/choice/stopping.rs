//! Combines a problem with stopping rewards into an optimal-stopping problem with its exact solution.
//!
//! # Reference
//! Tsitsiklis & Van Roy, "Optimal stopping of Markov processes", IEEE TAC 44 (1999); Bhandari, Russo & Singal,
//! arXiv:1806.02450, on optimal stopping.
//!
//! Continuing from s to s' earns `u(s,s')`, the reward of the underlying [`Problem`]; stopping at s earns
//! `U(s)` and ends the episode. `Q_theta(s) = phi(s).theta` approximates the value of continuing, and
//!
//! ```text
//! g(theta; s,s') = ( u(s,s') + gamma max{ U(s'), phi(s').theta } - phi(s).theta ) phi(s),    gbar = its stationary mean
//! <gbar(theta), theta - theta*> <= -(1-gamma) |Q_theta - Q_theta*|_D^2
//! ```
//!
//! so Algorithm 1 converges without projections, and certificate Y applies with `u_inf + gamma U_inf` in place of `r_inf`.

use crate::choice::projected::{self, Next, Piece};
use crate::error::{Error, Result};
use crate::matrix::{dot, norm_sq};
use crate::model::basis::Basis;
use crate::model::mixing::Mixing;
use crate::model::problem::Problem;
use crate::model::simulate::Sampler;
use crate::phi::{Features, Outcome, Transition};
use crate::random::Stream;
use crate::theory::certificate::{Certificate, Inputs, centred};
use crate::theory::certify::{max_lag, unit_steps};
use crate::theory::step_sums::StepProfile;

/// An optimal-stopping problem with linear features.
#[derive(Debug, Clone, PartialEq)]
pub struct StoppingProblem {
    problem: Problem,
    stop_rewards: Vec<f64>,
    theta_star: Vec<f64>,
}

impl StoppingProblem {
    /// A problem whose reward is for continuing, with the reward `U(s)` for stopping at each state.
    ///
    /// # Errors
    /// When there is not one finite stopping reward per state, or no fixed point is found.
    pub fn new(problem: Problem, stop_rewards: Vec<f64>) -> Result<Self> {
        let (what, states) = ("stop rewards", problem.states());
        if stop_rewards.len() != states {
            return Err(Error::Length {
                what,
                expected: states,
                found: stop_rewards.len(),
            });
        }
        if let Some(row) = stop_rewards.iter().position(|value| !value.is_finite()) {
            let (column, value) = (0, stop_rewards[row]);
            return Err(Error::NotFinite {
                what,
                row,
                column,
                value,
            });
        }
        let theta_star = fixed_point(&problem, &stop_rewards)?;
        Ok(Self {
            problem,
            stop_rewards,
            theta_star,
        })
    }

    /// The chain, features and discount, with the reward of continuing.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// `U`, the rewards for stopping.
    #[must_use]
    pub fn stop_rewards(&self) -> &[f64] {
        &self.stop_rewards
    }

    /// The fixed point: `gbar(theta*) = 0`.
    #[must_use]
    pub fn theta_star(&self) -> &[f64] {
        &self.theta_star
    }

    /// `u_inf + gamma U_inf`, which bounds an update at theta = 0, as `r_inf` does without stopping.
    #[must_use]
    pub fn reward_bound(&self) -> f64 {
        let largest = self.stop_rewards.iter().map(|x| x.abs());
        self.problem.r_inf() + self.problem.discount() * largest.fold(0.0, f64::max)
    }

    /// The approximate values of continuing, `Q_theta = Phi theta`.
    #[must_use]
    pub fn values(&self, theta: &[f64]) -> Vec<f64> {
        self.problem.values(theta)
    }

    /// The greedy rule: whether to stop at each state, `U(s) >= Q_theta(s)`.
    #[must_use]
    pub fn stops(&self, theta: &[f64]) -> Vec<bool> {
        let values = self.values(theta);
        let pairs = self.stop_rewards.iter().zip(&values);
        pairs.map(|(stop, go_on)| stop >= go_on).collect()
    }

    /// The squared distance of the values from the solution, `|Q_theta - Q_theta*|_D^2`.
    #[must_use]
    pub fn error_sq(&self, theta: &[f64]) -> f64 {
        let error: Vec<f64> = theta
            .iter()
            .zip(&self.theta_star)
            .map(|(x, y)| x - y)
            .collect();
        self.problem.d_norm_sq(&self.problem.values(&error))
    }

    /// The direction `g(theta; s,s')` of one observed transition.
    #[must_use]
    pub fn update(&self, theta: &[f64], from: usize, to: usize) -> Vec<f64> {
        let transition = self.transition(from, to);
        let delta = transition.td_error(theta, self.problem.discount());
        self.problem.phi(from).iter().map(|x| delta * x).collect()
    }

    /// The stationary mean direction `gbar(theta)`.
    #[must_use]
    pub fn mean_update(&self, theta: &[f64]) -> Vec<f64> {
        let problem = &self.problem;
        let values = self.values(theta);
        let best: Vec<f64> = self
            .stop_rewards
            .iter()
            .zip(&values)
            .map(|(u, q)| u.max(*q))
            .collect();
        let onward = problem.chain().transition().times(&best);
        let mut mean = vec![0.0; problem.dimension()];
        for (s, &weight) in problem.stationary().iter().enumerate() {
            let delta = problem.mean_rewards()[s] + problem.discount() * onward[s] - values[s];
            for (mean, x) in mean.iter_mut().zip(problem.phi(s)) {
                *mean += weight * delta * x;
            }
        }
        mean
    }

    /// The largest `|g(theta; s,s')|` over possible transitions.
    #[must_use]
    pub fn largest_update(&self, theta: &[f64]) -> f64 {
        let sizes = self.problem.edges().map(|edge| {
            let delta = self
                .transition(edge.from, edge.to)
                .td_error(theta, self.problem.discount());
            delta.abs() * norm_sq(self.problem.phi(edge.from)).sqrt()
        });
        sizes.fold(0.0, f64::max)
    }

    /// One transition, in the form a learner takes.
    #[must_use]
    pub fn transition(&self, from: usize, to: usize) -> Transition<'_> {
        let phi = |state| Features::Dense(self.problem.phi(state));
        let outcome = Outcome::Stoppable {
            next: phi(to),
            stop_reward: self.stop_rewards[to],
        };
        Transition::new(phi(from), self.problem.reward(from, to), outcome)
    }

    /// The transitions of one run that never stops, from the start state.
    pub fn walk<'a>(
        &'a self,
        stream: &'a mut Stream,
    ) -> impl Iterator<Item = Transition<'a>> + use<'a> {
        let sampler = Sampler::new(&self.problem);
        let mut state = self.problem.start();
        std::iter::repeat_with(move || {
            let to = sampler.successor(state, stream.uniform());
            let from = std::mem::replace(&mut state, to);
            self.transition(from, to)
        })
    }

    /// Certificate Y for Algorithm 1 with horizon T >= 3 and a constant c > 0.
    ///
    /// Its `bound` is on `E|Q_avg - Q_theta*|_D^2`: the recursion bounds `E<-gbar(theta), theta - theta*>`,
    /// averaged over the iterates with weights eta. That average is at least `1 - gamma` times the squared distance,
    /// which is convex.
    ///
    /// # Errors
    /// When the horizon or c is out of range.
    pub fn certificate(&self, mixing: &Mixing, horizon: u64, c: f64) -> Result<Certificate> {
        let problem = &self.problem;
        crate::schedule::RobustDecay::new(horizon, c, problem.phi_inf())?;
        let lags = max_lag(horizon, mixing.lambda2());
        let inputs = Inputs {
            phi_inf: problem.phi_inf(),
            r_inf: self.reward_bound(),
            discount: problem.discount(),
            distance: norm_sq(&self.theta_star).sqrt(),
            update_at_solution: self.largest_update(&self.theta_star),
            update_at_start: self.largest_update(&vec![0.0; problem.dimension()]),
            distances: mixing.distances(lags as usize),
        };
        let steps = unit_steps(inputs.phi_inf, horizon);
        let mut unit = StepProfile::new(steps, horizon, &inputs.distances);
        let mut certificate = centred::certify(&inputs, &mut unit, c);
        certificate.bound = certificate.bound.map(|f| f / (1.0 - problem.discount()));
        Ok(certificate)
    }
}

/// The fixed point of `Q -> Proj_D (u + gamma P max{U, Q})`, a gamma-contraction in the D-norm.
fn fixed_point(problem: &Problem, stop_rewards: &[f64]) -> Result<Vec<f64>> {
    let (pi, transition) = (problem.stationary(), problem.chain().transition());
    let Basis {
        functions, from, ..
    } = Basis::new(problem.features(), pi)?;
    let sigma = projected::gram(&functions, pi);
    let beta = projected::fixed_point(&sigma, |beta| {
        let mut piece = Piece::empty(beta.len());
        let next: Vec<Next<'_>> = (0..problem.states())
            .map(|s| match stop_rewards[s] >= dot(functions.row(s), beta) {
                true => Next::Value(stop_rewards[s]),
                false => Next::Functions(functions.row(s)),
            })
            .collect();
        for (s, &weight) in pi.iter().enumerate() {
            piece.add_reward(weight, functions.row(s), problem.mean_rewards()[s]);
            for (to, probability) in transition.entries(s) {
                let weight = weight * problem.discount() * probability;
                piece.add_next(weight, functions.row(s), &next[to]);
            }
        }
        piece
    })?;
    Ok(from.times(&beta))
}
