//! Measures the numbers of a part of a log, column by column.

use std::collections::HashSet;

use robust_td_core::column_moments::ColumnMoments;
use serde::{Deserialize, Serialize};

use super::collinear::{CoMoments, CoSums};
use super::sentinels::Sentinels;
use super::stats::Stats;
use crate::batch::Batch;
use crate::fold::Merge;
use crate::parts::Part;
use crate::schema::Schema;
use crate::thinned::Thinned;

/// Statistics of the numbers in consecutive rows; those of parts can be merged.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Values {
    pub features: ColumnMoments,
    pub moments: CoMoments,
    /// One column; none without rewards.
    pub reward: ColumnMoments,
    /// Codes for missing values in the features, and in the rewards.
    pub sentinels: Vec<Sentinels>,
    pub reward_sentinels: Sentinels,
    /// Observations and rewards of some rows.
    pub rows: Thinned,
    /// Of the norms of observations, one column.
    pub norm: ColumnMoments,
    /// The largest norm of next observations.
    pub next_norm: f64,
    /// Rows whose next observation is the observation.
    pub next_is_same: u64,
}

impl Values {
    /// The statistics of a part.
    pub fn of(part: &Part, schema: &Schema) -> Self {
        let (d, has_reward) = (part.dimension(), schema.reward);
        let mut values = Self {
            features: ColumnMoments::new(d),
            reward: ColumnMoments::new(usize::from(has_reward)),
            norm: ColumnMoments::new(1),
            rows: Thinned::after(part.before, d + usize::from(has_reward)),
            ..Self::default()
        };
        let mut products = CoSums::new(d);
        let (mut number, mut norms) = (part.before, Vec::new());
        for (batch, rows) in part.pieces() {
            let observations = &batch.obs[rows.start * d..rows.end * d];
            values.features.add(observations);
            products.add(observations);
            if has_reward {
                values.reward.add(&batch.rewards[rows.clone()]);
            }
            norms.clear();
            norms.extend(rows.clone().map(|i| norm(schema, batch.obs(i))));
            values.norm.add(&norms);
            for i in rows {
                let reward = &batch.rewards[i..i + usize::from(has_reward)];
                values.rows.consider(number, [batch.obs(i), reward]);
                number += 1;
                if let Some(next) = batch.next_obs(i) {
                    values.next_norm = values.next_norm.max(norm(schema, next));
                    values.next_is_same += u64::from(next == batch.obs(i));
                }
            }
        }
        values.moments = products.finish();
        let column = |k: usize| move |batch: &Batch, i: usize| batch.obs[i * d + k];
        values.sentinels = (0..d)
            .map(|k| sentinels(part, &values.features, k, column(k)))
            .collect();
        if has_reward {
            values.reward_sentinels =
                sentinels(part, &values.reward, 0, |batch, i| batch.rewards[i]);
        }
        values
    }

    /// Whether most observations of the sample occur in it again and again, as those of a few states do.
    pub fn states_recur(&self) -> bool {
        /// Rows that were written two or three times are not states.
        const TIMES: usize = 4;
        let d = self.features.columns();
        let bits = |row: &[f64]| -> Vec<u64> { row[..d].iter().map(|x| x.to_bits()).collect() };
        let distinct: HashSet<Vec<u64>> = self.rows.rows().map(bits).collect();
        TIMES * distinct.len() <= self.rows.rows().count()
    }

    /// Whether its sizes are those of this number of features.
    pub fn fits(&self, dimension: usize, has_reward: bool) -> bool {
        let rewards = usize::from(has_reward);
        self.features.fits(dimension)
            && self.moments.fits(dimension)
            && self.reward.fits(rewards)
            && self.norm.fits(1)
            && self.sentinels.len() == dimension
            && self.rows.fits(dimension + rewards)
    }
}

impl Merge for Values {
    fn merge(&mut self, later: Self) {
        if self.norm.count() == 0 {
            *self = later;
            return;
        }
        self.features.merge(later.features);
        self.moments.merge(&later.moments);
        self.reward.merge(later.reward);
        self.norm.merge(later.norm);
        let codes = self.sentinels.iter_mut().zip(later.sentinels);
        codes.for_each(|(all, more)| all.merge(more));
        self.reward_sentinels.merge(later.reward_sentinels);
        self.rows.merge(&later.rows);
        self.next_norm = self.next_norm.max(later.next_norm);
        self.next_is_same += later.next_is_same;
    }
}

impl Values {
    /// The same, with the means and spreads known.
    pub fn finished(self) -> Self {
        Self {
            features: self.features.finished(),
            reward: self.reward.finished(),
            norm: self.norm.finished(),
            ..self
        }
    }
}

/// The statistics of column k, if there were any numbers.
pub(super) fn stats(columns: &ColumnMoments, k: usize) -> Option<Stats> {
    (columns.count() > 0 && k < columns.columns()).then(|| Stats {
        min: columns.low()[k],
        max: columns.high()[k],
        mean: columns.means()[k],
        std: (columns.spreads()[k] / columns.count() as f64).sqrt(),
    })
}

/// The value of column k, if it is the same in several rows and no other.
pub(super) fn constant(columns: &ColumnMoments, k: usize) -> Option<f64> {
    let low = *columns.low().get(k)?;
    (columns.count() > 1 && low == columns.high()[k]).then_some(low)
}

/// The codes in column k of a part; the range of the column shows whether there can be any.
fn sentinels(
    part: &Part,
    columns: &ColumnMoments,
    k: usize,
    cell: impl Fn(&Batch, usize) -> f64,
) -> Sentinels {
    let (low, high) = (columns.low()[k], columns.high()[k]);
    if !Sentinels::possible(low, high) {
        return Sentinels::without_codes(low, high);
    }
    let mut found = Sentinels::default();
    for (batch, rows) in part.pieces() {
        for i in rows {
            found.add(cell(batch, i), (batch.file, batch.rows[i]));
        }
    }
    found
}

/// The norm of the numbers of an observation; the codes of categories are none.
fn norm(schema: &Schema, x: &[f64]) -> f64 {
    if schema.categories.is_empty() {
        return x.iter().map(|x| x * x).sum::<f64>().sqrt();
    }
    let numbers = (x.iter().enumerate()).filter(|(k, _)| !schema.is_category(*k));
    // The sum of nothing would be -0.
    numbers.fold(0.0, |sum, (_, x)| sum + x * x).sqrt()
}
