//! Evaluates the variance lemma and the telescoping inequality of the proof in expectation, from exact moments.
//!
//! With the noise `xi_k`, the bias `b_k` and the stationary update `gbar` of [`ProofTerms`](super::ProofTerms), and
//! `B = sum_k eta_k^2 (r^2 ph^2 + 4 r ph^3 E|theta_k| + 4 ph^4 E|theta_k|^2)` (arXiv:2506.01052, Lemma `variance` and the
//! telescoping inequality of Section 4):
//!
//! ```text
//! E sum eta_k^2 |xi_k|^2 <= 4B,   E sum eta_k^2 |b_k|^2 <= 4B,   E sum eta_k^2 |gbar(theta_k)|^2 <= B
//! E|theta_t - theta*|^2 <= |theta*|^2 + 2 E sum eta_k <b_k, theta_k - theta*> + 3 E sum eta_k^2 (|xi_k|^2 + |b_k|^2 + |gbar(theta_k)|^2)
//! ```
//!
//! All left sides are quadratic in `theta_k` given the state, so that the first two moments per state give them without sampling.
//! `E|theta_k|` is no moment; `|E theta_k| <= E|theta_k|` (Jensen) takes its place, which makes the right sides smaller.

use crate::exact::moments::Moments;
use crate::matrix::{Matrix, add_scaled, dot, norm_sq};
use crate::model::problem::Problem;
use crate::theory::lemma_sums::Sides;
use crate::theory::proof_terms::variance_sum;

/// Expectations of the parts of one update.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct UpdateNorms {
    /// `E|xi_k|^2`.
    pub noise_sq: f64,
    /// `E|b_k|^2`.
    pub bias_sq: f64,
    /// `E|gbar(theta_k)|^2`.
    pub mean_sq: f64,
    /// `E<b_k, theta_k - theta*>`.
    pub bias_along: f64,
}

impl UpdateNorms {
    /// The expectations at the current step of the moments, which must be those of the problem.
    #[must_use]
    pub fn of(problem: &Problem, moments: &Moments<'_>) -> Self {
        let (a, c, goal) = (problem.a(), problem.c_vector(), problem.theta_star());
        let d = goal.len();
        let minus_a = Matrix::from_fn(d, d, |i, j| -a.get(i, j));
        let mut sums = Self::default();
        for state in 0..problem.states() {
            let at = At {
                probability: moments.state_distribution()[state],
                mean: moments.mean_theta_at(state),
                second: moments.second_moment_at(state),
            };
            let phi = problem.phi(state);
            let edges: Vec<(f64, f64, Vec<f64>)> = (problem.chain().transition().entries(state))
                .map(|(to, chance)| (chance, problem.reward(state, to), psi(problem, state, to)))
                .collect();
            let reward: f64 = edges
                .iter()
                .map(|(chance, reward, _)| chance * reward)
                .sum();
            let mut onward = vec![0.0; d];
            for (chance, _, psi) in &edges {
                add_scaled(&mut onward, *chance, psi);
            }
            // The TD error of an edge minus its mean over edges: affine in theta.
            for (chance, r, psi) in &edges {
                let slope: Vec<f64> = psi.iter().zip(&onward).map(|(x, y)| x - y).collect();
                sums.noise_sq += chance * norm_sq(phi) * at.square(r - reward, &slope);
            }
            // b = (r phi - c) + (phi psi' + A) theta
            let offset: Vec<f64> = phi.iter().zip(c).map(|(phi, c)| reward * phi - c).collect();
            let slope = Matrix::from_fn(d, d, |i, j| phi[i] * onward[j] + a.get(i, j));
            sums.bias_sq += at.square_of(&offset, &slope);
            sums.mean_sq += at.square_of(c, &minus_a);
            let mean_bias: Vec<f64> = (offset.iter().zip(slope.times(at.mean)))
                .map(|(x, y)| at.probability * x + y)
                .collect();
            sums.bias_along +=
                dot(&offset, at.mean) + dot(slope.as_slice(), at.second) - dot(goal, &mean_bias);
        }
        sums
    }
}

/// Moments of theta in one state.
struct At<'a> {
    probability: f64,
    mean: &'a [f64],
    second: &'a [f64],
}

impl At<'_> {
    /// `E[(a + v.theta)^2 1{s}]`.
    fn square(&self, a: f64, v: &[f64]) -> f64 {
        let rows = self.second.chunks_exact(v.len());
        let quadratic: f64 = rows.zip(v).map(|(row, x)| x * dot(row, v)).sum();
        a * a * self.probability + 2.0 * a * dot(v, self.mean) + quadratic
    }

    /// `E[|a + G theta|^2 1{s}]`.
    fn square_of(&self, a: &[f64], g: &Matrix) -> f64 {
        a.iter()
            .enumerate()
            .map(|(i, &a)| self.square(a, g.row(i)))
            .sum()
    }
}

/// Both sides of the four inequalities after `t` steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LemmaInExpectation {
    /// The telescoping inequality with the factor 3.
    pub distance: Sides,
    /// The noise: `4B`.
    pub noise: Sides,
    /// The bias: `4B`.
    pub bias: Sides,
    /// The stationary update: `B`.
    pub mean: Sides,
}

impl LemmaInExpectation {
    /// Both sides after `steps` steps of size `eta(t)` from `theta_0 = 0`.
    #[must_use]
    pub fn after(problem: &Problem, steps: u64, eta: impl Fn(u64) -> f64) -> Self {
        let mut moments = Moments::new(problem);
        let mut sums = UpdateNorms::default();
        let mut norms = Vec::new();
        for t in 0..steps {
            let (eta, at) = (eta(t), UpdateNorms::of(problem, &moments));
            sums.noise_sq += eta * eta * at.noise_sq;
            sums.bias_sq += eta * eta * at.bias_sq;
            sums.mean_sq += eta * eta * at.mean_sq;
            sums.bias_along += eta * at.bias_along;
            let mean = norm_sq(&moments.mean_theta()).sqrt();
            norms.push((eta, mean, moments.mean_norm_sq()));
            moments.step(eta);
        }
        let b = variance_sum(problem, norms);
        let squares = sums.noise_sq + sums.bias_sq + sums.mean_sq;
        let start = problem.theta_star_norm().powi(2);
        let sides = |left, right| Sides { left, right };
        Self {
            distance: sides(
                moments.mean_distance_sq(),
                start + 2.0 * sums.bias_along + 3.0 * squares,
            ),
            noise: sides(sums.noise_sq, 4.0 * b),
            bias: sides(sums.bias_sq, 4.0 * b),
            mean: sides(sums.mean_sq, b),
        }
    }
}

/// `psi = gamma phi(s') - phi(s)`.
fn psi(problem: &Problem, from: usize, to: usize) -> Vec<f64> {
    let pairs = problem.phi(to).iter().zip(problem.phi(from));
    pairs.map(|(y, x)| problem.discount() * y - x).collect()
}
