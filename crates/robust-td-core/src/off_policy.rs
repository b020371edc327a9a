//! Defines off-policy evaluation problems, on which TD(0) can diverge.
//!
//! The learner observes a behaviour chain and estimates the values of a target chain on the same states.
//! Every transition carries the importance ratio
//!
//! ```text
//! rho(s,s') = P_target(s,s') / P_behaviour(s,s')
//! ```
//!
//! With `mu` the stationary distribution of the behaviour chain, `D = diag(mu)`, `Sigma = Phi' D Phi` and
//! `A = Phi' D (I - gamma P_target) Phi`, the mean updates of the methods are
//!
//! ```text
//! TD(0)  b - A theta                                      b = Phi' D rbar
//! GTD2   A' w,                           and for w:       b - A theta - Sigma w
//! TDC    b - A theta - (Sigma - A)' w,   and for w:       b - A theta - Sigma w
//! ETD(0) Phi' F (rbar - (I - gamma P_target) Phi theta)   F = diag((I - gamma P_target')^{-1} mu)
//! ```
//!
//! `A` need not be positive definite, and TD(0) then diverges; the others do not. The features may be
//! linearly dependent, so this is not a [`Problem`](crate::Problem): theta is not unique, the values are.
//!
//! Learners start at theta = 0. A problem with another published start `theta_0` is stated in the coordinates
//! `theta - theta_0`: its rewards are the TD errors at `theta_0`, and nothing else changes.

use crate::check::check_discount;
use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::linalg;
use crate::matrix::{Matrix, SparseMatrix, dot};
use crate::model::chain::{Chain, require_stochastic};
use crate::model::reward::Reward;
use crate::model::simulate::Sampler;
use crate::phi::{Features, Transition};
use crate::random::Stream;

/// An off-policy evaluation problem.
#[derive(Debug, Clone)]
pub struct OffPolicyProblem {
    behaviour: Chain,
    target: Matrix,
    features: Matrix,
    /// r(s,s') + gamma phi(s').theta_0 - phi(s).theta_0.
    rewards: Matrix,
    /// Its mean over the target chain.
    mean_rewards: Vec<f64>,
    discount: f64,
    /// The true values minus Phi theta_0.
    missing: Vec<f64>,
    sampler: Sampler,
}

/// Baird's counterexample: seven states, eight features, discount 0.99, no rewards.
///
/// Source: L. Baird, "Residual algorithms", ICML 1995, in the form of Sutton and Barto, "Reinforcement Learning", 2nd
/// ed., section 11.2. The behaviour goes to each of the seven states with probability 1/7, the target always to the
/// seventh. State i <= 6 has the value `2 theta_i + theta_8`, state 7 `theta_7 + 2 theta_8`; the start is
/// `theta_0 = (1,1,1,1,1,1,10,1)`. All true values are 0 and can be represented, and still TD(0) diverges.
///
/// # Errors
/// Never for this problem; the type is that of [`OffPolicyProblem::new`].
pub fn baird() -> Result<OffPolicyProblem> {
    let everywhere = Matrix::from_fn(7, 7, |_, _| 1.0 / 7.0);
    let seventh = Matrix::from_fn(7, 7, |_, to| if to == 6 { 1.0 } else { 0.0 });
    let features = Matrix::from_fn(7, 8, |s, j| match (s, j) {
        (6, 6) => 1.0,
        (6, 7) => 2.0,
        (_, 7) => 1.0,
        _ if s == j => 2.0,
        _ => 0.0,
    });
    let origin = vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 10.0, 1.0];
    let no_reward = Reward::PerState(vec![0.0; 7]);
    OffPolicyProblem::new(&everywhere, seventh, features, &no_reward, 0.99, &origin)
}

impl OffPolicyProblem {
    /// A problem from its two chains; `origin` is `theta_0`.
    ///
    /// # Errors
    /// Shapes that do not match, a behaviour chain that is not irreducible and aperiodic, a target that is
    /// not stochastic or takes transitions that the behaviour never takes, numbers that are not finite, or a
    /// discount outside [0, 1).
    pub fn new(
        behaviour: &Matrix,
        target: Matrix,
        features: Matrix,
        reward: &Reward,
        discount: f64,
        origin: &[f64],
    ) -> Result<Self> {
        let behaviour = Chain::from_dense(behaviour)?;
        let n = behaviour.states();
        check_discount(discount)?;
        for (what, matrix, columns) in [
            ("target", &target, n),
            ("features", &features, origin.len()),
        ] {
            if matrix.rows() != n || matrix.columns() != columns || columns == 0 {
                return Err(Error::Shape {
                    what,
                    rows: matrix.rows(),
                    columns: matrix.columns(),
                    expected: format!("{n} x {columns}"),
                });
            }
            matrix.require_finite(what)?;
        }
        require_stochastic("target", &SparseMatrix::from_dense(&target))?;
        reward.require_valid("reward", n)?;
        let values = features.times(origin);
        let rewards = Matrix::from_fn(n, n, |s, to| {
            reward.get(s, to) + discount * values[to] - values[s]
        });
        for s in 0..n {
            for to in 0..n {
                let value = target.get(s, to);
                if value > 0.0 && behaviour.transition().get(s, to) == 0.0 {
                    return Err(Error::Parameter {
                        name: "target",
                        value,
                        expected: "0 where the behaviour probability is 0",
                    });
                }
            }
        }
        let mean_rewards: Vec<f64> = (0..n).map(|s| dot(target.row(s), rewards.row(s))).collect();
        let ahead = Matrix::from_fn(n, n, |s, to| unit(s, to) - discount * target.get(s, to));
        Ok(Self {
            missing: linalg::solve(&ahead, &mean_rewards),
            sampler: Sampler::of_chain(&behaviour),
            behaviour,
            target,
            features,
            rewards,
            mean_rewards,
            discount,
        })
    }

