//! Follows a stream: keeps what its TD fixed point, its error and the value of the policy need at any time, and no rows.

mod answer;

use std::ops::ControlFlow;

use robust_td_core::features::FeatureMap;
use robust_td_core::learner::{Outcome, Transition};
use robust_td_core::online::{LARGEST_DIMENSION, Online};
use serde::{Deserialize, Serialize};

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::feature_rows::FeatureRows;
use crate::pairing::{Pairing, Step};
use crate::returns;
use crate::returns::whole::Whole;
use crate::sample::StreamSample;
use crate::schema::Schema;

/// The maximum number of features whose equations are kept while following a stream.
pub(crate) const LARGEST: usize = LARGEST_DIMENSION;

/// The state of a stream; saved at any row and restored, it resumes bit-identically.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Streamed {
    features: FeatureMap,
    /// The columns of the observation.
    columns: Vec<String>,
    online: Online,
    pairing: Pairing,
    /// Whether the log has names of episodes, or an episode has ended.
    episodic: bool,
    /// Whether an episode resumed after rows of another one.
    interleaved: bool,
    /// The returns of complete episodes.
    whole: Whole,
    sample: StreamSample,
    /// The largest squared norm of the features.
    #[serde(with = "robust_td_core::exact_float")]
    norm_sq: f64,
    /// The roles that some row had: importance ratios, clusters.
    ratios: bool,
    clusters: bool,
    #[serde(deserialize_with = "robust_td_core::count::read")]
    bad_rows: u64,
    /// The maximum number of transitions to use.
    limit: Option<u64>,
}

impl Streamed {
    /// The state before the first row.
    ///
    /// # Errors
    /// When there are no features, or more than [`LARGEST`], or the discount is 1.
    pub fn new(
        features: FeatureMap,
        schema: &Schema,
        discount: f64,
        limit: Option<u64>,
    ) -> Result<Self> {
        let inputs = features.inputs();
        let columns = 0..inputs;
        Ok(Self {
            online: Online::new(features.outputs(), discount)?,
            columns: columns.map(|k| schema.feature_name(k, inputs)).collect(),
            features,
            pairing: Pairing::of_stream(),
            episodic: false,
            interleaved: false,
            whole: Whole::default(),
            sample: StreamSample::default(),
            norm_sq: 0.0,
            ratios: false,
            clusters: false,
            bad_rows: 0,
            limit,
        })
    }

    /// The number of transitions.
    pub fn transitions(&self) -> u64 {
        self.online.count()
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.online.dimension()
    }

    /// Whether it has used all transitions that it may.
    pub fn is_complete(&self) -> bool {
        self.limit.is_some_and(|limit| self.transitions() >= limit)
    }

    /// Counts bad rows that were skipped.
    pub fn skip(&mut self, bad_rows: u64) {
        self.bad_rows += bad_rows;
    }

    /// Buffers for the features of rows.
    pub fn feature_rows(&self) -> FeatureRows {
        FeatureRows::for_map(&self.features)
    }

    /// Uses the rows of a batch, starting at `from`, until it is complete or has used `until` transitions; returns the
    /// first row not consumed.
    ///
    /// # Errors
    /// When the observations do not have the length that the feature map expects.
    pub fn learn(
        &mut self,
        rows: &mut FeatureRows,
        schema: &Schema,
        batch: &Batch,
        from: usize,
        until: u64,
    ) -> Result<usize> {
        let (expected, found) = (self.features.inputs(), batch.dimension());
        if !batch.is_empty() && expected != found {
            return Err(Error::ModelInput { expected, found });
        }
        let until = until.min(self.limit.unwrap_or(u64::MAX));
        let mut left = until.saturating_sub(self.transitions());
        if left == 0 {
            return Ok(from);
        }
        self.ratios |= schema.ratio;
        self.clusters |= schema.cluster;
        rows.start_batch(&self.features, batch);
        let mut pairing = std::mem::take(&mut self.pairing);
        let next = pairing.push(schema, batch, from, |step| {
            self.step(rows, schema, batch, &step);
            left -= 1;
            match left == 0 {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        self.pairing = pairing;
        Ok(next)
    }

    #[inline]
    fn step(&mut self, rows: &mut FeatureRows, schema: &Schema, batch: &Batch, step: &Step<'_>) {
        let named = schema.episode.then(|| batch.episodes[step.row]);
        self.episodic |= named.is_some() || step.outcome.ends_episode();
        self.interleaved |= step.resumes;
        let unit = match named {
            _ if schema.cluster => batch.clusters[step.row],
            Some(episode) => episode,
            None => step.run,
        };
        self.sample.consider(self.online.count(), step.obs);
        self.whole.turn(step.run, self.interleaved);
        if step.restart {
            self.whole.restart(step.starts_episode());
        }
        let cluster = schema.cluster.then(|| returns::pooled(unit));
        self.whole.add(step.reward, self.online.discount(), cluster);
        if step.outcome.ends_episode() {
            self.whole.end(matches!(step.outcome, Outcome::Terminated));
        }
        let (here, outcome) = rows.of(&mut self.features, batch, step);
        let next = outcome.next_features().map_or(0.0, |next| next.norm_sq());
        self.norm_sq = self.norm_sq.max(here.norm_sq()).max(next);
        let transition = Transition::new(here, step.reward, outcome).with_ratio(step.ratio);
        self.online.add(&transition, unit, step.starts_episode());
    }

    /// Whether the saved form fits a feature map.
    pub fn fits(&self, map: &FeatureMap) -> bool {
        self.features == *map
            && self.online.dimension() == map.outputs()
            && self.columns.len() == map.inputs()
            && self.pairing.fits(map.inputs())
            && self.sample.fits(map.inputs())
    }
}
