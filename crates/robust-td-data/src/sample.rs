//! Samples observations of a log, and orders them by their predicted values.

use robust_td_core::features::{FeatureMap, Row};
use robust_td_core::learner::LinearValue;

use serde::{Deserialize, Serialize};

use crate::chunks::Placed;
use crate::hash::mix;

/// The expected number of observations in a sample.
const SIZE: u64 = 2048;
/// The number of rows shown.
const SHOWN: usize = 5;

/// A sample of a stream of unknown length holds at most this number of observations.
const STREAM_SIZE: usize = 512;

/// Some observations of a stream, chosen by the hash of their number: those that end in `level` zero bits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StreamSample {
    level: u32,
    /// The number of each, and its observation.
    kept: Vec<(u64, Vec<f64>)>,
}

impl StreamSample {
    /// Adds the observation of the transition with this number, or not.
    #[inline]
    pub fn consider(&mut self, number: u64, obs: &[f64]) {
        if mix(number).trailing_zeros() >= self.level {
            self.keep(number, obs);
        }
    }

    fn keep(&mut self, number: u64, obs: &[f64]) {
        self.kept.push((number, obs.to_vec()));
        while self.kept.len() > STREAM_SIZE {
            self.level += 1;
            let level = self.level;
            self.kept
                .retain(|(number, _)| mix(*number).trailing_zeros() >= level);
        }
    }

    /// The observations.
    pub fn sample(&self) -> Sample {
        Sample::of(self.kept.iter().flat_map(|(_, obs)| obs.clone()).collect())
    }

    /// Whether it fits observations of this length.
    pub fn fits(&self, inputs: usize) -> bool {
        self.kept.iter().all(|(_, obs)| obs.len() == inputs)
    }
}

/// Some observations of a log, chosen by the hash of their number, so that periodic logs do not bias the sample.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    /// One after the other.
    observations: Vec<f64>,
}

impl Sample {
    /// Adds a transition's observation, or not, given the number of transitions in the log.
    pub fn consider(&mut self, placed: &Placed<'_>, transitions: u64) {
        if mix(placed.number) % transitions.max(1) < SIZE {
            self.observations.extend_from_slice(placed.obs);
        }
    }

    /// A sample of these observations, one after the other.
    pub fn of(observations: Vec<f64>) -> Self {
        Self { observations }
    }

    /// Adds the observations of a later part of the log.
    pub fn merge(&mut self, later: Self) {
        self.observations.extend(later.observations);
    }

    /// The predicted values of the observations.
    pub fn predictions(self, map: &FeatureMap, value: &LinearValue) -> Predictions {
        let inputs = map.inputs().max(1);
        let mut row = Row::for_map(map);
        let rows = self.observations.chunks_exact(inputs).enumerate();
        let mut ordered: Vec<(f64, usize)> = rows
            .map(|(i, observation)| {
                map.write(observation, &mut row);
                (value.value(row.features()), i)
            })
            .collect();
        ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
        Predictions {
            observations: self.observations,
            inputs,
            ordered,
        }
    }
}

/// Observations with their predicted values, smallest value first.
pub(crate) struct Predictions {
    observations: Vec<f64>,
    inputs: usize,
    ordered: Vec<(f64, usize)>,
}

impl Predictions {
    /// The predicted values.
    pub fn values(&self) -> Vec<f64> {
        self.ordered.iter().map(|(value, _)| *value).collect()
    }

    /// A few observations from the smallest to the largest value.
    pub fn typical(&self) -> Vec<Vec<f64>> {
        let last = self.ordered.len().saturating_sub(1);
        let places = (0..SHOWN).map(|k| k * last / (SHOWN - 1));
        let rows = places.filter_map(|place| self.ordered.get(place));
        let mut rows: Vec<Vec<f64>> = rows
            .map(|(_, i)| self.observations[i * self.inputs..][..self.inputs].to_vec())
            .collect();
        rows.dedup();
        rows
    }
}
