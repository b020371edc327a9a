//! Turns raw observations into feature vectors.
//!
//! A [`FeatureMap`] is a pipeline of stages; a stage is one map, or several whose outputs are concatenated.
//! It is described by text (see [`spec`]), fitted to data if a map needs their range ([`Fitting`]), applied
//! row by row without allocation ([`FeatureMap::write`]), and stored with the model.
//!
//! ```
//! use robust_td_core::features::{Fitting, FeatureMap, Row};
//!
//! let mut fitting = Fitting::new("standardise | identity + bias", 1)?;
//! while fitting.needs_pass() {
//!     for x in [1.0, 2.0, 3.0] {
//!         fitting.observe(&[x])?;
//!     }
//!     fitting.end_pass()?;
//! }
//! let map: FeatureMap = fitting.finish()?;
//! let mut row = Row::for_map(&map);
//! map.write(&[2.0], &mut row);
//! assert_eq!(row.to_dense(), [0.0, 1.0]);
//! # Ok::<(), robust_td_core::Error>(())
//! ```

mod category;
pub mod column;
mod fitting;
mod fourier;
pub mod level;
mod map;
mod moments;
mod names;
mod one_hot;
mod part;
mod per_action;
mod polynomial;
mod range;
mod rbf;
mod row;
mod rows;
mod running;
mod select;
mod sink;
pub mod spec;
mod standardise;
mod tiles;

pub use column::Input;
pub use fitting::{Fitting, FittingPart};
pub use level::Level;
pub use moments::MAX_LEVELS;
pub use row::Row;
pub use rows::Rows;
pub use select::ColumnUse;

use serde::{Deserialize, Serialize};

use map::{Map, stage_outputs, write_dense_stage, write_stage};

use crate::error::{Error, Result};

/// The maximum number of features of a map.
pub const MAX_FEATURES: usize = 1 << 24;

/// A pipeline of fitted maps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedFeatureMap")]
pub struct FeatureMap {
    spec: String,
    inputs: usize,
    /// The columns of an observation; empty if they have no names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<Input>,
    stages: Vec<Vec<Map>>,
}

impl FeatureMap {
    /// The identity map.
    #[must_use]
    pub fn identity(inputs: usize) -> Self {
        Self {
            spec: "identity".into(),
            inputs,
            columns: Vec::new(),
            stages: vec![vec![Map::Identity { inputs }]],
        }
    }

