//! Fits a feature map to data, with one pass for each stage that needs the range of its input.

use serde::{Deserialize, Serialize};

use super::category::Label;
use super::column::Input;
use super::map::stage_outputs;
use super::moments::{Moments, needs_data, too_many};
use super::select::{Selected, select};
use super::spec::{Item, MapSpec, parse, refused};
use super::{FeatureMap, MAX_FEATURES, Row};
use crate::error::{Error, Result};

/// A feature map whose later stages are not fitted yet.
#[derive(Debug)]
pub struct Fitting {
    stages: std::vec::IntoIter<Vec<Item>>,
    /// The stage to fit next, if its maps need data.
    waiting: Option<Vec<Selected>>,
    map: FeatureMap,
    /// The columns of the observation.
    inputs: Vec<Input>,
    row: Row,
    moments: Moments,
}

impl Fitting {
    /// Parses the description of a map for observations of the given length, whose columns are `obs_0`, `obs_1`, ...
    ///
    /// # Errors
    /// Names the part of the description that is invalid or does not fit.
    pub fn new(spec: &str, inputs: usize) -> Result<Self> {
        let names = (0..inputs).map(|k| Input::number(format!("obs_{k}")));
        let mut fitting = Self::with_columns(spec, names.collect())?;
        fitting.map.columns.clear();
        Ok(fitting)
    }

    /// Parses the description of a map for observations with the given columns, whose names the map keeps.
    ///
    /// # Errors
    /// Names the part of the description that is invalid or does not fit.
    pub fn with_columns(spec: &str, inputs: Vec<Input>) -> Result<Self> {
        let stages = parse(spec)?;
        let late = stages.iter().skip(1).flatten();
        if late.clone().any(|item| item.map == MapSpec::Running) {
            return Err(refused("running", "it can only be in the first stage"));
        }
        let map = FeatureMap {
            spec: spec.into(),
            inputs: inputs.len(),
            columns: inputs.clone(),
            stages: Vec::new(),
        };
        let mut fitting = Self {
            stages: stages.into_iter(),
            waiting: None,
            row: Row::default(),
            moments: Moments::default(),
            map,
            inputs,
        };
        fitting.go_on()?;
        Ok(fitting)
    }

    /// The description of the map.
    #[must_use]
    pub fn spec(&self) -> &str {
        self.map.spec()
    }

    /// Whether another pass over the data is needed.
    #[must_use]
    pub fn needs_pass(&self) -> bool {
        self.waiting.is_some()
    }

    /// Processes one observation of the current pass.
    ///
    /// # Errors
    /// When a discrete column has too many values.
    pub fn observe(&mut self, observation: &[f64]) -> Result<()> {
        let mut row = std::mem::take(&mut self.row);
        let added = self.moments.observe(&self.map, observation, 1, &mut row);
        self.row = row;
        added
    }

    /// A part of the current pass, before its first observation.
    #[must_use]
    pub fn part(&self) -> FittingPart {
        FittingPart(self.moments.empty())
    }

    /// Adds consecutive observations to a part.
    ///
    /// # Errors
    /// When a discrete column has too many values.
    pub fn observe_in(&self, part: &mut FittingPart, observations: &[f64]) -> Result<()> {
        let mut row = Row::for_map(&self.map);
        part.0.observe(&self.map, observations, 1, &mut row)
    }

    /// As [`observe_in`](Self::observe_in), for the observations after rows: their levels are known, but do not count as rows.
    ///
    /// # Errors
    /// When a discrete column has too many values.
    pub fn observe_next_in(&self, part: &mut FittingPart, observations: &[f64]) -> Result<()> {
        let mut row = Row::for_map(&self.map);
        part.0.observe(&self.map, observations, 0, &mut row)
    }

    /// Adds the observations of a part to the current pass.
    ///
    /// # Errors
    /// When a discrete column has too many values.
    pub fn merge(&mut self, part: FittingPart) -> Result<()> {
        self.moments.merge(part.0)
    }

