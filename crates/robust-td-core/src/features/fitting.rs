//! Fits a feature map to data, with one pass for each stage that needs the range of its input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::category::{Category, Label};
use super::column::Input;
use super::select::{Selected, select};
use super::spec::{Item, MapSpec, OneHotSpec, parse, refused};
use super::{FeatureMap, Fourier, MAX_FEATURES, Map, OneHot, Part, Polynomial, Range, Rbf, Row};
use super::{Running, Standardise, Tiles, stage_outputs};
use crate::column_moments::ColumnMoments;
use crate::error::{Error, Result};
use crate::phi::Features;

/// The maximum number of levels that `one-hot` accepts without `count`.
pub const MAX_LEVELS: usize = 100_000;

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

fn needs_data(map: &MapSpec) -> bool {
    match map {
        MapSpec::Standardise => true,
        MapSpec::Fourier { bounds, .. }
        | MapSpec::Tiles { bounds, .. }
        | MapSpec::Rbf { bounds, .. } => bounds.is_none(),
        MapSpec::OneHot(one_hot) => one_hot.count.is_none() && one_hot.levels.is_none(),
        _ => false,
    }
}

fn too_many(part: &str, remedy: &str) -> Error {
    refused(
        part,
        format!("it would make more than {MAX_FEATURES} features{remedy}"),
    )
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

/// Statistics of a stage's input, gathered in one pass.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Moments {
    columns: ColumnMoments,
    /// The values of the discrete columns, as ordered bits, with the number of their rows.
    values: Vec<(usize, BTreeMap<i64, u64>)>,
    /// The names of these columns, for messages.
    names: Vec<String>,
}

/// What a map of numbers takes from them, column by column.
struct Picked {
    means: Vec<f64>,
    deviations: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Picked {
    /// The statistics of some columns, or of all.
    fn of(moments: &ColumnMoments, columns: Option<&[usize]>) -> Self {
        // Before the first pass there are none.
        let pick = |values: &[f64]| match columns {
            None => values.to_vec(),
            Some(columns) => (columns.iter())
                .filter_map(|&k| values.get(k).copied())
                .collect(),
        };
        Self {
            means: pick(moments.means()),
            deviations: pick(&moments.deviations()),
            low: pick(moments.low()),
            high: pick(moments.high()),
        }
    }

    fn range(&self, bounds: Option<(f64, f64)>, inputs: usize) -> Range {
        match bounds {
            Some((low, high)) => Range::uniform(low, high, inputs),
            None => Range::new(self.low.clone(), self.high.clone()),
        }
    }
}

impl Moments {
    fn new(stage: &[Selected], inputs: usize) -> Result<Self> {
        let (mut values, mut names) = (Vec::new(), Vec::new());
        for part in stage {
            if let MapSpec::OneHot(one_hot) = &part.map
                && needs_data(&part.map)
            {
                check_column(one_hot.column, inputs)?;
                values.push((one_hot.column, BTreeMap::new()));
                names.push(match &part.name {
                    Some(name) => name.clone(),
                    None => one_hot.column.to_string(),
                });
            }
        }
        Ok(Self {
            columns: ColumnMoments::new(inputs),
            values,
            names,
        })
    }

    /// The same without observations.
    fn empty(&self) -> Self {
        let values = self.values.iter();
        Self {
            columns: ColumnMoments::new(self.columns.columns()),
            values: values
                .map(|(column, _)| (*column, BTreeMap::new()))
                .collect(),
            names: self.names.clone(),
        }
    }

    /// Adds consecutive observations, after the stages so far.
    fn observe(
        &mut self,
        map: &FeatureMap,
        observations: &[f64],
        count: u64,
        row: &mut Row,
    ) -> Result<()> {
        if map.stages.is_empty() {
            return self.add(observations, count);
        }
        for observation in observations.chunks_exact(map.inputs.max(1)) {
            map.write(observation, row);
            match row.features() {
                Features::Dense(x) => self.add(x, count)?,
                Features::Sparse { .. } => self.add(&row.to_dense(), count)?,
            }
        }
        Ok(())
    }

