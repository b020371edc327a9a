//! Assigns independent units, such as episodes or users, to groups, and counts them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::solve::influence::Grouping;

/// The maximum number of units that are counted exactly; beyond, a sample of them is counted.
const COUNTED: usize = 1 << 16;

/// The units of a stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Units {
    /// The group of each of the first units.
    first: BTreeMap<u64, usize>,
    /// The unit of the last transition, and its group.
    last: Option<(u64, usize)>,
    distinct: Distinct,
}

impl Units {
    /// The group of a unit's transition: its own for the first units; later ones share them at random, by the hash of their names.
    #[inline]
    pub fn group(&mut self, unit: u64) -> usize {
        match self.last {
            Some((last, group)) if last == unit => group,
            _ => self.change(unit),
        }
    }

    fn change(&mut self, unit: u64) -> usize {
        let (most, next) = (Grouping::Independent.most_groups(), self.first.len());
        let group = match self.first.get(&unit) {
            Some(group) => *group,
            None if next < most => {
                self.first.insert(unit, next);
                next
            }
            None => (mix(unit) % most as u64) as usize,
        };
        self.distinct.add(unit);
        self.last = Some((unit, group));
        group
    }

    /// The number of units; estimated to 1 % if there are more than 65,536.
    pub fn count(&self) -> u64 {
        self.distinct.count()
    }

    /// Whether the saved form can be true.
    pub fn is_sound(&self) -> bool {
        let most = Grouping::Independent.most_groups();
        let groups = self.first.values().chain(self.last.iter().map(|(_, g)| g));
        self.first.len() <= most && groups.into_iter().all(|group| *group < most)
    }
}

/// Counts distinct numbers: exactly up to a limit, then those whose hash ends in `level` zero bits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distinct {
    level: u32,
    /// Their hashes.
    kept: BTreeSet<u64>,
}

impl Distinct {
    /// Adds a number; returns whether it is new, as far as that is known.
    pub fn add(&mut self, number: u64) -> bool {
        let hash = mix(number);
        if hash.trailing_zeros() < self.level {
            return true;
        }
        let new = self.kept.insert(hash);
        while self.kept.len() > COUNTED {
            self.level += 1;
            let level = self.level;
            self.kept.retain(|hash| hash.trailing_zeros() >= level);
        }
        new
    }

    /// Their number.
    #[must_use]
    pub fn count(&self) -> u64 {
        (self.kept.len() as u64) << self.level.min(32)
    }
}

/// The finaliser of SplitMix64.
fn mix(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_keep_their_group_and_are_counted() {
        let mut units = Units::default();
        let first: Vec<usize> = (0..1000).map(|unit| units.group(unit)).collect();
        assert_eq!(first[..256], (0..256).collect::<Vec<_>>());
        let again: Vec<usize> = (0..1000).map(|unit| units.group(unit)).collect();
        assert_eq!(first, again);
        assert_eq!(units.count(), 1000);
        assert!(units.is_sound());
    }

    #[test]
    fn many_numbers_are_counted_to_a_percent() {
        let mut distinct = Distinct::default();
        (0..1_000_000).for_each(|number| {
            distinct.add(number);
        });
        assert!(distinct.kept.len() <= COUNTED);
        let off = distinct.count() as f64 / 1e6 - 1.0;
        assert!(off.abs() < 0.01, "{off}");
    }
}
