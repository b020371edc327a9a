//! Holds the part of a problem that the engine needs: chain, rewards, features and the quadratic f.

use robust_td_core::Problem;
use robust_td_simd::Links;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// One row of a sparse transition matrix with the reward of each transition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransitionRow {
    /// Next states in increasing order.
    pub columns: Vec<u32>,
    /// Their probabilities, all positive.
    pub probabilities: Vec<f64>,
    /// Their rewards r(s, s').
    pub rewards: Vec<f64>,
}

/// A policy-evaluation problem as plain tables.
///
/// f(theta) = (theta - theta*)' A (theta - theta*) with A = Phi' D (I - gamma P) Phi.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// Dimension d of the features.
    pub dimension: usize,
    /// Discount gamma in [0, 1).
    pub discount: f64,
    /// Start state.
    pub start: usize,
    /// One row per state.
    pub rows: Vec<TransitionRow>,
    /// Features, row-major n x d.
    pub features: Vec<f64>,
    /// The matrix A, row-major d x d.
    pub a: Vec<f64>,
    /// The fixed point theta*.
    pub theta_star: Vec<f64>,
    /// The matrix Sigma = Phi' D Phi, row-major d x d.
    pub sigma: Vec<f64>,
    /// The smallest eigenvalue of Sigma.
    pub omega: f64,
    /// The largest |r(s, s')| over all pairs as given.
    pub r_max: f64,
}

impl From<&Problem> for Tables {
    fn from(problem: &Problem) -> Self {
        let transition = problem.chain().transition();
        let rows = (0..problem.states())
            .map(|s| {
                let (columns, probabilities) = transition.row(s);
                let reward = |&next: &u32| problem.reward(s, next as usize);
                TransitionRow {
                    columns: columns.to_vec(),
                    probabilities: probabilities.to_vec(),
                    rewards: columns.iter().map(reward).collect(),
                }
            })
            .collect();
        Self {
            dimension: problem.dimension(),
            discount: problem.discount(),
            start: problem.start(),
            rows,
            features: problem.features().as_slice().to_vec(),
            a: problem.a().as_slice().to_vec(),
            theta_star: problem.theta_star().to_vec(),
            sigma: problem.sigma().as_slice().to_vec(),
            omega: problem.omega(),
            r_max: problem.r_max(),
        }
    }
}

impl Tables {
    /// Number of states n.
    pub fn states(&self) -> usize {
        self.rows.len()
    }

    /// Features of state `s`.
    #[inline]
    pub fn phi(&self, s: usize) -> &[f64] {
        &self.features[s * self.dimension..(s + 1) * self.dimension]
    }

    /// phi_inf^2 = max_s |phi(s)|^2.
    pub fn phi_inf_squared(&self) -> f64 {
        self.features
            .chunks_exact(self.dimension)
            .map(squared_norm)
            .fold(0.0, f64::max)
    }

    /// |theta*|^2.
    pub fn theta_star_squared(&self) -> f64 {
        squared_norm(&self.theta_star)
    }

    /// w = max((1-gamma) omega, 1e-12), the curvature that the authors' step sizes and radius use.
    pub fn curvature(&self) -> f64 {
        ((1.0 - self.discount) * self.omega).max(1e-12)
    }

    /// f(theta) = (theta - theta*)' A (theta - theta*).
    pub fn f(&self, theta: &[f64]) -> f64 {
        let error = |j: usize| theta[j] - self.theta_star[j];
        self.a
            .chunks_exact(self.dimension)
            .enumerate()
            .map(|(i, row)| {
                let product = row.iter().enumerate().map(|(j, a)| a * error(j));
                error(i) * product.sum::<f64>()
            })
            .sum()
    }

