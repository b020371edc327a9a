//! Combines a chain, features, a reward and a discount into a policy-evaluation problem with its exact
//! solution.

use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::{Matrix, dot, norm_sq};
use crate::model::chain::Chain;

use crate::model::basis::Basis;
pub use crate::model::reward::Reward;

/// Feature norms whose fourth powers, used in the theory, stay well inside the range of f64.
const FEATURE_RANGE: std::ops::RangeInclusive<f64> = 1e-70..=1e70;

/// A Markov reward process with linear features, with every quantity that the paper defines for it.
///
/// | symbol | method | meaning |
/// |---|---|---|
/// | `pi`, `D` | [`stationary`](Self::stationary) | stationary distribution, `D = diag(pi)` |
/// | `Sigma` | [`sigma`](Self::sigma) | `Phi' D Phi` |
/// | `omega`, `kappa` | [`omega`](Self::omega), [`kappa`](Self::kappa) | smallest eigenvalue and condition number of `Sigma` |
/// | `A` | [`a`](Self::a) | `Phi' D (I - gamma P) Phi` |
/// | `c` | [`c_vector`](Self::c_vector) | `Phi' D rbar`, `rbar(s) = sum_s' P(s,s') r(s,s')` |
/// | `theta*` | [`theta_star`](Self::theta_star) | the TD fixed point `A^{-1} c` |
/// | `V_mu` | [`true_values`](Self::true_values) | `(I - gamma P)^{-1} rbar` |
/// | `f` | [`f`](Self::f) | `(1-gamma) \|V_theta - V_theta*\|_D^2 + gamma \|V_theta - V_theta*\|_Dir^2` |
/// | `g`, `gbar` | [`update`](Self::update), [`mean_update`](Self::mean_update) | TD(0) direction and its stationary mean |
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    chain: Chain,
    features: Matrix,
    /// Aligned with the stored entries of the transition matrix.
    rewards: Vec<f64>,
    discount: f64,
    start: usize,
    mean_rewards: Vec<f64>,
    phi_inf: f64,
    r_inf: f64,
    r_max: f64,
    sigma: Matrix,
    omega: f64,
    kappa: f64,
    a: Matrix,
    c_vector: Vec<f64>,
    theta_star: Vec<f64>,
    f_zero: f64,
    /// From theta to the coordinates in a well-conditioned basis, and A there.
    coordinates: Matrix,
    potential: Matrix,
}

/// One possible transition of a problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The state it leaves.
    pub from: usize,
    /// The state it enters.
    pub to: usize,
    /// `P(from, to)`.
    pub probability: f64,
    /// `r(from, to)`.
    pub reward: f64,
}

impl Problem {
    /// A problem from its parts; `features` has one row per state.
    ///
    /// # Errors
    /// Shapes that do not match, numbers that are not finite, a discount outside [0, 1), an invalid start
    /// state, or features whose numerical rank is below their dimension.
    pub fn new(
        chain: Chain,
        features: Matrix,
        reward: Reward,
        discount: f64,
        start: usize,
    ) -> Result<Self> {
        let states = chain.states();
        if !(0.0..1.0).contains(&discount) {
            return Err(Error::Discount { value: discount });
        }
        if start >= states {
            return Err(Error::Start { start, states });
        }
        if features.rows() != states || features.columns() == 0 {
            return Err(Error::Shape {
                what: "features",
                rows: features.rows(),
                columns: features.columns(),
                expected: format!("{states} x d with d >= 1"),
            });
        }
        features.require_finite("features")?;
        let phi_inf = largest_norm(&features);
        if !(phi_inf.is_finite() && (phi_inf == 0.0 || FEATURE_RANGE.contains(&phi_inf))) {
            return Err(Error::FeatureRange { phi_inf });
        }
        let basis = Basis::new(&features, chain.stationary())?;
        reward.require_valid("reward", states)?;
        let rewards = reward.along(chain.transition());
        let r_max = reward.largest();

        let transition = chain.transition();
        let mean_rewards = (0..states)
            .map(|s| dot(transition.row(s).1, &rewards[transition.range(s)]))
            .collect::<Vec<f64>>();
        let (sigma, a, c_vector) = moments(&chain, &features, &mean_rewards, discount);
        let (omega, kappa) = curvature(&chain, &features)?;
        // This basis makes the fixed point well conditioned even when the features are not.
        let (_, potential, target) = moments(&chain, &basis.functions, &mean_rewards, discount);
        let solution = linalg::solve(&potential, &target);
        let theta_star = basis.from.times(&solution);
        let theta_star_norm = norm_sq(&theta_star).sqrt();
        if !(omega > 0.0 && omega.is_finite() && theta_star_norm.is_finite()) {
            return Err(Error::SolutionRange {
                omega,
                theta_star_norm,
            });
        }
        Ok(Self {
            phi_inf,
            r_inf: rewards.iter().fold(0.0, |largest, r| largest.max(r.abs())),
            r_max,
            chain,
            features,
            rewards,
            discount,
            start,
            mean_rewards,
            sigma,
            omega,
            kappa,
            a,
            c_vector,
            theta_star,
            f_zero: potential.quadratic(&solution),
            coordinates: basis.to,
            potential,
        })
    }

