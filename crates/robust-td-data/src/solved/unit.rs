//! Decides which transitions may depend on each other.

use std::collections::HashMap;

use robust_td_core::influence::Grouping;
use serde::{Deserialize, Serialize};

use crate::chunks::{Placed, Run};
use crate::hash::mix;

/// With fewer episodes than this, intervals come from consecutive parts of the log.
const FEWEST_EPISODES: u64 = 2;
/// One unit in this number is held out to check the features.
const HELD_OUT: u64 = 4;
/// A log without episodes is held out in this many parts per held-out one.
const PARTS: u64 = 40;
/// The maximum number of units that are counted exactly.
const COUNTED: usize = 1 << 20;

/// The unit of independence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// None: the log is one trajectory.
    Time,
    /// The episode.
    Episode,
    /// The cluster column.
    Cluster,
}

impl Unit {
    /// The unit of a log.
    pub(crate) fn of(clusters: bool, episodes: Option<u64>) -> Self {
        match episodes {
            _ if clusters => Self::Cluster,
            Some(count) if count >= FEWEST_EPISODES => Self::Episode,
            _ => Self::Time,
        }
    }

    /// The number of a transition's unit; for a trajectory, that of the transition.
    pub(crate) fn key(self, placed: &Placed<'_>) -> u64 {
        match self {
            Self::Time => placed.number,
            Self::Episode => placed.run,
            Self::Cluster => placed.cluster(),
        }
    }

    /// The same for a transition of a run, given its number in the log.
    pub(crate) fn key_in(self, run: &Run<'_>, number: u64) -> u64 {
        match self {
            Self::Time => number,
            Self::Episode => run.episode,
            Self::Cluster => run.cluster,
        }
    }

    /// Whether its units are counted by name.
    pub(crate) fn is_named(self) -> bool {
        self == Self::Cluster
    }

    /// How groups of this unit depend on each other.
    fn grouping(self) -> Grouping {
        match self {
            Self::Time => Grouping::Ordered,
            _ => Grouping::Independent,
        }
    }

    /// Whether a transition is held out, among this number of transitions.
    pub(crate) fn is_held_out(self, placed: &Placed<'_>, transitions: u64) -> bool {
        self.holds_out(self.key(placed), transitions)
    }

    /// Whether the transitions with this key are held out.
    fn holds_out(self, key: u64, transitions: u64) -> bool {
        self.holds_out_part(self.part(key, transitions))
    }

    /// The number of the part of the log with this key, which is held out or not as a whole; of a trajectory, parts are numbered in their
    /// order.
    pub(crate) fn part(self, key: u64, transitions: u64) -> u64 {
        match self {
            Self::Time => part(key, PARTS, transitions),
            _ => mix(key),
        }
    }

    /// Whether a part is held out.
    pub(crate) fn holds_out_part(self, part: u64) -> bool {
        match self {
            Self::Time => part % HELD_OUT == HELD_OUT - 1,
            _ => part.is_multiple_of(HELD_OUT),
        }
    }
}

/// The part of a number below `of`, among `parts` parts of equal length.
pub(super) fn part(number: u64, parts: u64, of: u64) -> u64 {
    let of = of.max(1);
    let part = match number.checked_mul(parts) {
        Some(product) => product / of,
        None => (u128::from(number) * u128::from(parts) / u128::from(of)) as u64,
    };
    part.min(parts.saturating_sub(1))
}

/// The units of a log in order of appearance, as far as they are counted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub(crate) struct Units {
    index: HashMap<u64, u32>,
}

impl Units {
    /// Adds a unit.
    pub fn add(&mut self, key: u64) {
        let next = self.index.len();
        if next < COUNTED || self.index.contains_key(&key) {
            self.index.entry(key).or_insert(next as u32);
        }
    }

    /// The units, in order of appearance.
    pub fn keys(&self) -> Vec<u64> {
        let mut keys: Vec<(u32, u64)> = self.index.iter().map(|(key, at)| (*at, *key)).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, key)| key).collect()
    }

    /// Their number.
    pub fn count(&self) -> u64 {
        self.index.len() as u64
    }
}

impl From<Vec<u64>> for Units {
    fn from(keys: Vec<u64>) -> Self {
        let mut units = Self::default();
        keys.into_iter().for_each(|key| units.add(key));
        units
    }
}

impl From<Units> for Vec<u64> {
    fn from(units: Units) -> Self {
        units.keys()
    }
}

/// The groups whose scores are added up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Groups {
    unit: Unit,
    /// The number of units, or of transitions in a trajectory.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    units: u64,
    index: HashMap<u64, u32>,
    most: usize,
}

impl Groups {
    /// The groups of a log, at most this number: its units, or several units in each group if there are too many.
    pub fn new(unit: Unit, units: u64, known: &Units, most: usize) -> Self {
        let most = most.min(unit.grouping().most_groups());
        let index = match known.index.len() <= most {
            true => known.index.clone(),
            false => HashMap::new(),
        };
        Self {
            unit,
            units,
            index,
            most,
        }
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.units.clamp(1, self.most as u64) as usize
    }

    /// How they depend on each other.
    pub fn grouping(&self) -> Grouping {
        self.unit.grouping()
    }

    /// The number of clusters behind them; of a trajectory, the groups themselves.
    pub fn clusters(&self) -> u64 {
        match self.grouping() {
            Grouping::Ordered => self.count() as u64,
            Grouping::Independent => self.units,
        }
    }

    /// The group of a transition.
    pub fn of(&self, placed: &Placed<'_>) -> usize {
        self.of_key(self.unit.key(placed))
    }

    /// The group of a transition of a run, given its number in the log.
    pub fn of_run(&self, run: &Run<'_>, number: u64) -> usize {
        self.of_key(self.unit.key_in(run, number))
    }

    fn of_key(&self, key: u64) -> usize {
        let count = self.count() as u64;
        let group = match self.unit {
            Unit::Time | Unit::Episode => part(key, count, self.units),
            _ => match self.index.get(&key) {
                Some(index) => u64::from(*index),
                None => mix(key) % count,
            },
        };
        group as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of any length are held out as their transitions are one by one, also where several parts fit into a run.
    #[test]
    fn runs_are_held_out_as_their_transitions_are() {
        for transitions in [1, 39, 40, 41, 300, 829, 1000, 2400, 2560, 5000] {
            for unit in [Unit::Time, Unit::Episode, Unit::Cluster] {
                let mut number = 0;
                let mut held = 0;
                while number < transitions {
                    let length = (mix(number) % 64 + 1).min(transitions - number) as usize;
                    let numbers = vec![0.0; length];
                    let run = Run::of_numbers(&numbers, number);
                    let mut next = number;
                    run.split(
                        |number| unit.part(unit.key_in(&run, number), transitions),
                        |part, piece| {
                            assert_eq!(piece.number, next);
                            next += piece.len() as u64;
                            for number in piece.number..next {
                                let key = unit.key_in(piece, number);
                                assert_eq!(
                                    unit.holds_out_part(part),
                                    unit.holds_out(key, transitions)
                                );
                            }
                            held += u64::from(unit.holds_out_part(part)) * piece.len() as u64;
                        },
                    );
                    number += length as u64;
                    assert_eq!(next, number);
                }
                if unit == Unit::Time && transitions >= 300 {
                    assert!(
                        (held * 4).abs_diff(transitions) < transitions / 10,
                        "{held}"
                    );
                }
            }
        }
    }
}