    /// At most how many numbers the kernel's table of transitions has: narrow rows are padded to one width, a row may get one more
    /// entry, and two variants may share the table. Offsets into it are of 32 bits.
    fn numbers(&self) -> usize {
        let lengths = self.rows.iter().map(|row| row.columns.len() + 1);
        let widest = lengths.clone().max().unwrap_or(0);
        let entries = match widest <= Links::WIDEST {
            true => self.rows.len() * widest,
            false => lengths.sum(),
        };
        let per_entry = self.dimension.saturating_mul(4).saturating_add(2);
        entries.saturating_mul(per_entry)
    }

    /// Checks sizes, finiteness and probabilities.
    ///
    /// # Errors
    /// [`Error::Tables`] names the first violation.
    pub fn check(&self) -> Result<()> {
        let fail = |what: String| Err(Error::Tables { what });
        let (n, d) = (self.states(), self.dimension);
        if n == 0 || d == 0 || n > u32::MAX as usize / 2 {
            return fail(format!("{n} states with {d} features are out of range"));
        }
        if self.numbers() > u32::MAX as usize {
            return fail(format!(
                "{n} states with {d} features need tables of {} numbers, but a sweep takes at most {}",
                self.numbers(),
                u32::MAX
            ));
        }
        let square = self.a.len() == d * d && self.sigma.len() == d * d;
        if self.features.len() != n * d || !square || self.theta_star.len() != d {
            return fail(format!(
                "features, A and theta* have {}, {} and {} entries, which do not match n = {n}, d = {d}",
                self.features.len(),
                self.a.len(),
                self.theta_star.len()
            ));
        }
        if self.start >= n || !(0.0..1.0).contains(&self.discount) {
            return fail(format!(
                "start {} or discount {} is out of range",
                self.start, self.discount
            ));
        }
        let numbers = self.features.iter().chain(&self.a).chain(&self.theta_star);
        let numbers = numbers.chain(&self.sigma).chain([&self.omega, &self.r_max]);
        if let Some(x) = numbers
            .chain(self.rows.iter().flat_map(|r| &r.rewards))
            .find(|x| !x.is_finite())
        {
            return fail(format!("the value {x} is not finite"));
        }
        if !(self.phi_inf_squared() > 0.0) {
            return fail("all features are zero".into());
        }
        for (s, row) in self.rows.iter().enumerate() {
            let count = row.columns.len();
            if count == 0 || row.probabilities.len() != count || row.rewards.len() != count {
                return fail(format!(
                    "row {s} has {count} columns; it needs at least one, with one probability and reward each"
                ));
            }
            if !row.columns.is_sorted_by(|a, b| a < b) || row.columns[count - 1] as usize >= n {
                return fail(format!("row {s}: columns must increase and stay below {n}"));
            }
            let sum: f64 = row.probabilities.iter().sum();
            if !row.probabilities.iter().all(|&p| p > 0.0) || !((sum - 1.0).abs() <= 1e-9) {
                return fail(format!(
                    "row {s}: probabilities must be positive and sum to 1, not {sum}"
                ));
            }
        }
        Ok(())
    }

    /// The exponent k if these features are exactly 2^k times those of `base` and everything else is
    /// equal.
    ///
    /// Then theta of this problem is 2^-k times theta of `base` bit for bit (no rounding depends on
    /// a power of two), as long as nothing over- or underflows.
    pub fn binary_scale_of(&self, base: &Self) -> Option<i32> {
        if !self.same_chain(base) {
            return None;
        }
        let at = base.features.iter().position(|&x| x != 0.0)?;
        let factor = self.features[at] / base.features[at];
        let exponent = (1..=300)
            .flat_map(|k| [k, -k])
            .find(|&k| f64::powi(2.0, k) == factor)?;
        let copies = self
            .features
            .iter()
            .zip(&base.features)
            .all(|(x, y)| *x == y * factor);
        copies.then_some(exponent)
    }

    /// Whether chain, rewards, discount, start and dimension agree.
    pub fn same_chain(&self, other: &Self) -> bool {
        self.rows == other.rows
            && self.discount == other.discount
            && self.start == other.start
            && self.dimension == other.dimension
    }
}

/// |x|^2.
pub fn squared_norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}