    /// Whether a part, from wherever it came, is one of the current pass.
    #[must_use]
    pub fn accepts(&self, part: &FittingPart) -> bool {
        let (own, other) = (&self.moments, &part.0);
        let columns = |moments: &Moments| -> Vec<usize> {
            moments.values.iter().map(|(column, _)| *column).collect()
        };
        other.columns.fits(own.columns.columns())
            && columns(own) == columns(other)
            && own.names == other.names
    }

    /// Ends the current pass.
    ///
    /// # Errors
    /// When the pass had no observations, or the map would have too many features.
    pub fn end_pass(&mut self) -> Result<()> {
        self.end_pass_with(&|_| None)
    }

    /// As [`end_pass`](Self::end_pass), with the texts of the levels by their [codes](super::Level::code).
    ///
    /// # Errors
    /// As [`end_pass`](Self::end_pass).
    pub fn end_pass_with(&mut self, label: Label<'_>) -> Result<()> {
        if let Some(stage) = self.waiting.take() {
            self.moments.columns = std::mem::take(&mut self.moments.columns).finished();
            if self.moments.columns.count() == 0 {
                return Err(refused(
                    self.map.spec(),
                    "there are no observations to measure ranges from",
                ));
            }
            self.add(&stage, label)?;
        }
        self.go_on()
    }

    /// The fitted map.
    ///
    /// # Errors
    /// When a stage still needs a pass over the data; the message says how to set the ranges explicitly.
    pub fn finish(self) -> Result<FeatureMap> {
        if self.waiting.is_some() {
            let by_hand = "it needs a first pass over the data; on a stream set the range explicitly \
                           (low and high; for one-hot, levels=a/b/c or count) or use the map `running`";
            return Err(refused(self.map.spec(), by_hand));
        }
        Ok(self.map)
    }

    /// Adds stages until one needs data.
    fn go_on(&mut self) -> Result<()> {
        while let Some(items) = self.stages.next() {
            let stage = match self.map.stages.is_empty() {
                true => select(&items, &self.inputs)?,
                false => select(&items, &self.features(&items))?,
            };
            if stage.iter().any(|part| needs_data(&part.map)) {
                self.row = Row::for_map(&self.map);
                self.moments = Moments::new(&stage, self.map.outputs())?;
                self.waiting = Some(stage);
                return Ok(());
            }
            self.add(&stage, &|_| None)?;
        }
        Ok(())
    }

    /// The features so far as columns of the next stage; their names are made only if they are used.
    fn features(&self, items: &[Item]) -> Vec<Input> {
        let named = items.iter().any(|item| !item.columns.is_empty());
        let columns: Vec<String> = self.inputs.iter().map(|input| input.name.clone()).collect();
        (0..self.map.outputs())
            .map(|k| {
                Input::number(match named {
                    true => self.map.name(k, &columns),
                    false => String::new(),
                })
            })
            .collect()
    }

    fn add(&mut self, stage: &[Selected], label: Label<'_>) -> Result<()> {
        let inputs = self.map.outputs();
        let maps = (stage.iter()).map(|part| self.moments.fit(part, inputs, label));
        let maps = maps.collect::<Result<Vec<_>>>();
        let maps = maps.map_err(|error| in_spec(error, self.map.spec()))?;
        if stage_outputs(&maps) > MAX_FEATURES {
            return Err(too_many(self.map.spec(), ""));
        }
        self.map.stages.push(maps);
        Ok(())
    }
}

/// The error about one map of a description, with the whole description as the user wrote it.
fn in_spec(error: Error, spec: &str) -> Error {
    match error {
        Error::FeatureSpec { part, problem } if part != spec => {
            refused(spec, format!("{part}: {problem}"))
        }
        other => other,
    }
}

/// Observations of a part of a pass, which several threads may gather.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittingPart(Moments);

impl FittingPart {
    /// Adds the observations of a later part.
    ///
    /// # Errors
    /// When a discrete column has too many values.
    pub fn merge(&mut self, later: Self) -> Result<()> {
        self.0.merge(later.0)
    }
}
