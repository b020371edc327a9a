//! Samples observations, starts and episodes of a log, and predicts their values.

use robust_td_core::Features;
use robust_td_core::features::{FeatureMap, Row};
use robust_td_core::learner::LinearValue;

use serde::{Deserialize, Serialize};

use crate::chunks::{Placed, Run};
use crate::episode_sample::{EpisodeSample, Traces};
use crate::hash::mix;
use crate::thinned::{Thinned, most};

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
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// One after the other.
    observations: Vec<f64>,
    /// First observations of episodes.
    starts: Thinned,
    episodes: Traces,
}

impl Sample {
    /// Adds a transition's observation, or not, given the number of transitions in the log.
    pub fn consider(&mut self, placed: &Placed<'_>, transitions: u64) {
        self.consider_one(placed.number, placed.obs, transitions);
        if placed.starts {
            self.starts.consider(placed.run, [placed.obs]);
        }
        self.episodes.consider(placed);
    }

    /// The same for the observations of a run.
    pub fn consider_run(&mut self, run: &Run<'_>, transitions: u64) {
        let inputs = run.obs.len() / run.len().max(1);
        for (number, obs) in (run.number..).zip(run.obs.chunks_exact(inputs)) {
            self.consider_one(number, obs, transitions);
        }
        self.episodes.consider_run(run);
    }

    #[inline]
    fn consider_one(&mut self, number: u64, obs: &[f64], transitions: u64) {
        // The expected number of observations.
        if mix(number) % transitions.max(1) < most(obs.len()) as u64 {
            self.observations.extend_from_slice(obs);
        }
    }

    /// A sample of these observations, one after the other.
    pub fn of(observations: Vec<f64>) -> Self {
        Self {
            observations,
            ..Self::default()
        }
    }

    /// Whether it fits observations of this length.
    pub fn fits(&self, inputs: usize) -> bool {
        self.observations.len().is_multiple_of(inputs.max(1))
            && self.starts.fits(inputs)
            && self.episodes.fits(inputs)
    }

    /// Adds the observations of a later part of the log.
    pub fn merge(&mut self, later: Self) {
        match self.observations.is_empty() {
            true => self.observations = later.observations,
            false => self.observations.extend(later.observations),
        }
        self.starts.merge(&later.starts);
        self.episodes.merge(later.episodes);
    }

    /// The predicted values of the observations.
    pub fn predictions(self, map: &FeatureMap, value: &LinearValue) -> Predictions {
        let inputs = map.inputs().max(1);
        let mut row = Row::for_map(map);
        let mut moments = Moments::new(map.outputs());
        let rows = self.observations.chunks_exact(inputs).enumerate();
        let mut ordered: Vec<(f64, usize)> = rows
            .map(|(i, observation)| {
                map.write(observation, &mut row);
                moments.add(row.features());
                (value.value(row.features()), i)
            })
            .collect();
        ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
        let starts = self.starts.rows().map(|observation| {
            map.write(observation, &mut row);
            value.value(row.features())
        });
        Predictions {
            starts: starts.collect(),
            episodes: self.episodes.predictions(map, value),
            deviations: moments.deviations(),
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
    starts: Vec<f64>,
    episodes: Vec<EpisodeSample>,
    deviations: Vec<f64>,
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

    /// The sample for pictures.
    pub fn into_sample(self) -> ValueSample {
        ValueSample {
            values: self.values(),
            starts: self.starts,
            episodes: self.episodes,
            deviations: self.deviations,
        }
    }
}

/// Predicted values of some rows and episodes of a log, for pictures. Models do not save them.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ValueSample {
    /// The values of about 2,000 rows, or of all rows of a shorter log, smallest first.
    pub values: Vec<f64>,
    /// The values of up to 2,048 first rows of episodes.
    pub starts: Vec<f64>,
    /// Up to six episodes.
    pub episodes: Vec<EpisodeSample>,
    /// The standard deviation of each feature over the rows of `values`.
    pub deviations: Vec<f64>,
}

/// The sums for the standard deviations of features.
struct Moments {
    count: f64,
    /// Of each feature: a value to measure from, and the sums of the differences from it and of their squares.
    origin: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    fn new(dimension: usize) -> Self {
        Self {
            count: 0.0,
            origin: vec![0.0; dimension],
            sums: vec![0.0; dimension],
            squares: vec![0.0; dimension],
        }
    }

    fn add(&mut self, phi: Features<'_>) {
        // Dense features are measured from the first row, so that a large mean does not hide their spread.
        if self.count == 0.0 && matches!(phi, Features::Dense(_)) {
            phi.axpy(1.0, &mut self.origin);
        }
        self.count += 1.0;
        phi.for_each(|j, x| {
            let away = x - self.origin[j];
            self.sums[j] += away;
            self.squares[j] += away * away;
        });
    }

    fn deviations(self) -> Vec<f64> {
        let n = self.count.max(1.0);
        let sums = self.sums.iter().zip(&self.squares);
        sums.map(|(sum, square)| (square / n - (sum / n).powi(2)).max(0.0).sqrt())
            .collect()
    }
}
