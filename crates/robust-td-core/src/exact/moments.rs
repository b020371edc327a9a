//! Computes the exact expectations of TD(0) without sampling.
//!
//! Given the chain, TD(0) is linear in `theta`, so the moments restricted to each state obey a closed linear recursion (a Markov
//! jump linear system). With `psi = gamma phi(s') - phi(s)` and the weighted sum `S_t = sum_{k<t} w_k theta_k`, keep for every state
//! ```text
//! p(s) = P(s_t = s)   m(s) = E[theta 1{s}]   M(s) = E[theta theta' 1{s}]   q(s) = E[S 1{s}]   C(s) = E[theta S' 1{s}]
//! ```
//! A step `theta += eta (r + psi.theta) phi(s)`, taken after `S += w theta`, propagates them along each transition to
//! ```text
//! m'(s') += P(s,s') ( m + eta (r p + psi.m) phi )
//! M'(s') += P(s,s') ( M + phi u' + u phi' ),       v = r m + M psi,  u = eta v + (eta^2 / 2)(r^2 p + r psi.m + psi.v) phi
//! q'(s') += P(s,s') ( q + w m )
//! C'(s') += P(s,s') ( K + eta phi (r (q + w m) + K' psi)' ),          K = C + w M
//! ```
//! and `E[S S']` need not be split by state. All updates have rank one or two, so a transition costs O(d^2), not the O(d^3) of
//! the block matrices. The result is exact up to rounding, so it tests every bound in expectation deterministically. An expectation of a
//! square that overflows is infinite.

use crate::iterate::nan_as_infinity;
use crate::matrix::{add_scaled, dot, norm_sq};
use crate::model::problem::Problem;

/// The exact moments of TD(0) from `theta_0 = 0`, advanced one step at a time.
#[derive(Debug, Clone)]
pub struct Moments<'a> {
    problem: &'a Problem,
    /// One entry per stored transition: its target, probability and reward, and `psi`.
    edges: Vec<(usize, f64, f64)>,
    psi: Vec<f64>,
    now: Blocks,
    next: Blocks,
    /// `E[S S']` and the total weight.
    sum_squared: Vec<f64>,
    total_weight: f64,
    steps: u64,
    scratch: Scratch,
}

/// Moments restricted to each state, stored consecutively.
#[derive(Debug, Clone, PartialEq)]
struct Blocks {
    p: Vec<f64>,
    m: Vec<f64>,
    second: Vec<f64>,
    q: Vec<f64>,
    cross: Vec<f64>,
}

#[derive(Debug, Clone)]
struct Scratch {
    v: Vec<f64>,
    u: Vec<f64>,
    z: Vec<f64>,
    cross: Vec<f64>,
    second: Vec<f64>,
}

impl Blocks {
    fn zeros(n: usize, d: usize) -> Self {
        Self {
            p: vec![0.0; n],
            m: vec![0.0; n * d],
            second: vec![0.0; n * d * d],
            q: vec![0.0; n * d],
            cross: vec![0.0; n * d * d],
        }
    }

    fn clear(&mut self) {
        for block in [
            &mut self.p,
            &mut self.m,
            &mut self.second,
            &mut self.q,
            &mut self.cross,
        ] {
            block.fill(0.0);
        }
    }
}

impl<'a> Moments<'a> {
    /// The moments at `t = 0`: `theta_0 = 0` in the problem's start state.
    pub fn new(problem: &'a Problem) -> Self {
        let (n, d) = (problem.states(), problem.dimension());
        let mut now = Blocks::zeros(n, d);
        now.p[problem.start()] = 1.0;
        let mut psi = Vec::with_capacity(problem.chain().transition().stored() * d);
        for edge in problem.edges() {
            let (phi, onward) = (problem.phi(edge.from), problem.phi(edge.to));
            psi.extend(
                phi.iter()
                    .zip(onward)
                    .map(|(x, y)| problem.discount() * y - x),
            );
        }
        Self {
            problem,
            edges: problem
                .edges()
                .map(|e| (e.to, e.probability, e.reward))
                .collect(),
            psi,
            now,
            next: Blocks::zeros(n, d),
            sum_squared: vec![0.0; d * d],
            total_weight: 0.0,
            steps: 0,
            scratch: Scratch {
                v: vec![0.0; d],
                u: vec![0.0; d],
                z: vec![0.0; d],
                cross: vec![0.0; d * d],
                second: vec![0.0; d * d],
            },
        }
    }

    /// Takes one step with step size `eta`; `theta_t` (before the step) enters the average with the same weight.
    pub fn step(&mut self, eta: f64) {
        self.step_weighted(eta, eta);
    }

