//! Combines a decision process, a behaviour policy and features of state-action pairs into a Q-learning
//! problem.
//!
//! # Reference
//! Melo, Meyn & Ribeiro, "An analysis of reinforcement learning with function approximation", ICML 2008; Chen, Zhang, Doan,
//! Clarke & Maguluri, "Finite-sample analysis of nonlinear stochastic approximation with applications in reinforcement
//! learning", Automatica 146 (2022), arXiv:1905.11425.
//!
//! With mu the stationary distribution of the states under the behaviour policy b, and all means over
//! `s ~ mu, a ~ b(.|s), s' ~ P_a(s,.)`,
//!
//! ```text
//! g(theta; s,a,s') = ( r + gamma max_a' phi(s',a').theta - phi(s,a).theta ) phi(s,a),     gbar(theta) = E g(theta; s,a,s')
//! d_q = min over |theta| = 1 of  E (phi(s,a).theta)^2 - gamma^2 E max_a' (phi(s,a').theta)^2
//! <gbar(theta) - gbar(theta'), theta - theta'> <= -(d_q/2) |theta - theta'|^2
//! ```
//!
//! Where `d_q > 0` there is one fixed point and Q-learning converges to it; otherwise it may diverge.

use crate::choice::projected::{self, Next, Piece};
use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::{Matrix, dot};
use crate::model::basis::Basis;
use crate::model::mdp::Mdp;
use crate::phi::{Features, Outcome, Transition};
use crate::random::Stream;

/// The maximum number of maps from states to actions over which `d_q` is minimised.
pub const MAX_MAPS: u64 = 1 << 20;

/// A decision process under a behaviour policy, with features of state-action pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlProblem {
    mdp: Mdp,
    behaviour: Matrix,
    /// One row per pair: row `s * actions + a` is `phi(s, a)`.
    features: Matrix,
    discount: f64,
    start: usize,
    /// mu.
    stationary: Vec<f64>,
    /// `mu(s) b(a|s)`, by pair.
    weights: Vec<f64>,
    /// `rbar(s, a)`, by pair.
    mean_rewards: Vec<f64>,
}

impl ControlProblem {
    /// A problem from its parts: `behaviour` is states x actions, row `s * actions + a` of `features` belongs
    /// to (s, a).
    ///
    /// # Errors
    /// Those of [`Mdp::under`], shapes that do not match, numbers that are not finite, a discount outside
    /// [0, 1), an invalid start state, or features that are linearly dependent under the behaviour.
    pub fn new(
        mdp: Mdp,
        behaviour: Matrix,
        features: Matrix,
        discount: f64,
        start: usize,
    ) -> Result<Self> {
        let (chain, _) = mdp.under(&behaviour)?;
        let (states, actions) = (mdp.states(), mdp.actions());
        if !(0.0..1.0).contains(&discount) {
            return Err(Error::Discount { value: discount });
        }
        if start >= states {
            return Err(Error::Start { start, states });
        }
        if features.rows() != states * actions || features.columns() == 0 {
            return Err(Error::Shape {
                what: "features",
                rows: features.rows(),
                columns: features.columns(),
                expected: format!(
                    "{} x d with d >= 1 (states times actions)",
                    states * actions
                ),
            });
        }
        features.require_finite("features")?;
        let stationary = chain.stationary().to_vec();
        let pairs = || (0..states).flat_map(|s| (0..actions).map(move |a| (s, a)));
        let weights: Vec<f64> = pairs()
            .map(|(s, a)| stationary[s] * behaviour.get(s, a))
            .collect();
        Basis::new(&features, &weights)?;
        let mean_rewards = pairs()
            .map(|(s, a)| {
                let successors = mdp.transition(a).entries(s);
                successors.map(|(to, p)| p * mdp.reward(a, s, to)).sum()
            })
            .collect();
        Ok(Self {
            mdp,
            behaviour,
            features,
            discount,
            start,
            stationary,
            weights,
            mean_rewards,
        })
    }

