//! Merges what the chunks of a log give in a fixed tree, so that any part of the log can be merged elsewhere.
//!
//! Floating-point sums depend on their order. Here 64 chunks make a node, 64 nodes make one of the next level, and so on; within a node, results
//! are merged one after the other. So a node is the same bits whoever computes it, and the whole does not depend on where its nodes came from. A
//! log of up to 65 chunks is merged one after the other.

use serde::{Deserialize, Serialize};

use crate::elsewhere::misfit::{misfit, wrong_order};
use crate::error::Result;

/// The number of results that a node merges.
pub(crate) const FAN: u64 = 64;
/// The largest number of levels: 64^10 chunks are more than there are numbers for rows.
const LEVELS: usize = 11;

/// What can be merged with a later part of the same log.
pub(crate) trait Merge {
    fn merge(&mut self, later: Self);
}

impl<T: Merge> Merge for Vec<T> {
    fn merge(&mut self, later: Self) {
        let pairs = self.iter_mut().zip(later);
        pairs.for_each(|(own, later)| own.merge(later));
    }
}

/// The nodes so far that have no parent: on each level, what is merged of the next node, and from how many.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Fold<T> {
    levels: Vec<Option<(T, u64)>>,
}

impl<T> Default for Fold<T> {
    fn default() -> Self {
        Self { levels: Vec::new() }
    }
}

impl<T: Merge> Fold<T> {
    /// Adds the result of the next chunk.
    pub fn push(&mut self, result: T) {
        self.put(0, result);
    }

    /// Adds the next node: of 64 chunks at level 1, or fewer at the end of the log.
    pub fn put(&mut self, level: usize, node: T) {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, || None);
        }
        let count = match &mut self.levels[level] {
            Some((all, count)) => {
                all.merge(node);
                *count += 1;
                *count
            }
            empty => {
                *empty = Some((node, 1));
                1
            }
        };
        if count == FAN
            && let Some((whole, _)) = self.levels[level].take()
        {
            self.put(level + 1, whole);
        }
    }

    /// Adds what was merged of the next part of the log.
    ///
    /// # Errors
    /// When that part does not start where a node starts.
    pub fn append(&mut self, later: Self) -> Result<()> {
        if later.levels.len() > LEVELS {
            return Err(misfit("a state has too many levels"));
        }
        for (level, slot) in later.levels.into_iter().enumerate().rev() {
            let Some((node, count)) = slot else {
                continue;
            };
            let lower = self.levels.iter().take(level);
            if lower.flatten().next().is_some() {
                return Err(misfit("a part is missing before a complete one"));
            }
            if count == 1 {
                self.put(level, node);
                continue;
            }
            if self.levels.len() <= level {
                self.levels.resize_with(level + 1, || None);
            }
            match &mut self.levels[level] {
                empty @ None if (1..FAN).contains(&count) => *empty = Some((node, count)),
                _ => return Err(wrong_order()),
            }
        }
        Ok(())
    }

    /// What was merged of consecutive parts of the log.
    ///
    /// # Errors
    /// The first of theirs, and those of [`append`](Self::append).
    pub fn of_parts(parts: impl Iterator<Item = Result<Self>>) -> Result<Self> {
        let mut all = Self::default();
        for part in parts {
            all.append(part?)?;
        }
        Ok(all)
    }

    /// The nodes and the rest, merged; none if there was nothing.
    pub fn finish(self) -> Option<T> {
        let nodes = self.levels.into_iter().rev().flatten();
        nodes.map(|(node, _)| node).reduce(|mut all, later| {
            all.merge(later);
            all
        })
    }

    /// All results, in order.
    pub fn nodes(&self) -> impl Iterator<Item = &T> {
        let nodes = self.levels.iter().rev().flatten();
        nodes.map(|(node, _)| node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of merging, written down.
    #[derive(Debug, Clone, PartialEq)]
    struct Trace(String);

    impl Merge for Trace {
        fn merge(&mut self, later: Self) {
            self.0 = format!("({}+{})", self.0, later.0);
        }
    }

    fn folded(chunks: std::ops::Range<u64>) -> Fold<Trace> {
        let mut fold = Fold::default();
        chunks.for_each(|k| fold.push(Trace(k.to_string())));
        fold
    }

    #[test]
    fn parts_are_merged_as_the_whole_is() {
        for chunks in [1, 63, 64, 65, 128, 200, 4096, 5000, 64 * 130 + 7] {
            let whole = folded(0..chunks).finish().unwrap();
            // Tasks of one node each, merged in groups of 64, and those again.
            let mut states: Vec<Fold<Trace>> = (0..chunks.div_ceil(FAN))
                .map(|k| folded(k * FAN..chunks.min((k + 1) * FAN)))
                .collect();
            while states.len() > 1 {
                let groups = states.chunks(FAN as usize);
                let merged = groups.map(|group| {
                    let mut all = Fold::default();
                    for state in group {
                        all.append(state.clone()).unwrap();
                    }
                    all
                });
                states = merged.collect();
            }
            assert_eq!(states.pop().unwrap().finish().unwrap(), whole, "{chunks}");
        }
    }

    #[test]
    fn few_chunks_are_merged_one_after_the_other() {
        assert_eq!(folded(0..4).finish().unwrap().0, "(((0+1)+2)+3)");
        assert_eq!(folded(0..0).finish(), None);
    }

    #[test]
    fn parts_in_another_order_are_refused() {
        let mut all = folded(0..70);
        assert!(all.append(folded(64..128)).is_err());
        let mut all = folded(0..128);
        assert!(all.append(folded(128..130)).is_ok());
        assert!(all.append(folded(130..132)).is_err());
    }
}
