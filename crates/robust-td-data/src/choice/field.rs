//! Predicts the values of all rows with every candidate.

use robust_td_core::features::FeatureMap;
use robust_td_core::learner::{Features, Outcome};

use super::losses::{Row, longest};
use super::parts::{Part, Parts};
use crate::chunks::{Chunk, for_each_chunk};
use crate::error::Result;
use crate::replay::Replay;
use crate::returns::pooled;
use crate::solved::folds::Without;
use crate::solved::gather::Plan;
use crate::solved::split::Split;

/// A map with its values without each fold.
pub(super) struct Candidate {
    pub map: FeatureMap,
    pub without: Vec<Without>,
}

impl Candidate {
    /// The value of a row of a fold; `otherwise` if it needs features that are in that fold only.
    fn value(&self, fold: usize, phi: Features<'_>, otherwise: f64) -> f64 {
        let found = &self.without[fold];
        match found.identified.has_seen(phi) {
            true => phi.dot(&found.theta),
            false => otherwise,
        }
    }
}

/// What is compared, and on what.
pub(super) struct Field<'a> {
    pub base: Plan<'a>,
    pub split: Split,
    pub candidates: &'a [Candidate],
    /// The constant that stands for the value of a row whose features were never seen without its fold.
    pub constant: &'a [Without],
}

impl Field<'_> {
    /// Whether the parts of a unit follow each other.
    pub fn is_ordered(&self) -> bool {
        self.split.is_ordered() && !self.base.interleaved
    }

    /// Visits the parts of episodes, with the predictions of all candidates before and after each row.
    pub fn for_each_part(
        &self,
        replay: &mut Replay<'_>,
        mut visit: impl FnMut(&Part),
    ) -> Result<()> {
        let count = self.candidates.len().max(1);
        let longest = longest(self.base.discount);
        let mut parts = Parts::new(count, longest, self.base.interleaved);
        for_each_chunk(
            replay,
            &self.base,
            |chunk| self.rows(chunk),
            |found| {
                let values = found.predictions.chunks_exact(count);
                let values = values.zip(found.following.chunks_exact(count));
                for (row, (here, next)) in found.rows.iter().zip(values) {
                    parts.add(*row, [here, next], &mut visit);
                }
                Ok(())
            },
        )?;
        parts.finish(visit);
        Ok(())
    }

    /// The transitions of a chunk.
    fn rows(&self, chunk: &Chunk) -> Rows {
        let (count, length) = (self.candidates.len(), chunk.transitions as usize);
        let mut found = Rows {
            rows: Vec::with_capacity(length),
            predictions: vec![0.0; length * count],
            following: vec![0.0; length * count],
        };
        let ordered = self.is_ordered();
        for (k, candidate) in self.candidates.iter().enumerate() {
            let mut place = k;
            chunk.for_each(&candidate.map, |placed| {
                let (unit, fold) = self.split.of(placed);
                let (phi, outcome) = (placed.transition.features, placed.transition.outcome);
                let otherwise = self.constant[fold].theta[0];
                found.predictions[place] = candidate.value(fold, phi, otherwise);
                if let Some(next) = outcome.next_features() {
                    found.following[place] = candidate.value(fold, *next, otherwise);
                }
                place += count;
                if k == 0 {
                    found.rows.push(Row {
                        run: placed.run,
                        unit: if ordered { unit } else { pooled(unit) },
                        fold,
                        reward: placed.transition.reward,
                        after: 0.0,
                        restarts: placed.restarts,
                        terminated: matches!(outcome, Outcome::Terminated),
                        ends: outcome.ends_episode(),
                    });
                }
            });
        }
        let mut scratch = Vec::with_capacity(count);
        let following = found.following.chunks_exact(count.max(1));
        for (row, next) in found.rows.iter_mut().zip(following) {
            row.after = median(next, &mut scratch);
        }
        found
    }
}

/// The transitions of a chunk, and the predictions of all candidates before and after each.
struct Rows {
    rows: Vec<Row>,
    predictions: Vec<f64>,
    following: Vec<f64>,
}

/// The median; of an even number, the mean of the two in the middle.
fn median(values: &[f64], sorted: &mut Vec<f64>) -> f64 {
    sorted.clear();
    sorted.extend_from_slice(values);
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len().is_multiple_of(2)) {
        (Some(upper), true) => f64::midpoint(sorted[middle - 1], *upper),
        (Some(upper), false) => *upper,
        (None, _) => 0.0,
    }
}