    /// The same chain, reward, discount and start with other features.
    pub fn with_features(&self, features: Matrix) -> Result<Self> {
        let reward = self.chain.transition().with_values(self.rewards.clone());
        let other = Self::new(
            self.chain.clone(),
            features,
            Reward::Sparse(reward),
            self.discount,
            self.start,
        )?;
        Ok(Self {
            r_max: self.r_max,
            ..other
        })
    }

    /// The same problem with every feature vector scaled to norm 1, so that `phi_inf = 1` is known without looking at the features.
    ///
    /// This is the normalisation that the paper mentions as a way to do without `phi_inf`. It scales each state by its own factor, so that
    /// the representable functions, and with them `theta*`, are others unless all feature vectors have the same norm.
    ///
    /// # Errors
    /// When a feature vector is zero, or the scaled features are linearly dependent.
    pub fn with_unit_features(&self) -> Result<Self> {
        let (rows, columns) = (self.states(), self.dimension());
        let norms: Vec<f64> = (0..rows).map(|s| norm_sq(self.phi(s)).sqrt()).collect();
        self.with_features(Matrix::from_fn(rows, columns, |s, i| {
            self.phi(s)[i] / norms[s]
        }))
    }

    /// Number of states `n`.
    pub fn states(&self) -> usize {
        self.chain.states()
    }

    /// Number of features `d`.
    pub fn dimension(&self) -> usize {
        self.features.columns()
    }

    /// The discount `gamma`.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The start state `s_0`.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The features `Phi`, n x d.
    pub fn features(&self) -> &Matrix {
        &self.features
    }

    /// The feature vector `phi(s)`.
    pub fn phi(&self, state: usize) -> &[f64] {
        self.features.row(state)
    }

    /// The reward `r(from, to)`; zero if `P(from, to) = 0`.
    pub fn reward(&self, from: usize, to: usize) -> f64 {
        let (columns, _) = self.chain.transition().row(from);
        let offset = self.chain.transition().range(from).start;
        columns
            .binary_search(&(to as u32))
            .map_or(0.0, |k| self.rewards[offset + k])
    }

