//! Adds up the scores of groups of transitions with sparse features.

use super::ledger::Ledger;
use super::system::SparseSystem;
use crate::phi::Transition;
use crate::solve::influence::GroupSums;

/// A part of [`GroupSums`], for the features that a system has seen.
#[derive(Debug)]
pub struct SparseGroupSums<'a> {
    system: &'a SparseSystem,
    groups: usize,
    sums: Ledger<f64>,
    transitions: Vec<u64>,
}

impl<'a> SparseGroupSums<'a> {
    /// No transitions.
    #[must_use]
    pub fn new(system: &'a SparseSystem, groups: usize) -> Self {
        Self {
            system,
            groups,
            sums: Ledger::default(),
            transitions: vec![0; groups],
        }
    }

    /// Adds a transition with its TD error to a group.
    pub fn add(&mut self, group: usize, transition: &Transition<'_>, delta: f64) {
        let (ratio, columns) = (transition.ratio, 2 * self.groups as u64 + 1);
        let (place, sums) = (&self.system.place, &mut self.sums);
        transition.features.for_each(|j, x| {
            if x != 0.0 && place[j] != u32::MAX {
                let first = u64::from(place[j]) * columns;
                sums.add(first + 2 * group as u64, ratio * delta * x);
                sums.add(first + 2 * group as u64 + 1, ratio * x * x);
                sums.add(first + columns - 1, 1.0);
            }
        });
        self.transitions[group] += 1;
    }

    /// Adds the sums to those of all transitions.
    pub fn add_to(self, all: &mut GroupSums) {
        let columns = 2 * self.groups as u64 + 1;
        for (key, sum) in self.sums.into_sorted() {
            let (j, column) = ((key / columns) as usize, key % columns);
            let group = (column / 2) as usize;
            match column {
                _ if column + 1 == columns => all.rows[j] += sum,
                _ if column % 2 == 0 => all.scores.row_mut(group)[j] += sum,
                _ => all.squares.row_mut(group)[j] += sum,
            }
        }
        let transitions = all.transitions.iter_mut().zip(self.transitions);
        transitions.for_each(|(sum, x)| *sum += x);
    }
}