    /// Takes one step with step size `eta`; `theta_t` (before the step) enters the average with weight `w`.
    pub fn step_weighted(&mut self, eta: f64, w: f64) {
        // With d known to the compiler, the short loops below unroll.
        match self.problem.dimension() {
            1 => self.advance(1, eta, w),
            2 => self.advance(2, eta, w),
            3 => self.advance(3, eta, w),
            4 => self.advance(4, eta, w),
            5 => self.advance(5, eta, w),
            6 => self.advance(6, eta, w),
            8 => self.advance(8, eta, w),
            d => self.advance(d, eta, w),
        }
    }

    #[inline(always)]
    fn advance(&mut self, d: usize, eta: f64, w: f64) {
        self.add_to_sum(w);
        let Blocks {
            p,
            m,
            second,
            q,
            cross,
        } = &mut self.now;
        add_scaled(cross, w, second);
        add_scaled(q, w, m);
        self.next.clear();
        let Scratch { v, u, z, .. } = &mut self.scratch;
        let (v, u, z) = (&mut v[..d], &mut u[..d], &mut z[..d]);
        let transition = self.problem.chain().transition();
        for (s, &p) in p.iter().enumerate() {
            let phi = &self.problem.phi(s)[..d];
            let (vector, block) = (s * d..(s + 1) * d, s * d * d..(s + 1) * d * d);
            let (m, q) = (&m[vector.clone()], &q[vector]);
            let (second, cross) = (&second[block.clone()], &cross[block]);
            for edge in transition.range(s) {
                let (to, probability, reward) = self.edges[edge];
                let psi = &self.psi[edge * d..(edge + 1) * d];
                let psi_m = dot(psi, m);
                for (z, q) in z.iter_mut().zip(q) {
                    *z = reward * q;
                }
                let rows = second.chunks_exact(d).zip(cross.chunks_exact(d));
                for ((row, cross), ((v, m), psi_i)) in rows.zip(v.iter_mut().zip(m).zip(psi)) {
                    *v = reward * m + dot(row, psi);
                    add_scaled(z, *psi_i, cross);
                }
                let delta_sq = reward * reward * p + reward * psi_m + dot(psi, v);
                for ((u, v), phi) in u.iter_mut().zip(v.iter()).zip(phi) {
                    *u = probability * (eta * v + 0.5 * eta * eta * delta_sq * phi);
                }
                let drift = eta * (reward * p + psi_m);
                self.next.p[to] += probability * p;
                add_scaled(&mut self.next.q[to * d..(to + 1) * d], probability, q);
                let next_m = &mut self.next.m[to * d..(to + 1) * d];
                for ((next, m), phi) in next_m.iter_mut().zip(m).zip(phi) {
                    *next += probability * (m + drift * phi);
                }
                let block = to * d * d..(to + 1) * d * d;
                let next_second = self.next.second[block.clone()].chunks_exact_mut(d);
                let rows = next_second
                    .zip(second.chunks_exact(d))
                    .zip(phi.iter().zip(u.iter()));
                for ((next, row), (phi_i, u_i)) in rows {
                    for ((next, m), (u, phi)) in next.iter_mut().zip(row).zip(u.iter().zip(phi)) {
                        *next += probability * m + (phi_i * u + u_i * phi);
                    }
                }
                let next_cross = self.next.cross[block].chunks_exact_mut(d);
                for ((next, row), phi_i) in next_cross.zip(cross.chunks_exact(d)).zip(phi) {
                    let lead = probability * eta * phi_i;
                    for ((next, k), z) in next.iter_mut().zip(row).zip(z.iter()) {
                        *next += probability * k + lead * z;
                    }
                }
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
        self.steps += 1;
    }

    /// `E[S S'] += w (E[theta S'] + E[S theta']) + w^2 E[theta theta']`.
    fn add_to_sum(&mut self, w: f64) {
        let d = self.problem.dimension();
        let Scratch { cross, second, .. } = &mut self.scratch;
        sum_blocks(&self.now.cross, cross);
        sum_blocks(&self.now.second, second);
        for i in 0..d {
            for j in 0..d {
                self.sum_squared[i * d + j] +=
                    w * (cross[i * d + j] + cross[j * d + i]) + w * w * second[i * d + j];
            }
        }
        self.total_weight += w;
    }

    /// Sums a block over the states.
    fn total(&self, blocks: &[f64]) -> Vec<f64> {
        let mut total = vec![0.0; blocks.len() / self.problem.states()];
        sum_blocks(blocks, &mut total);
        total
    }

    /// Number of steps taken, `t`.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The distribution of the state `s_t`.
    pub fn state_distribution(&self) -> &[f64] {
        &self.now.p
    }

    /// `E[theta_t 1{s_t = s}]`.
    pub fn mean_theta_at(&self, state: usize) -> &[f64] {
        let d = self.problem.dimension();
        &self.now.m[state * d..(state + 1) * d]
    }

    /// `E[theta_t theta_t' 1{s_t = s}]`, row by row.
    pub fn second_moment_at(&self, state: usize) -> &[f64] {
        let d = self.problem.dimension();
        &self.now.second[state * d * d..(state + 1) * d * d]
    }

    /// `E theta_t`.
    pub fn mean_theta(&self) -> Vec<f64> {
        self.total(&self.now.m)
    }

    /// `E |theta_t|^2`.
    pub fn mean_norm_sq(&self) -> f64 {
        let d = self.problem.dimension();
        let traces = self.now.second.chunks_exact(d * d);
        nan_as_infinity(traces.map(|block| trace(block, d)).sum())
    }

    /// `E |theta_t - theta*|^2`.
    pub fn mean_distance_sq(&self) -> f64 {
        let goal = self.problem.theta_star();
        nan_as_infinity(self.mean_norm_sq() - 2.0 * dot(&self.mean_theta(), goal) + norm_sq(goal))
    }

    /// `E f(theta_t)`.
    pub fn mean_f(&self) -> f64 {
        self.expected_potential(&self.mean_theta(), &self.total(&self.now.second))
    }

    /// `E avg_t`, the mean of the weighted average `S_t / sum_{k<t} w_k`; `theta_t` while the weights are 0, as before the first step.
    pub fn mean_average(&self) -> Vec<f64> {
        if self.total_weight == 0.0 {
            return self.mean_theta();
        }
        self.total(&self.now.q)
            .iter()
            .map(|x| x / self.total_weight)
            .collect()
    }

    /// `E f(avg_t)` of the weighted average.
    pub fn mean_f_of_average(&self) -> f64 {
        let total = self.total_weight;
        if total == 0.0 {
            return self.mean_f();
        }
        // Not by the square, which can underflow to 0.
        let second: Vec<f64> = self.sum_squared.iter().map(|x| x / total / total).collect();
        self.expected_potential(&self.mean_average(), &second)
    }

    /// The sum of the weights so far, `sum_{k<t} w_k`.
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// `E f(X) = tr( A E[(X - theta*)(X - theta*)'] )` from the first two moments of X.
    fn expected_potential(&self, mean: &[f64], second: &[f64]) -> f64 {
        let (a, goal) = (self.problem.a(), self.problem.theta_star());
        let d = goal.len();
        let mut sum = 0.0;
        for i in 0..d {
            for j in 0..d {
                let spread =
                    second[i * d + j] - mean[i] * goal[j] - goal[i] * mean[j] + goal[i] * goal[j];
                sum += a.get(i, j) * spread;
            }
        }
        nan_as_infinity(sum)
    }
}

/// Sums blocks of the length of `total` into it.
fn sum_blocks(blocks: &[f64], total: &mut [f64]) {
    total.fill(0.0);
    for block in blocks.chunks_exact(total.len()) {
        add_scaled(total, 1.0, block);
    }
}

fn trace(block: &[f64], d: usize) -> f64 {
    (0..d).map(|i| block[i * (d + 1)]).sum()
}

/// The expectations of a whole run of TD(0).
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// `E|theta_t|^2` for t = 0..=T.
    pub norm_sq: Vec<f64>,
    /// `E f(theta_t)` for t = 0..=T.
    pub f: Vec<f64>,
    /// `max_t E|theta_t|^2`.
    pub max_norm_sq: f64,
    /// The first t that attains it.
    pub argmax: u64,
    /// `E theta_T`.
    pub mean_theta: Vec<f64>,
    /// `E f(avg_T)` of the eta-weighted average over `theta_0, ..., theta_{T-1}`.
    pub f_of_average: f64,
    /// The sum of the step sizes.
    pub total_step: f64,
}

/// The expectations of TD(0) from `theta_0 = 0` with step sizes `eta_0, ..., eta_{T-1}`.
pub fn expectation(problem: &Problem, horizon: u64, step_size: impl Fn(u64) -> f64) -> Expectation {
    let mut moments = Moments::new(problem);
    let mut norm_sq = vec![moments.mean_norm_sq()];
    let mut f = vec![moments.mean_f()];
    for t in 0..horizon {
        moments.step(step_size(t));
        norm_sq.push(moments.mean_norm_sq());
        f.push(moments.mean_f());
    }
    let (mut argmax, mut max_norm_sq) = (0, norm_sq[0]);
    for (t, &value) in norm_sq.iter().enumerate() {
        if value > max_norm_sq {
            (argmax, max_norm_sq) = (t as u64, value);
        }
    }
    Expectation {
        norm_sq,
        f,
        max_norm_sq,
        argmax,
        mean_theta: moments.mean_theta(),
        f_of_average: moments.mean_f_of_average(),
        total_step: moments.total_weight(),
    }
}

/// The bias and variance of the averaged iterate, `E f(avg) = f(E avg) + spread`.
///
/// The mean of N independent runs has `E f = bias + spread / N` exactly, since f is quadratic (one-shot averaging).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BiasAndSpread {
    /// `f(E avg)`.
    pub bias: f64,
    /// `E f(avg) - f(E avg)`.
    pub spread: f64,
}

