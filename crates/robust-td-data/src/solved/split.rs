//! Splits a log into four folds of independent units, for cross-validation.

use super::unit::{Unit, part};
use crate::chunks::Placed;
use crate::hash::mix;

/// The number of folds.
pub(crate) const FOLDS: usize = 4;
/// With fewer episodes than this, a log is split into blocks of consecutive transitions instead.
const FEWEST_EPISODES: u64 = 8;
/// With fewer episodes than this, folds take turns, so that they hold equally many.
const FEW_EPISODES: u64 = 40;
/// The smallest and the largest number of blocks, and the effective horizons 1 / (1 - gamma) that a block should span.
const BLOCKS: [u64; 2] = [8, 40];
const HORIZONS: f64 = 10.0;

/// Which unit and which fold a transition belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Split {
    unit: Unit,
    /// The number of episodes.
    episodes: u64,
    transitions: u64,
    blocks: u64,
}

impl Split {
    /// The split of a log with this unit of independence.
    pub fn new(unit: Unit, episodes: u64, transitions: u64, discount: f64) -> Self {
        let unit = match unit {
            Unit::Episode if episodes < FEWEST_EPISODES => Unit::Time,
            unit => unit,
        };
        let [fewest, most] = BLOCKS;
        // A block that is short beside the horizon shows little of the returns of its rows.
        let horizons = transitions as f64 * (1.0 - discount) / HORIZONS;
        Self {
            unit,
            episodes,
            transitions,
            blocks: (horizons as u64).clamp(fewest, most),
        }
    }

    /// The number of a transition's unit, and its fold.
    pub fn of(&self, placed: &Placed<'_>) -> (u64, usize) {
        let folds = FOLDS as u64;
        let (unit, fold) = match self.unit {
            Unit::Time => {
                let block = part(placed.number, self.blocks, self.transitions);
                (block, block % folds)
            }
            Unit::Episode if self.episodes < FEW_EPISODES => (placed.run, placed.run % folds),
            unit => {
                let key = unit.key(placed);
                (key, mix(key) % folds)
            }
        };
        (unit, fold as usize)
    }

    /// Whether all transitions of a unit follow each other.
    pub fn is_ordered(&self) -> bool {
        !self.unit.is_named()
    }

    /// The unit.
    pub fn unit(&self) -> Unit {
        self.unit
    }
}