    /// The description it was built from.
    #[must_use]
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// The length of an observation.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of features.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.stages.last().map_or(self.inputs, |s| stage_outputs(s))
    }

    /// Whether it leaves observations unchanged.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        let identity = |stage: &Vec<Map>| matches!(stage[..], [Map::Identity { .. }]);
        self.stages.iter().all(identity)
    }

    /// Whether the features are written as a sparse vector.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        let last = self.stages.last();
        last.is_some_and(|stage| stage.iter().any(Map::is_sparse))
    }

    /// The columns of an observation; empty if they have no names.
    #[must_use]
    pub fn columns(&self) -> &[Input] {
        &self.columns
    }

    /// Whether the log that the map was fitted to had all the categories of an observation.
    ///
    /// # Panics
    /// When the observation does not have [`FeatureMap::inputs`] entries.
    #[must_use]
    pub fn knows(&self, observation: &[f64]) -> bool {
        self.unseen(observation).is_none()
    }

    /// The first column of an observation whose level the log that the map was fitted to did not have.
    ///
    /// # Panics
    /// When the observation does not have [`FeatureMap::inputs`] entries.
    #[must_use]
    pub fn unseen(&self, observation: &[f64]) -> Option<usize> {
        let mut first = self.stages.first().into_iter().flatten();
        first.find_map(|map| match map {
            Map::OneHot(map) => (!map.knows(observation)).then(|| map.column()),
            Map::Category(map) => (!map.knows(observation)).then(|| map.column()),
            Map::PerAction(map) => map.unseen(observation),
            _ => None,
        })
    }

    /// The text of a level of a column, if it is a text.
    #[must_use]
    pub fn label(&self, column: usize, code: f64) -> Option<&str> {
        let mut first = self.stages.first().into_iter().flatten();
        first.find_map(|map| match map {
            Map::Category(map) if map.column() == column => map.label(code),
            Map::PerAction(map) => map.label(column, code),
            _ => None,
        })
    }

    /// The columns whose rare levels share a feature, with the number of these levels.
    pub fn rare(&self) -> impl Iterator<Item = (usize, usize)> {
        let first = self.stages.first().into_iter().flatten();
        first.filter_map(|map| match map {
            Map::Category(map) if map.rare() > 0 => Some((map.column(), map.rare())),
            _ => None,
        })
    }

    /// The number of features that the others determine by construction: the features of each `one-hot` add up to 1, as does the bias. So it
    /// is for each action of state-action features.
    #[must_use]
    pub fn redundant(&self) -> usize {
        if let Some([Map::PerAction(map)]) = self.stages.last().map(Vec::as_slice) {
            return map.redundant();
        }
        let last = self.stages.last().into_iter().flatten();
        let one = |map: &&Map| matches!(map, Map::Bias | Map::OneHot(_) | Map::Category(_));
        last.filter(one).count().saturating_sub(1)
    }

    /// A bound on the norm of the features that holds for every observation, if there is one.
    #[must_use]
    pub fn norm_bound(&self) -> Option<f64> {
        let bounds = self.stages.last()?.iter().map(Map::norm_sq_bound);
        Some(bounds.sum::<Option<f64>>()?.sqrt())
    }

    /// Whether [`FeatureMap::observe`] must see each observation before it is written.
    #[must_use]
    pub fn adapts(&self) -> bool {
        let first = self.stages.first().into_iter().flatten();
        first.into_iter().any(|map| match map {
            Map::Part(part) => matches!(part.map(), Map::Running(_)),
            map => matches!(map, Map::Running(_)),
        })
    }

    /// Updates the running moments of maps that adapt.
    pub fn observe(&mut self, observation: &[f64]) {
        for map in self.stages.first_mut().into_iter().flatten() {
            match map {
                Map::Running(running) => running.observe(observation),
                Map::Part(part) => {
                    let x = part.of(observation, <[f64]>::to_vec);
                    if let Map::Running(running) = part.map_mut() {
                        running.observe(&x);
                    }
                }
                _ => {}
            }
        }
    }

    /// Writes the features of an observation. Does not allocate once the row has reached its size.
    ///
    /// # Panics
    /// When the observation does not have [`FeatureMap::inputs`] entries.
    #[inline]
    pub fn write(&self, observation: &[f64], row: &mut Row) {
        assert_eq!(
            observation.len(),
            self.inputs,
            "an observation of the map's length"
        );
        let Some((last, before)) = self.stages.split_last() else {
            return row.copy(observation);
        };
        let [mut x, mut y] = row.take_scratch();
        let mut input = observation;
        for stage in before {
            y.clear();
            y.resize(stage_outputs(stage), 0.0);
            match stage.iter().any(Map::is_sparse) {
                true => write_stage(stage, input, &mut y[..]),
                false => write_dense_stage(stage, input, &mut y[..]),
            }
            std::mem::swap(&mut x, &mut y);
            input = &x;
        }
        match row.dense_mut() {
            Some(out) => write_dense_stage(last, input, out),
            None => {
                row.clear();
                write_stage(last, input, row);
            }
        }
        row.give_scratch([x, y]);
    }

    /// Writes the features of several consecutive observations: same result as [`FeatureMap::write`], but
    /// faster for tiles and for dense features.
    ///
    /// # Panics
    /// When the number of entries is not a multiple of [`FeatureMap::inputs`].
    pub fn write_rows(&self, observations: &[f64], rows: &mut Rows) {
        let inputs = self.inputs.max(1);
        assert!(
            observations.len().is_multiple_of(inputs),
            "observations of the map's length"
        );
        rows.clear();
        rows.sparse = self.is_sparse();
        if let [stage] = &self.stages[..]
            && let [Map::Tiles(tiles)] = &stage[..]
        {
            rows.ones = Some(tiles.tilings());
            rows.values.resize(tiles.tilings(), 1.0);
            return tiles.write_rows(observations, &mut rows.indices);
        }
        if let [stage] = &self.stages[..]
            && !rows.sparse
        {
            let outputs = stage_outputs(stage);
            let count = observations.len() / inputs;
            rows.values.resize(count * outputs, 0.0);
            rows.ends.extend((1..=count).map(|row| row * outputs));
            let mut first = 0;
            for map in stage {
                let own = first..first + map.outputs();
                let written = rows.values.chunks_exact_mut(outputs);
                let written = written.map(|row| &mut row[own.clone()]);
                map.write_dense_rows(observations.chunks_exact(inputs).zip(written));
                first = own.end;
            }
            return;
        }
        let mut row = Row::for_map(self);
        for observation in observations.chunks_exact(inputs) {
            self.write(observation, &mut row);
            rows.push(&row);
        }
    }
}

/// The stored form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedFeatureMap {
    spec: String,
    inputs: usize,
    #[serde(default)]
    columns: Vec<Input>,
    stages: Vec<Vec<Map>>,
}

/// The most features of a stage that others follow in a saved map, unless the last one has more.
const MOST_BETWEEN: usize = 1 << 20;

impl TryFrom<SavedFeatureMap> for FeatureMap {
    type Error = Error;

    fn try_from(saved: SavedFeatureMap) -> Result<Self> {
        // Weights of actions have no columns.
        if saved.columns.len() > saved.inputs {
            return Err(Error::Saved {
                contradiction: "its columns do not fit its feature map".into(),
            });
        }
        let mut length = saved.inputs;
        let outputs = (saved.stages.last()).map_or(0, |stage| stage_outputs(stage));
        for stage in &saved.stages {
            for map in stage {
                map.check(length)?;
            }
            length = stage_outputs(stage);
            // Weights show that there are as many features as the last stage has, but not those of others.
            if length > outputs.max(MOST_BETWEEN) {
                return Err(Error::Saved {
                    contradiction: format!("a stage of its feature map has {length} features"),
                });
            }
        }
        Ok(Self {
            spec: saved.spec,
            inputs: saved.inputs,
            columns: saved.columns,
            stages: saved.stages,
        })
    }
}
