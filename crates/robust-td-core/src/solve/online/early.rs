//! Keeps the first transitions of a stream until a reference for their scores is known.

use serde::{Deserialize, Serialize};

use super::groups::{Change, Groups};
use crate::phi::{Transition, dot};

/// The number of transitions that are kept, beyond a multiple of the dimension.
const FEWEST: usize = 64;
/// The multiple.
const PER_FEATURE: usize = 8;
/// The maximum number of numbers that are kept.
const MOST: usize = 1 << 22;

/// The number of transitions to keep for a dimension.
pub(super) fn kept(dimension: usize) -> u64 {
    let rows = FEWEST + PER_FEATURE * dimension;
    rows.min(MOST / (2 * dimension + 2)) as u64
}

/// The first transitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Early {
    groups: Vec<usize>,
    /// For each transition: rho, r, phi, phi - gamma phi'.
    #[serde(with = "crate::exact_float")]
    numbers: Vec<f64>,
}

impl Early {
    pub fn new() -> Self {
        Self {
            groups: Vec::new(),
            numbers: Vec::new(),
        }
    }

    pub fn push(&mut self, group: usize, transition: &Transition<'_>, discount: f64, d: usize) {
        self.groups.push(group);
        let start = self.numbers.len();
        self.numbers.resize(start + 2 * d + 2, 0.0);
        let own = &mut self.numbers[start..];
        (own[0], own[1]) = (transition.ratio, transition.reward);
        let (phi, change) = own[2..].split_at_mut(d);
        transition.features.axpy(1.0, phi);
        change.copy_from_slice(phi);
        if let Some(next) = transition.outcome.next_features() {
            next.axpy(-discount, change);
        }
    }

    /// Follows the numbers of the groups.
    pub fn follow(&mut self, change: Change) {
        for group in &mut self.groups {
            *group = match change {
                Change::Halved => *group / 2,
                Change::United => 0,
            };
        }
    }

    /// Adds the scores at theta to the groups; calls `record` with every TD error.
    pub fn score(&self, theta: &[f64], groups: &mut Groups, mut record: impl FnMut(f64)) {
        let d = theta.len();
        for (group, own) in self.groups.iter().zip(self.numbers.chunks_exact(2 * d + 2)) {
            let (phi, change) = own[2..].split_at(d);
            let delta = own[0] * (own[1] - dot(change, theta));
            record(delta);
            groups.add_score(*group, delta, phi);
        }
    }

    /// Whether the saved form fits a dimension and a number of groups.
    pub fn fits(&self, dimension: usize, groups: usize) -> bool {
        self.numbers.len() == self.groups.len() * (2 * dimension + 2)
            && (self.groups.len() as u64) < kept(dimension).max(1)
            && self.groups.iter().all(|group| *group < groups)
    }
}