    /// The rewards in the order of the stored entries of the transition matrix.
    pub fn rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// All transitions with positive probability, by state.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let transition = self.chain.transition();
        (0..self.states()).flat_map(move |from| {
            transition
                .entries(from)
                .zip(&self.rewards[transition.range(from)])
                .map(move |((to, probability), &reward)| Edge {
                    from,
                    to,
                    probability,
                    reward,
                })
        })
    }

    /// The stationary distribution `pi`.
    pub fn stationary(&self) -> &[f64] {
        self.chain.stationary()
    }

    /// The mean reward `rbar(s) = sum_s' P(s,s') r(s,s')`.
    pub fn mean_rewards(&self) -> &[f64] {
        &self.mean_rewards
    }

    /// `phi_inf = max_s |phi(s)|`.
    pub fn phi_inf(&self) -> f64 {
        self.phi_inf
    }

    /// `r_inf`, the largest `|r(s,s')|` over possible transitions.
    pub fn r_inf(&self) -> f64 {
        self.r_inf
    }

    /// The largest `|r(s,s')|` of the reward as given, which may include pairs that never occur; at least [`r_inf`](Self::r_inf).
    pub fn r_max(&self) -> f64 {
        self.r_max
    }

    /// `Sigma = Phi' D Phi`.
    pub fn sigma(&self) -> &Matrix {
        &self.sigma
    }

    /// `omega`, the smallest eigenvalue of `Sigma`: the curvature that robust rates do not depend on.
    pub fn omega(&self) -> f64 {
        self.omega
    }

    /// The condition number of `Sigma`.
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// `A = Phi' D (I - gamma P) Phi`, not symmetric.
    pub fn a(&self) -> &Matrix {
        &self.a
    }

    /// `c = Phi' D rbar`; not to be confused with the step size constant.
    pub fn c_vector(&self) -> &[f64] {
        &self.c_vector
    }

    /// The TD fixed point `theta* = A^{-1} c`.
    pub fn theta_star(&self) -> &[f64] {
        &self.theta_star
    }

    /// `|theta*|`, also the distance from the start `theta_0 = 0` to the solution.
    pub fn theta_star_norm(&self) -> f64 {
        norm_sq(&self.theta_star).sqrt()
    }

    /// The bound `|theta*| <= r_inf / (sqrt(omega) (1 - gamma))`, from `(1-gamma)|V*|_D^2 <= <V*, rbar>_D`.
    pub fn theta_star_norm_bound(&self) -> f64 {
        self.r_inf / (self.omega.sqrt() * (1.0 - self.discount))
    }

    /// The approximate values `V_theta = Phi theta`.
    pub fn values(&self, theta: &[f64]) -> Vec<f64> {
        self.features.times(theta)
    }

    /// The true values `V_mu = (I - gamma P)^{-1} rbar`.
    pub fn true_values(&self) -> Vec<f64> {
        self.chain
            .discounted_values(self.discount, &self.mean_rewards)
    }

    /// `theta - theta*`.
    pub fn error(&self, theta: &[f64]) -> Vec<f64> {
        theta
            .iter()
            .zip(&self.theta_star)
            .map(|(a, b)| a - b)
            .collect()
    }

    /// The potential `f(theta) = (theta - theta*)' A (theta - theta*)` (Liu and Olshevsky 2021).
    pub fn f(&self, theta: &[f64]) -> f64 {
        self.potential
            .quadratic(&self.coordinates.times(&self.error(theta)))
    }

    /// `f(0)`, the error of the initial iterate.
    pub fn f_zero(&self) -> f64 {
        self.f_zero
    }

    /// The squared norm `|x|_D^2 = sum_s pi(s) x(s)^2` of a function on the states.
    pub fn d_norm_sq(&self, x: &[f64]) -> f64 {
        self.stationary()
            .iter()
            .zip(x)
            .map(|(p, x)| p * x * x)
            .sum()
    }

    /// The squared Dirichlet seminorm `|x|_Dir^2 = 1/2 sum_{s,s'} pi(s) P(s,s') (x(s') - x(s))^2`.
    pub fn dirichlet_sq(&self, x: &[f64]) -> f64 {
        let transition = self.chain.transition();
        let mut sum = 0.0;
        for (s, &p) in self.stationary().iter().enumerate() {
            let spread: f64 = transition
                .entries(s)
                .map(|(to, q)| q * (x[to] - x[s]).powi(2))
                .sum();
            sum += p * spread;
        }
        0.5 * sum
    }

    /// The TD error `r(s,s') + gamma phi(s').theta - phi(s).theta`.
    pub fn td_error(&self, theta: &[f64], from: usize, to: usize) -> f64 {
        self.reward(from, to) + self.discount * dot(self.phi(to), theta)
            - dot(self.phi(from), theta)
    }

    /// The TD(0) direction `g(theta; s, s')`: the TD error times `phi(s)`.
    pub fn update(&self, theta: &[f64], from: usize, to: usize) -> Vec<f64> {
        let delta = self.td_error(theta, from, to);
        self.phi(from).iter().map(|x| delta * x).collect()
    }

    /// The stationary mean direction `gbar(theta) = c - A theta = -A (theta - theta*)`.
    pub fn mean_update(&self, theta: &[f64]) -> Vec<f64> {
        self.c_vector
            .iter()
            .zip(self.a.times(theta))
            .map(|(c, x)| c - x)
            .collect()
    }

    /// The mean direction from a state, `E[g(theta; s, s')] = sum_s' P(s,s') g(theta; s, s')`.
    pub fn mean_update_from(&self, theta: &[f64], from: usize) -> Vec<f64> {
        let delta: f64 = self
            .chain
            .transition()
            .entries(from)
            .map(|(to, probability)| probability * self.td_error(theta, from, to))
            .sum();
        self.phi(from).iter().map(|x| delta * x).collect()
    }

    /// The largest `|g(theta; s, s')|` over possible transitions.
    pub fn largest_update(&self, theta: &[f64]) -> f64 {
        let values = self.values(theta);
        self.edges()
            .map(|edge| {
                let delta = edge.reward + self.discount * values[edge.to] - values[edge.from];
                delta.abs() * norm_sq(self.phi(edge.from)).sqrt()
            })
            .fold(0.0, f64::max)
    }
}