impl Moments<'_> {
    /// Splits `E f(avg_t)` into the part that averaging over independent runs removes and the rest.
    pub fn bias_and_spread(&self) -> BiasAndSpread {
        let bias = nan_as_infinity(self.problem.f(&self.mean_average()));
        BiasAndSpread {
            bias,
            // Both may have overflowed.
            spread: nan_as_infinity(self.mean_f_of_average() - bias),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::product;
    use crate::{Chain, Matrix, Reward};

    /// `E|theta_T|^2` and `E f(avg_T)` computed from the definition, with dense (2d+1) x (2d+1) blocks of
    /// `y = (theta, S, 1)`.
    fn by_block_matrices(problem: &Problem, steps: &[f64]) -> (f64, f64) {
        let d = problem.dimension();
        let size = 2 * d + 1;
        let transpose = |m: &Matrix| Matrix::from_fn(size, size, |i, j| m.get(j, i));
        let mut y: Vec<Matrix> = vec![Matrix::zeros(size, size); problem.states()];
        y[problem.start()].row_mut(size - 1)[size - 1] = 1.0;
        for &eta in steps {
            let mut next: Vec<Matrix> = vec![Matrix::zeros(size, size); problem.states()];
            for edge in problem.edges() {
                let (phi, onward) = (problem.phi(edge.from), problem.phi(edge.to));
                let g = Matrix::from_fn(size, size, |i, j| {
                    let one = if i == j { 1.0 } else { 0.0 };
                    if i < d && j < d {
                        one + eta * phi[i] * (problem.discount() * onward[j] - phi[j])
                    } else if i < d && j == size - 1 {
                        eta * edge.reward * phi[i]
                    } else if (d..2 * d).contains(&i) && j == i - d {
                        eta
                    } else {
                        one
                    }
                });
                let image = product(&product(&g, &y[edge.from]), &transpose(&g));
                for i in 0..size {
                    for j in 0..size {
                        next[edge.to].row_mut(i)[j] += edge.probability * image.get(i, j);
                    }
                }
            }
            y = next;
        }
        let total = |i: usize, j: usize| y.iter().map(|block| block.get(i, j)).sum::<f64>();
        let weight: f64 = steps.iter().sum();
        let goal = problem.theta_star();
        let mut f = 0.0;
        for i in 0..d {
            for j in 0..d {
                let spread = total(d + i, d + j) / weight.powi(2)
                    - total(d + i, size - 1) / weight * goal[j]
                    - goal[i] * total(size - 1, d + j) / weight
                    + goal[i] * goal[j];
                f += problem.a().get(i, j) * spread;
            }
        }
        ((0..d).map(|i| total(i, i)).sum(), f)
    }

    #[test]
    fn the_cheap_recursion_is_the_block_matrix_recursion() {
        let p = Matrix::from_rows(&[[0.5, 0.4, 0.1], [0.1, 0.6, 0.3], [0.6, 0.2, 0.2]]).unwrap();
        let r =
            Matrix::from_rows(&[[0.0, 1.0, -1.0], [0.5, 0.0, 0.25], [-0.5, 1.0, 0.75]]).unwrap();
        let phi = Matrix::from_rows(&[[1.0, 0.0], [0.5, 0.5], [-0.25, 1.0]]).unwrap();
        let chain = Chain::from_dense(&p).unwrap();
        let problem = Problem::new(chain, phi, Reward::PerTransition(r), 0.8, 1).unwrap();
        let steps: Vec<f64> = (0..30).map(|t| 0.5 / (1.0 + t as f64).sqrt()).collect();
        let mut moments = Moments::new(&problem);
        for k in 1..=steps.len() {
            moments.step(steps[k - 1]);
            let (norm_sq, f) = by_block_matrices(&problem, &steps[..k]);
            assert!((moments.mean_norm_sq() / norm_sq - 1.0).abs() < 1e-12);
            assert!((moments.mean_f_of_average() / f - 1.0).abs() < 1e-12);
        }
    }
}