    fn add(&mut self, rows: &[f64], count: u64) -> Result<()> {
        self.columns.add(rows);
        let inputs = self.columns.columns().max(1);
        for ((column, values), name) in self.values.iter_mut().zip(&self.names) {
            for x in rows.chunks_exact(inputs) {
                *values.entry(order(x[*column])).or_default() += count;
            }
            check_values(name, values)?;
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.columns.merge(other.columns);
        let pairs = self.values.iter_mut().zip(other.values);
        for (((_, values), (_, more)), name) in pairs.zip(&self.names) {
            for (value, count) in more {
                *values.entry(value).or_default() += count;
            }
            check_values(name, values)?;
        }
        Ok(())
    }

    /// The fitted map for some columns.
    fn fit(&self, part: &Selected, inputs: usize, label: Label<'_>) -> Result<Map> {
        match (&part.map, &part.columns) {
            (MapSpec::OneHot(spec), _) => self.one_hot(spec, part.category, inputs, label),
            (map, None) => Picked::of(&self.columns, None).fit(map, inputs),
            (map, Some(columns)) => {
                let map = Picked::of(&self.columns, Some(columns)).fit(map, columns.len())?;
                Ok(Map::Part(Part::new(columns.clone(), map)))
            }
        }
    }

    fn one_hot(
        &self,
        spec: &OneHotSpec,
        category: bool,
        inputs: usize,
        label: Label<'_>,
    ) -> Result<Map> {
        let column = spec.column;
        check_column(column, inputs)?;
        if spec.count.is_some_and(|count| count > MAX_FEATURES) {
            return Err(too_many("one-hot", ""));
        }
        let measured = self.values.iter().find(|(own, _)| *own == column);
        let counts = measured.into_iter().flat_map(|(_, values)| values);
        let counts = counts.map(|(&bits, &count)| (unorder(bits), count));
        Ok(match (&spec.levels, spec.count) {
            (Some(levels), _) => Map::Category(Category::of_names(column, levels, spec.missing)),
            (None, Some(count)) => {
                Map::OneHot(OneHot::new(column, (0..count).map(|v| v as f64).collect()))
            }
            (None, None) if category || spec.min_count.is_some() => {
                let min_count = spec.min_count.unwrap_or(0);
                Map::Category(Category::new(column, counts, min_count, label))
            }
            (None, None) => Map::OneHot(OneHot::new(column, counts.map(|(v, _)| v).collect())),
        })
    }
}

impl Picked {
    /// The fitted map of all picked columns.
    fn fit(&self, spec: &MapSpec, inputs: usize) -> Result<Map> {
        let countable = |name: &str, count: Option<usize>, remedy: &str| match count {
            Some(count) if count <= MAX_FEATURES => Ok(count),
            _ => Err(too_many(name, remedy)),
        };
        Ok(match *spec {
            MapSpec::Identity => Map::Identity { inputs },
            MapSpec::Bias => Map::Bias,
            MapSpec::Standardise => Map::Standardise(Standardise::new(
                self.means.clone(),
                self.deviations.clone(),
            )),
            MapSpec::Running => Map::Running(Running::new(inputs)),
            MapSpec::Polynomial { degree } => {
                let count = Polynomial::count(inputs, degree);
                countable("polynomial", count, "; use a smaller degree")?;
                Map::Polynomial(Polynomial::new(inputs, degree))
            }
            MapSpec::Fourier {
                order,
                coupled,
                bounds,
            } => {
                let count = Fourier::count(order, coupled, inputs);
                countable("fourier", count, "; coupled=0 makes fewer")?;
                Map::Fourier(Fourier::new(order, coupled, self.range(bounds, inputs)))
            }
            MapSpec::Tiles {
                tilings,
                bins,
                size,
                bounds,
            } => {
                let all = Tiles::per_tiling(bins, inputs);
                let size = match size {
                    Some(size) => all.map_or(size, |all| size.min(all)),
                    None => {
                        let remedy = "; use fewer bins, or size=N, which shares features by a hash";
                        countable("tiles", all, remedy)?
                    }
                };
                let remedy = "; use fewer tilings or bins, or a smaller size=N, which shares features by a hash";
                countable("tiles", tilings.checked_mul(size), remedy)?;
                Map::Tiles(Tiles::new(tilings, bins, size, self.range(bounds, inputs)))
            }
            MapSpec::Rbf {
                centres,
                width,
                bounds,
            } => {
                countable("rbf", Rbf::count(centres, inputs), "; use fewer centres")?;
                Map::Rbf(Rbf::new(centres, width, self.range(bounds, inputs)))
            }
            MapSpec::OneHot(_) => return Err(refused("one-hot", "it takes one column")),
        })
    }
}

/// Refuses a discrete column with too many values.
fn check_values(name: &str, values: &BTreeMap<i64, u64>) -> Result<()> {
    if values.len() > MAX_LEVELS {
        let problem = format!(
            "column {name} has more than {MAX_LEVELS} different values; is it an identifier rather than a category?"
        );
        return Err(refused("one-hot", problem));
    }
    Ok(())
}

fn check_column(column: usize, inputs: usize) -> Result<()> {
    if column >= inputs {
        let problem = format!(
            "column is {column}, but the columns are 0 to {}",
            inputs.max(1) - 1
        );
        return Err(refused("one-hot", problem));
    }
    Ok(())
}

/// Maps a value to an integer with the same order; -0 and 0 map to the same integer.
fn order(value: f64) -> i64 {
    let bits = (value + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// The inverse of [`order`].
fn unorder(number: i64) -> f64 {
    f64::from_bits((number ^ (((number >> 63) as u64) >> 1) as i64) as u64)
}