/// `phi_inf`, the largest norm of a feature vector.
fn largest_norm(features: &Matrix) -> f64 {
    let squares = (0..features.rows()).map(|s| norm_sq(features.row(s)));
    squares.fold(0.0, f64::max).sqrt()
}

/// `Sigma`, `A` and `c`, summed over states.
fn moments(
    chain: &Chain,
    features: &Matrix,
    mean_rewards: &[f64],
    discount: f64,
) -> (Matrix, Matrix, Vec<f64>) {
    let d = features.columns();
    let mut sigma = Matrix::zeros(d, d);
    let mut a = Matrix::zeros(d, d);
    let mut c_vector = vec![0.0; d];
    let mut onward = vec![0.0; d];
    for (s, &p) in chain.stationary().iter().enumerate() {
        let phi = features.row(s);
        // phi(s) - gamma E phi(s') written as (1-gamma) phi(s) + gamma E[phi(s) - phi(s')], which avoids
        // cancellation as gamma approaches 1.
        onward
            .iter_mut()
            .zip(phi)
            .for_each(|(x, here)| *x = (1.0 - discount) * here);
        for (to, probability) in chain.transition().entries(s) {
            let weight = discount * probability;
            for ((x, here), there) in onward.iter_mut().zip(phi).zip(features.row(to)) {
                *x += weight * (here - there);
            }
        }
        for i in 0..d {
            let weight = p * phi[i];
            if weight == 0.0 {
                continue;
            }
            c_vector[i] += weight * mean_rewards[s];
            for (sum, x) in sigma.row_mut(i).iter_mut().zip(phi) {
                *sum += weight * x;
            }
            for (sum, x) in a.row_mut(i).iter_mut().zip(&onward) {
                *sum += weight * x;
            }
        }
    }
    (sigma, a, c_vector)
}

/// `omega` and `kappa` from the singular values of `D^{1/2} Phi`, which keeps a small omega accurate.
fn curvature(chain: &Chain, features: &Matrix) -> Result<(f64, f64)> {
    let weighted = Matrix::from_fn(features.rows(), features.columns(), |s, j| {
        chain.stationary()[s].sqrt() * features.get(s, j)
    });
    let singular = linalg::singular_values(&weighted)?;
    let (largest, smallest) = (singular[0], singular[features.columns() - 1]);
    Ok((smallest * smallest, (largest / smallest).powi(2)))
}