    /// The decision process.
    #[must_use]
    pub fn mdp(&self) -> &Mdp {
        &self.mdp
    }

    /// Number of features d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.features.columns()
    }

    /// The discount gamma.
    #[must_use]
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// mu, the stationary distribution of the states under the behaviour policy.
    #[must_use]
    pub fn stationary(&self) -> &[f64] {
        &self.stationary
    }

    /// `phi(s, a)`.
    #[must_use]
    pub fn phi(&self, state: usize, action: usize) -> &[f64] {
        self.features.row(state * self.mdp.actions() + action)
    }

    /// `phi_inf`, the largest `|phi(s, a)|`.
    #[must_use]
    pub fn phi_inf(&self) -> f64 {
        let squares =
            (0..self.features.rows()).map(|i| dot(self.features.row(i), self.features.row(i)));
        squares.fold(0.0, f64::max).sqrt()
    }

    /// `Q_theta(s, a) = phi(s, a).theta` as a states x actions matrix.
    #[must_use]
    pub fn values(&self, theta: &[f64]) -> Matrix {
        Matrix::from_fn(self.mdp.states(), self.mdp.actions(), |s, a| {
            dot(self.phi(s, a), theta)
        })
    }

    /// The greedy policy: the action with the largest value at each state, the first of ties.
    #[must_use]
    pub fn greedy(&self, theta: &[f64]) -> Vec<usize> {
        greedy(&self.features, self.mdp.actions(), theta)
    }

    /// The stationary mean direction `gbar(theta)`.
    #[must_use]
    pub fn mean_update(&self, theta: &[f64]) -> Vec<f64> {
        let values = self.values(theta);
        let best: Vec<f64> = self
            .greedy(theta)
            .iter()
            .enumerate()
            .map(|(s, &a)| values.get(s, a))
            .collect();
        let mut mean = vec![0.0; theta.len()];
        for (s, a, pair) in self.pairs() {
            let successors = self.mdp.transition(a).entries(s);
            let onward: f64 = successors.map(|(to, p)| p * best[to]).sum();
            let delta = self.mean_rewards[pair] + self.discount * onward - values.get(s, a);
            for (mean, x) in mean.iter_mut().zip(self.features.row(pair)) {
                *mean += self.weights[pair] * delta * x;
            }
        }
        mean
    }

    /// `Fq(theta) = <-gbar(theta), theta - theta*>`, which vanishes at the fixed point; not convex.
    #[must_use]
    pub fn potential(&self, theta: &[f64], theta_star: &[f64]) -> f64 {
        let mean = self.mean_update(theta);
        let error = theta.iter().zip(theta_star).map(|(x, y)| x - y);
        mean.iter().zip(error).map(|(g, e)| -g * e).sum()
    }

    /// `d_q`, by enumeration: the smallest over maps sigma from states to actions of
    /// `lambda_min( E phi phi' - gamma^2 sum_s mu(s) phi(s,sigma(s)) phi(s,sigma(s))' )`.
    ///
    /// # Errors
    /// When there are more than [`MAX_MAPS`] maps.
    pub fn curvature(&self) -> Result<f64> {
        let (states, actions) = (self.mdp.states(), self.mdp.actions());
        let maps = u32::try_from(states)
            .ok()
            .and_then(|n| (actions as u64).checked_pow(n));
        if maps.is_none_or(|maps| maps > MAX_MAPS) {
            return Err(Error::TooManyMaps {
                states,
                actions,
                limit: MAX_MAPS,
            });
        }
        let mut smallest = f64::INFINITY;
        self.minimise(
            0,
            projected::gram(&self.features, &self.weights),
            &mut smallest,
        )?;
        Ok(smallest)
    }

    /// Tries all actions at the states from `state` on; earlier states are already subtracted from the
    /// matrix.
    fn minimise(&self, state: usize, matrix: Matrix, smallest: &mut f64) -> Result<()> {
        if state == self.mdp.states() {
            *smallest = smallest.min(linalg::smallest_eigenvalue(&matrix)?);
            return Ok(());
        }
        let weight = self.discount * self.discount * self.stationary[state];
        for action in 0..self.mdp.actions() {
            let phi = self.phi(state, action);
            let mut rest = matrix.clone();
            for (i, x) in phi.iter().enumerate() {
                for (entry, y) in rest.row_mut(i).iter_mut().zip(phi) {
                    *entry -= weight * (x * y);
                }
            }
            self.minimise(state + 1, rest, smallest)?;
        }
        Ok(())
    }

    /// A fixed point, `gbar(theta*) = 0`; the only one where `d_q > 0`.
    ///
    /// Projected value iteration contracts in the norm of `E phi phi'` where `d_q > 0`, and in the maximum norm where each pair
    /// has its own feature.
    ///
    /// # Errors
    /// When none is found, which can happen only if `d_q <= 0`.
    pub fn fixed_point(&self) -> Result<Vec<f64>> {
        let from = Basis::new(&self.features, &self.weights)?.from;
        // Basis functions of actions never taken may be meaningless, but the coordinates are well defined.
        let functions = linalg::product(&self.features, &from);
        let actions = self.mdp.actions();
        let sigma = projected::gram(&functions, &self.weights);
        let beta = projected::fixed_point(&sigma, |beta| {
            let mut piece = Piece::empty(beta.len());
            let best = greedy(&functions, actions, beta);
            for (s, a, pair) in self.pairs() {
                let (weight, here) = (self.weights[pair], functions.row(pair));
                piece.add_reward(weight, here, self.mean_rewards[pair]);
                for (to, probability) in self.mdp.transition(a).entries(s) {
                    let next = Next::Functions(functions.row(to * actions + best[to]));
                    piece.add_next(weight * self.discount * probability, here, &next);
                }
            }
            piece
        })?;
        Ok(from.times(&beta))
    }

    /// One transition by an action, in the form a learner takes.
    #[must_use]
    pub fn transition(&self, from: usize, action: usize, to: usize) -> Transition<'_> {
        let block = self.mdp.actions() * self.dimension();
        let choices = &self.features.as_slice()[to * block..(to + 1) * block];
        Transition::new(
            Features::Dense(self.phi(from, action)),
            self.mdp.reward(action, from, to),
            Outcome::Choices(choices),
        )
    }

    /// The transitions of one run of the behaviour policy from the start state.
    pub fn walk<'a>(
        &'a self,
        stream: &'a mut Stream,
    ) -> impl Iterator<Item = Transition<'a>> + use<'a> {
        let mut state = self.start;
        std::iter::repeat_with(move || {
            let chances = self.behaviour.row(state).iter().copied().enumerate();
            let action = draw(chances, stream.uniform());
            let to = draw(self.mdp.transition(action).entries(state), stream.uniform());
            let from = std::mem::replace(&mut state, to);
            self.transition(from, action, to)
        })
    }

    /// All pairs (s, a) with their row.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let actions = self.mdp.actions();
        (0..self.weights.len()).map(move |pair| (pair / actions, pair % actions, pair))
    }
}

/// The first outcome whose cumulative probability exceeds a uniform draw; if rounding leaves none, the last possible one.
fn draw(chances: impl Iterator<Item = (usize, f64)>, uniform: f64) -> usize {
    let (mut sum, mut drawn) = (0.0, 0);
    for (outcome, probability) in chances {
        if probability > 0.0 {
            drawn = outcome;
            sum += probability;
            if uniform < sum {
                break;
            }
        }
    }
    drawn
}

/// The action with the largest value at each state, given the feature rows of all pairs.
fn greedy(rows: &Matrix, actions: usize, theta: &[f64]) -> Vec<usize> {
    (0..rows.rows() / actions)
        .map(|s| {
            let value = |a: usize| dot(rows.row(s * actions + a), theta);
            (1..actions).fold(0, |best, a| if value(a) > value(best) { a } else { best })
        })
        .collect()
}
