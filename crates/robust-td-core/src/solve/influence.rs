//! Keeps the influence of groups of transitions on theta, from which the error of any value follows.
//!
//! # Formulas
//! With the scores s_t = rho delta_t phi_t at the solution, theta - theta* is A^{-1} sum_t s_t to first order. The transitions are grouped by
//! cluster or by time; W_k = A^{-1} sum of the scores of group k. The error of phi.theta is then a sum of K numbers,
//! ```text
//! phi.theta - phi.theta* = sum_k c_k,     c_k = phi.W_k,
//! ```
//! independent of each other (clusters) or a time series (consecutive blocks). Its standard error and degrees of freedom are those
//! of [`Spread`].

use serde::{Deserialize, Serialize};

use crate::matrix::Matrix;
use crate::phi::Features;
use crate::solve::spread::{Spread, independent, ordered};

/// The maximum number of groups.
pub const GROUPS: usize = 256;

/// How the groups depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// Not at all: clusters, or several clusters in a group.
    Independent,
    /// They are consecutive parts of one trajectory.
    Ordered,
}

/// The influence of every group on theta.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Influence {
    grouping: Grouping,
    groups: usize,
    /// W_k, row by row.
    #[serde(with = "crate::exact_float")]
    rows: Vec<f64>,
    /// For each feature, the number of groups in which it has a score; empty if all have.
    support: Vec<u32>,
}

impl Influence {
    /// The influence of groups whose scores are the rows of `scores`, and their influence the rows of `influence`.
    ///
    /// # Panics
    /// When the two differ in shape.
    #[must_use]
    pub fn new(grouping: Grouping, scores: &Matrix, influence: Matrix) -> Self {
        let (groups, d) = (scores.rows(), scores.columns());
        assert_eq!(
            (groups, d),
            (influence.rows(), influence.columns()),
            "scores and influence of one shape"
        );
        let mut support = vec![0; d];
        for k in 0..groups {
            for (count, score) in support.iter_mut().zip(scores.row(k)) {
                *count += u32::from(*score != 0.0);
            }
        }
        if support.iter().all(|&count| count as usize == groups) {
            support.clear();
        }
        Self {
            grouping,
            groups,
            rows: influence.as_slice().to_vec(),
            support,
        }
    }

    /// Whether it has this dimension.
    #[must_use]
    pub fn fits(&self, dimension: usize) -> bool {
        self.groups.checked_mul(dimension) == Some(self.rows.len())
            && (self.support.is_empty() || self.support.len() == dimension)
    }

    /// How the groups depend on each other.
    #[must_use]
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// The number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The error of phi.theta.
    #[must_use]
    pub fn spread(&self, phi: Features<'_>) -> Spread {
        self.spread_with(phi, &[])
    }

    /// The error of phi.theta plus an average with the given contributions per group.
    ///
    /// # Panics
    /// When there are contributions, but not one per group.
    #[must_use]
    pub fn spread_with(&self, phi: Features<'_>, more: &[f64]) -> Spread {
        let d = self.rows.len() / self.groups.max(1);
        let rows = self.rows.chunks_exact(d.max(1));
        let mut contributions: Vec<f64> = rows.map(|row| phi.dot(row)).collect();
        if !more.is_empty() {
            assert_eq!(more.len(), self.groups, "one contribution per group");
            contributions
                .iter_mut()
                .zip(more)
                .for_each(|(c, m)| *c += m);
        }
        match self.grouping {
            Grouping::Ordered => ordered(&contributions, self.support(phi)),
            Grouping::Independent => independent(&contributions, self.support(phi)),
        }
    }

    /// The smallest number of groups in which a feature of this vector has a score.
    fn support(&self, phi: Features<'_>) -> usize {
        let mut least = self.groups;
        if !self.support.is_empty() {
            phi.for_each(|j, x| {
                if x != 0.0 {
                    least = least.min(self.support[j] as usize);
                }
            });
        }
        least
    }
}
