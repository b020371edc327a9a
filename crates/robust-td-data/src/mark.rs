//! Marks the places where the nodes of a log start, so that any machine can read one of them.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::fold::FAN;
use crate::pairing::Pairing;
use crate::schema::Schema;
use crate::solved::gather::DENSE_CHUNK;

/// The number of transitions in a node.
pub(crate) const NODE: u64 = FAN * DENSE_CHUNK;

/// The start of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    /// The file of its first row, and the number of that row there, from 1; if there is none, it is the first of the next file.
    pub file: usize,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub row: u64,
    /// The number of transitions before, and the state of pairing: rows that wait for their successors.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub before: u64,
    pub pairing: Pairing,
}

impl Mark {
    /// The first row of a batch that is not before the mark.
    pub fn first(&self, batch: &Batch) -> usize {
        match batch.file.cmp(&self.file) {
            std::cmp::Ordering::Less => batch.len(),
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Equal => batch.rows.partition_point(|row| *row < self.row),
        }
    }
}

/// The marks of a log that is being read.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    marks: Vec<Mark>,
    /// The number of transitions up to the next one.
    left: u64,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            marks: vec![Mark::default()],
            left: NODE,
        }
    }
}

impl Marks {
    /// Pairs the rows of a batch, and marks where nodes start.
    pub fn follow(&mut self, pairing: &mut Pairing, schema: &Schema, batch: &Batch) {
        let mut from = 0;
        while from < batch.len() || (from == 0 && batch.gap_after) {
            let left = &mut self.left;
            from = pairing.push(schema, batch, from, |_| {
                *left -= 1;
                match *left {
                    0 => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            });
            if self.left > 0 {
                return;
            }
            self.left = NODE;
            // Open episodes of interleaved rows could take much memory; such logs are not read in parts.
            if pairing.resumed() == 0 {
                let row = batch.rows.get(from).copied();
                let last = || batch.rows.last().map_or(1, |row| row + 1);
                self.marks.push(Mark {
                    file: batch.file,
                    row: row.unwrap_or_else(last),
                    before: pairing.transitions(),
                    pairing: pairing.clone(),
                });
            }
        }
    }

    /// The starts of the nodes of a log with this number of transitions.
    pub fn finish(mut self, transitions: u64) -> Vec<Mark> {
        self.marks.retain(|mark| mark.before < transitions);
        self.marks
    }
}