    /// The discount `gamma`.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The features, n x d.
    pub fn features(&self) -> &Matrix {
        &self.features
    }

    /// The behaviour chain.
    pub fn behaviour(&self) -> &Chain {
        &self.behaviour
    }

    /// One transition, with its importance ratio, as a learner at `theta - theta_0` sees it.
    pub fn transition(&self, from: usize, to: usize) -> Transition<'_> {
        let phi = |s| Features::Dense(self.features.row(s));
        let ratio = self.target.get(from, to) / self.behaviour.transition().get(from, to);
        Transition::new(phi(from), self.rewards.get(from, to), phi(to)).with_ratio(ratio)
    }

    /// Feeds a learner the next transitions of the behaviour chain and returns the state it stops in.
    pub fn feed(
        &self,
        learner: &mut dyn Learner,
        mut state: usize,
        steps: u64,
        stream: &mut Stream,
    ) -> usize {
        for _ in 0..steps {
            let next = self.sampler.successor(state, stream.uniform());
            learner.step(&self.transition(state, next));
            state = next;
        }
        state
    }

    /// The value error `sqrt( sum_s mu(s) (V_theta(s) - V(s))^2 )` for a learner's `theta - theta_0`.
    pub fn value_error(&self, moved: &[f64]) -> f64 {
        let values = self.features.times(moved);
        let squares = values
            .iter()
            .zip(&self.missing)
            .map(|(v, m)| (v - m).powi(2));
        let weights = self.behaviour.stationary();
        weights
            .iter()
            .zip(squares)
            .map(|(p, sq)| p * sq)
            .sum::<f64>()
            .sqrt()
    }

    /// The mean update of TD(0), `b - A theta`.
    pub fn td_mean(&self, theta: &[f64]) -> Vec<f64> {
        self.project(self.behaviour.stationary(), &self.mean_td_errors(theta))
    }

    /// The mean updates of GTD2, of theta and of w.
    pub fn gtd2_mean(&self, theta: &[f64], w: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (ahead, w_mean) = (self.correction(w), self.w_mean(theta, w));
        let here = self.project(self.behaviour.stationary(), &self.features.times(w));
        (
            here.iter().zip(&ahead).map(|(x, y)| x - y).collect(),
            w_mean,
        )
    }

    /// The mean updates of TDC, of theta and of w.
    pub fn tdc_mean(&self, theta: &[f64], w: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (ahead, w_mean) = (self.correction(w), self.w_mean(theta, w));
        let td = self.td_mean(theta);
        (td.iter().zip(&ahead).map(|(x, y)| x - y).collect(), w_mean)
    }

    /// The mean update of emphatic TD(0).
    pub fn etd_mean(&self, theta: &[f64]) -> Vec<f64> {
        self.project(&self.emphasis(), &self.mean_td_errors(theta))
    }

    /// The emphasis `(I - gamma P_target')^{-1} mu` of each state, its stationary weight times its expected F.
    pub fn emphasis(&self) -> Vec<f64> {
        let n = self.target.rows();
        let transposed = Matrix::from_fn(n, n, |i, j| {
            unit(i, j) - self.discount * self.target.get(j, i)
        });
        linalg::solve(&transposed, self.behaviour.stationary())
    }

    /// The TD error at each state, averaged over the target's next states.
    fn mean_td_errors(&self, theta: &[f64]) -> Vec<f64> {
        let values = self.features.times(theta);
        let onward = self.target.times(&values);
        (0..values.len())
            .map(|s| self.mean_rewards[s] + self.discount * onward[s] - values[s])
            .collect()
    }

    /// `Phi' diag(weights) x`.
    fn project(&self, weights: &[f64], x: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.features.columns()];
        for (s, (weight, x)) in weights.iter().zip(x).enumerate() {
            Features::Dense(self.features.row(s)).axpy(weight * x, &mut sum);
        }
        sum
    }

    /// `gamma E[rho phi(s') phi(s)'] w = (Sigma - A)' w`.
    fn correction(&self, w: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; w.len()];
        for (s, p) in self.behaviour.stationary().iter().enumerate() {
            let weight = self.discount * p * dot(self.features.row(s), w);
            for (to, q) in self.target.row(s).iter().enumerate() {
                Features::Dense(self.features.row(to)).axpy(weight * q, &mut sum);
            }
        }
        sum
    }

    /// The mean update of w, `b - A theta - Sigma w`.
    fn w_mean(&self, theta: &[f64], w: &[f64]) -> Vec<f64> {
        let predicted = self.features.times(w);
        let errors = self.mean_td_errors(theta);
        let surprise: Vec<f64> = errors.iter().zip(&predicted).map(|(x, y)| x - y).collect();
        self.project(self.behaviour.stationary(), &surprise)
    }
}

/// The entries of the identity.
fn unit(i: usize, j: usize) -> f64 {
    if i == j { 1.0 } else { 0.0 }
}
