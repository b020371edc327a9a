//! Checks the rows of a node of a log, which may start and end within an episode.

use serde::{Deserialize, Serialize};

use super::sums::{Compared, Row, Sums};
use super::whole::{Part, Whole};
use super::{CompleteReturns, ReturnCheck};
use crate::fold::Merge;

/// What a node shows. Comparisons are cut at its edges; the returns of whole episodes are continued across them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Checked {
    compared: Compared,
    /// The first rows, if they continue an episode of before.
    head: Option<Head>,
    /// What follows.
    whole: Whole,
}

/// Rows that continue an episode.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Head {
    part: Part,
    /// Whether the episode was complete where it ended; none if it has not ended.
    ended: Option<bool>,
}

/// A node whose rows are being added.
pub(super) struct Open {
    discount: f64,
    sums: Sums,
    found: Checked,
    is_empty: bool,
}

impl Open {
    /// A node before its first row.
    pub fn new(edges: Vec<f64>, discount: f64) -> Self {
        Self {
            discount,
            sums: Sums::new(edges, discount, false),
            found: Checked::default(),
            is_empty: true,
        }
    }

    pub fn row(&mut self, row: &Row) {
        self.sums.compare(row);
        let Checked { head, whole, .. } = &mut self.found;
        if std::mem::take(&mut self.is_empty) && !row.restarts {
            let part = Part::continued();
            *head = Some(Head { part, ended: None });
        }
        if let Some(head) = head.as_mut().filter(|head| head.ended.is_none()) {
            if !row.restarts {
                head.part.add(row.reward, self.discount, row.cluster);
                head.ended = row.ends.then_some(row.terminated);
                return;
            }
            head.ended = Some(false);
        }
        whole.turn(row.run, false);
        whole.row(row, self.discount);
    }

    /// The node.
    pub fn close(mut self) -> Checked {
        self.found.compared = self.sums.compared();
        self.found.whole.end_others();
        self.found
    }
}

impl Merge for Checked {
    fn merge(&mut self, later: Self) {
        self.compared.merge(later.compared);
        let open = self.head.as_mut().filter(|head| head.ended.is_none());
        match (open, later.head) {
            // All rows so far are of one episode.
            (Some(own), Some(more)) => {
                own.part.extend(&more.part);
                own.ended = more.ended;
            }
            (Some(own), None) => own.ended = Some(false),
            (None, Some(more)) => {
                self.whole.extend(&more.part, more.ended);
                if more.ended.is_none() {
                    return;
                }
            }
            (None, None) => {}
        }
        self.whole.absorb(later.whole);
    }
}

impl Checked {
    /// Whether it has this number of groups.
    pub fn fits(&self, groups: usize) -> bool {
        self.compared.fits(groups)
    }

    /// The check, and the returns of whole episodes.
    pub fn finish(self, held_out: bool, noise: [f64; 2]) -> (ReturnCheck, Option<CompleteReturns>) {
        (self.compared).finish(held_out, self.whole.finish(), noise)
    }
}
