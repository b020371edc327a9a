//! Stores the rewards of transitions in the form in which they were given.

use crate::error::{Error, Result};
use crate::matrix::{Matrix, SparseMatrix};

/// The reward of a transition.
#[derive(Debug, Clone, PartialEq)]
pub enum Reward {
    /// `r(s)`, independent of the next state.
    PerState(Vec<f64>),
    /// `r(s,s')` as an n x n matrix; only entries with `P(s,s') > 0` matter.
    PerTransition(Matrix),
    /// `r(s,s')` in compressed rows; entries not stored are zero.
    Sparse(SparseMatrix),
}

impl From<Matrix> for Reward {
    fn from(rewards: Matrix) -> Self {
        Self::PerTransition(rewards)
    }
}

impl From<SparseMatrix> for Reward {
    fn from(rewards: SparseMatrix) -> Self {
        Self::Sparse(rewards)
    }
}

impl Reward {
    /// The reward `r(from, to)`.
    pub fn get(&self, from: usize, to: usize) -> f64 {
        match self {
            Self::PerState(rewards) => rewards[from],
            Self::PerTransition(rewards) => rewards.get(from, to),
            Self::Sparse(rewards) => rewards.get(from, to),
        }
    }

    /// The largest modulus, over all pairs that are stored.
    pub(crate) fn largest(&self) -> f64 {
        let largest = |values: &[f64]| values.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
        match self {
            Self::PerState(rewards) => largest(rewards),
            Self::PerTransition(rewards) => largest(rewards.as_slice()),
            Self::Sparse(rewards) => (0..rewards.size())
                .map(|s| largest(rewards.row(s).1))
                .fold(0.0, f64::max),
        }
    }

    /// The rewards of a chain's transitions, in the order of its stored entries.
    pub(crate) fn along(&self, transition: &SparseMatrix) -> Vec<f64> {
        (0..transition.size())
            .flat_map(|from| {
                let successors = transition.entries(from);
                successors.map(move |(to, _)| self.get(from, to))
            })
            .collect()
    }

    /// Rejects a reward that does not match the number of states or is not finite.
    pub(crate) fn require_valid(&self, what: &'static str, states: usize) -> Result<()> {
        let require_length = |found: usize| {
            if found == states {
                return Ok(());
            }
            Err(Error::Length {
                what,
                expected: states,
                found,
            })
        };
        let not_finite = |row: usize, column: usize, value: f64| Error::NotFinite {
            what,
            row,
            column,
            value,
        };
        match self {
            Self::PerState(rewards) => {
                require_length(rewards.len())?;
                match rewards.iter().position(|value| !value.is_finite()) {
                    None => Ok(()),
                    Some(s) => Err(not_finite(s, 0, rewards[s])),
                }
            }
            Self::PerTransition(rewards) => {
                if rewards.rows() != states || rewards.columns() != states {
                    return Err(Error::Shape {
                        what,
                        rows: rewards.rows(),
                        columns: rewards.columns(),
                        expected: format!("{states} x {states}, or {states} numbers"),
                    });
                }
                rewards.require_finite(what)
            }
            Self::Sparse(rewards) => {
                require_length(rewards.size())?;
                for s in 0..states {
                    if let Some((to, value)) = rewards.entries(s).find(|(_, v)| !v.is_finite()) {
                        return Err(not_finite(s, to, value));
                    }
                }
                Ok(())
            }
        }
    }
}
