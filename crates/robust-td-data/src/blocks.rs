//! Counts the transitions of a log in blocks of rows, so that any of them can be found again.

use serde::{Deserialize, Serialize};

/// The number of rows in a block.
pub(crate) const BLOCK: u64 = 16_384;
/// The number of blocks after which the sums so far are stored.
const GROUP: usize = 16;

/// The transitions that the rows of each block complete, and the episodes that start with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Blocks {
    counts: Vec<(u16, u16)>,
}

impl Blocks {
    /// Adds a transition that this row completes, in numbers from 0.
    #[inline]
    pub fn add(&mut self, row: u64, starts: bool) {
        let block = (row / BLOCK) as usize;
        if self.counts.len() <= block {
            self.counts.resize(block + 1, (0, 0));
        }
        let (transitions, runs) = &mut self.counts[block];
        *transitions += 1;
        *runs += u16::from(starts);
    }

    /// The counts of a part that ends after this number of rows.
    pub fn end(&mut self, rows: u64) {
        self.counts.resize(rows.div_ceil(BLOCK) as usize, (0, 0));
    }

    /// Adds the next part of the log; the first one has whole blocks.
    pub fn append(&mut self, later: Self) {
        self.counts.extend(later.counts);
    }

    /// Whether these are counts of this number of rows.
    pub fn fits(&self, rows: u64) -> bool {
        self.counts.len() as u64 == rows.div_ceil(BLOCK)
    }
}

/// A place in a log: the number of its row, of the transitions that the rows before complete, and of the episodes that start with these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub row: u64,
    pub transitions: u64,
    pub runs: u64,
}

/// The same, with sums.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    blocks: Blocks,
    /// The sums before every sixteenth block.
    sums: Vec<Counted>,
}

impl Index {
    pub fn new(blocks: Blocks) -> Self {
        let mut sums = Vec::with_capacity(blocks.counts.len() / GROUP + 1);
        let mut here = Counted::default();
        for group in blocks.counts.chunks(GROUP) {
            sums.push(here);
            group.iter().for_each(|counts| here = here.after(*counts));
        }
        Self { blocks, sums }
    }

    /// The start of the block in which a transition is completed.
    pub fn find(&self, transition: u64) -> Counted {
        let group = self
            .sums
            .partition_point(|sum| sum.transitions <= transition);
        let group = group.saturating_sub(1);
        let mut here = self.sums.get(group).copied().unwrap_or_default();
        let rest = self.blocks.counts.iter().skip(group * GROUP);
        for counts in rest {
            let next = here.after(*counts);
            if next.transitions > transition {
                break;
            }
            here = next;
        }
        here
    }
}

impl Index {
    /// The end of the block in which a transition is completed; with `starts`, that of the next one in which an episode starts.
    pub fn after(&self, transition: u64, starts: bool) -> Counted {
        let mut here = self.find(transition);
        let rest = self.blocks.counts.iter().skip((here.row / BLOCK) as usize);
        for (k, counts) in rest.enumerate() {
            here = here.after(*counts);
            if !starts || k > 0 && counts.1 > 0 {
                break;
            }
        }
        here
    }
}

impl Counted {
    fn after(self, (transitions, runs): (u16, u16)) -> Self {
        Self {
            row: self.row + BLOCK,
            transitions: self.transitions + u64::from(transitions),
            runs: self.runs + u64::from(runs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transition_is_found_in_its_block() {
        let mut blocks = Blocks::default();
        // Block k has 1 + k % 3 transitions, but every seventh has none.
        let count = |k: u64| if k % 7 == 6 { 0 } else { 1 + k % 3 };
        for k in 0..100 {
            (0..count(k)).for_each(|n| blocks.add(k * BLOCK + n, n == 0));
        }
        blocks.end(100 * BLOCK);
        assert!(blocks.fits(100 * BLOCK) && !blocks.fits(100 * BLOCK + 1));
        let index = Index::new(blocks);
        let (mut number, mut runs) = (0, 0);
        for k in 0..100 {
            for _ in 0..count(k) {
                let found = index.find(number);
                let before = number - (number - (0..k).map(count).sum::<u64>());
                assert_eq!(
                    (found.row, found.transitions, found.runs),
                    (k * BLOCK, before, runs)
                );
                number += 1;
            }
            runs += u64::from(count(k) > 0);
        }
    }

    #[test]
    fn a_shard_is_read_to_the_next_block_with_a_start() {
        let mut blocks = Blocks::default();
        // Ten transitions in each of six blocks; episodes start in the blocks 0 and 4.
        for k in 0..6 {
            (0..10).for_each(|n| blocks.add(k * BLOCK + n, k % 4 == 0 && n == 5));
        }
        let index = Index::new(blocks);
        for (transition, starts, block) in [(0, false, 1), (9, false, 1), (10, false, 2)] {
            assert_eq!(index.after(transition, starts).row, block * BLOCK);
        }
        // A start in the block of the transition may be before it.
        for (transition, block) in [(0, 5), (9, 5), (39, 5), (40, 6), (59, 6)] {
            let found = index.after(transition, true);
            assert_eq!((found.row, found.transitions), (block * BLOCK, block * 10));
        }
        assert_eq!(index.after(1000, true).transitions, 60);
    }
}
