//! What an inspection finds in the order of rows; that of parts of a log can be merged.

use serde::{Deserialize, Serialize};

use super::copies::Copies;
use super::episodes::Episodes;
use super::levels::Levels;
use super::names::Names;
use super::tally::Tally;
use crate::blocks::Blocks;

/// Counts of consecutive rows, and the places of the first rows that look wrong.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Of the pairing of rows, for a part of a log.
    pub rows: u64,
    pub transitions: u64,
    pub runs: u64,
    pub episodes: Episodes,
    pub copies: Copies,
    /// The categories, in order.
    pub levels: Vec<Levels>,
    /// Rows whose next observation could be compared with the following row.
    pub comparable: u64,
    pub misaligned: Tally,
    pub both_ends: Tally,
    pub duplicated: Tally,
    /// File and number of the first row.
    pub first: Option<(usize, u64)>,
    /// For a part of a log: the names of its episodes, and where its transitions are.
    pub names: Option<Names>,
    pub blocks: Blocks,
}

impl Order {
    /// Adds the next part of the log.
    pub fn merge(&mut self, later: Self) {
        self.rows += later.rows;
        self.transitions += later.transitions;
        self.runs += later.runs;
        self.episodes.merge(later.episodes);
        self.copies.merge(later.copies);
        if self.levels.is_empty() {
            self.levels = later.levels;
        } else {
            let pairs = self.levels.iter_mut().zip(later.levels);
            pairs.for_each(|(own, later)| own.merge(later));
        }
        self.comparable += later.comparable;
        self.misaligned.merge(later.misaligned);
        self.both_ends.merge(later.both_ends);
        self.duplicated.merge(later.duplicated);
        self.first = self.first.or(later.first);
        if let (Some(own), Some(later)) = (&mut self.names, later.names) {
            own.merge(later);
        }
        self.blocks.append(later.blocks);
    }

    /// Whether its sizes can be used, for a log with this number of categories.
    pub fn fits(&self, categories: usize) -> bool {
        self.episodes.fits() && self.levels.len() == categories && self.blocks.fits(self.rows)
    }

    /// Whether parts show all that the rows would show one after the other: no name of an episode occurs again after rows of others, and all
    /// levels are counted.
    pub fn is_exact(&self) -> bool {
        let names = self.names.as_ref();
        names.is_none_or(|names| !names.recur()) && self.levels.iter().all(Levels::is_complete)
    }
}
