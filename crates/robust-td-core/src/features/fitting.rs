//! Fits a feature map to data, with one pass for each stage that needs the range of its input.

use super::spec::{MapSpec, Stages, parse, refused};
use super::{FeatureMap, Fourier, MAX_FEATURES, Map, OneHot, Polynomial, Range, Rbf, Row};
use super::{Running, Standardise, Tiles, stage_outputs};
use crate::column_moments::ColumnMoments;
use crate::error::{Error, Result};
use crate::phi::Features;

/// The maximum number of values that `one-hot` accepts without `count`.
const MAX_VALUES: usize = 100_000;

/// A feature map whose later stages are not fitted yet.
#[derive(Debug)]
pub struct Fitting {
    stages: std::vec::IntoIter<Vec<MapSpec>>,
    /// The stage to fit next, if its maps need data.
    waiting: Option<Vec<MapSpec>>,
    map: FeatureMap,
    row: Row,
    moments: Moments,
}

impl Fitting {
    /// Parses the description of a map for observations of the given length.
    ///
    /// # Errors
    /// Names the part of the description that is invalid or does not fit.
    pub fn new(spec: &str, inputs: usize) -> Result<Self> {
        let stages: Stages = parse(spec)?;
        let late = stages.iter().skip(1).flatten();
        if late.clone().any(|map| *map == MapSpec::Running) {
            return Err(refused("running", "it can only be in the first stage"));
        }
        let map = FeatureMap {
            spec: spec.into(),
            inputs,
            stages: Vec::new(),
        };
        let mut fitting = Self {
            stages: stages.into_iter(),
            waiting: None,
            row: Row::default(),
            moments: Moments::default(),
            map,
        };
        fitting.go_on()?;
        Ok(fitting)
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
        let added = self.moments.observe(&self.map, observation, &mut row);
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
        part.0.observe(&self.map, observations, &mut row)
    }

    /// Adds the observations of a part to the current pass.
    ///
    /// # Errors
    /// When a discrete column has too many values.
    pub fn merge(&mut self, part: FittingPart) -> Result<()> {
        self.moments.merge(part.0)
    }

    /// Ends the current pass.
    ///
    /// # Errors
    /// When the pass had no observations, or the map would have too many features.
    pub fn end_pass(&mut self) -> Result<()> {
        if let Some(stage) = self.waiting.take() {
            self.moments.columns = std::mem::take(&mut self.moments.columns).finished();
            if self.moments.columns.count() == 0 {
                return Err(refused(
                    self.map.spec(),
                    "there are no observations to measure ranges from",
                ));
            }
            self.add(&stage)?;
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
                           (low and high; for one-hot, count) or use the map `running`";
            return Err(refused(self.map.spec(), by_hand));
        }
        Ok(self.map)
    }

    /// Adds stages until one needs data.
    fn go_on(&mut self) -> Result<()> {
        while let Some(stage) = self.stages.next() {
            if stage.iter().any(needs_data) {
                self.row = Row::for_map(&self.map);
                self.moments = Moments::new(&stage, self.map.outputs())?;
                self.waiting = Some(stage);
                return Ok(());
            }
            self.add(&stage)?;
        }
        Ok(())
    }

    fn add(&mut self, stage: &[MapSpec]) -> Result<()> {
        let inputs = self.map.outputs();
        let maps = stage.iter().map(|spec| self.moments.fit(spec, inputs));
        let maps = maps.collect::<Result<Vec<_>>>()?;
        if stage_outputs(&maps) > MAX_FEATURES {
            return Err(too_many(self.map.spec()));
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
        MapSpec::OneHot { count, .. } => count.is_none(),
        _ => false,
    }
}

fn too_many(part: &str) -> Error {
    refused(
        part,
        format!("it would make more than {MAX_FEATURES} features"),
    )
}

/// Observations of a part of a pass, which several threads may gather.
#[derive(Debug)]
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
#[derive(Debug, Default)]
struct Moments {
    columns: ColumnMoments,
    /// The values of the discrete columns, as ordered bits.
    values: Vec<(usize, std::collections::BTreeSet<i64>)>,
}

impl Moments {
    fn new(stage: &[MapSpec], inputs: usize) -> Result<Self> {
        let mut values = Vec::new();
        for map in stage {
            if let MapSpec::OneHot {
                column,
                count: None,
            } = *map
            {
                check_column(column, inputs)?;
                values.push((column, std::collections::BTreeSet::new()));
            }
        }
        Ok(Self {
            columns: ColumnMoments::new(inputs),
            values,
        })
    }

    /// The same without observations.
    fn empty(&self) -> Self {
        let values = self.values.iter();
        Self {
            columns: ColumnMoments::new(self.columns.columns()),
            values: values
                .map(|(column, _)| (*column, std::collections::BTreeSet::new()))
                .collect(),
        }
    }

    /// Adds consecutive observations, after the stages so far.
    fn observe(&mut self, map: &FeatureMap, observations: &[f64], row: &mut Row) -> Result<()> {
        if map.stages.is_empty() {
            return self.add(observations);
        }
        for observation in observations.chunks_exact(map.inputs.max(1)) {
            map.write(observation, row);
            match row.features() {
                Features::Dense(x) => self.add(x)?,
                Features::Sparse { .. } => self.add(&row.to_dense())?,
            }
        }
        Ok(())
    }

    fn add(&mut self, rows: &[f64]) -> Result<()> {
        self.columns.add(rows);
        let inputs = self.columns.columns().max(1);
        for (column, values) in &mut self.values {
            for x in rows.chunks_exact(inputs) {
                values.insert(order(x[*column]));
            }
            check_values(*column, values)?;
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.columns.merge(other.columns);
        for ((column, values), (_, more)) in self.values.iter_mut().zip(other.values) {
            values.extend(more);
            check_values(*column, values)?;
        }
        Ok(())
    }

    fn range(&self, bounds: Option<(f64, f64)>, inputs: usize) -> Range {
        match bounds {
            Some((low, high)) => Range::uniform(low, high, inputs),
            None => Range::new(self.columns.low().to_vec(), self.columns.high().to_vec()),
        }
    }

    fn fit(&self, spec: &MapSpec, inputs: usize) -> Result<Map> {
        let countable = |name: &str, count: Option<usize>| match count {
            Some(count) if count <= MAX_FEATURES => Ok(count),
            _ => Err(too_many(name)),
        };
        Ok(match *spec {
            MapSpec::Identity => Map::Identity { inputs },
            MapSpec::Bias => Map::Bias,
            MapSpec::Standardise => {
                let mean = self.columns.means().to_vec();
                Map::Standardise(Standardise::new(mean, self.columns.deviations()))
            }
            MapSpec::Running => Map::Running(Running::new(inputs)),
            MapSpec::Polynomial { degree } => {
                countable("polynomial", Polynomial::count(inputs, degree))?;
                Map::Polynomial(Polynomial::new(inputs, degree))
            }
            MapSpec::Fourier {
                order,
                coupled,
                bounds,
            } => {
                let count = Fourier::count(order, coupled, inputs);
                countable("fourier (coupled=0 makes fewer)", count)?;
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
                    None => countable("tiles (size=N shares features by a hash)", all)?,
                };
                countable("tiles", tilings.checked_mul(size))?;
                Map::Tiles(Tiles::new(tilings, bins, size, self.range(bounds, inputs)))
            }
            MapSpec::Rbf {
                centres,
                width,
                bounds,
            } => {
                countable("rbf", Rbf::count(centres, inputs))?;
                Map::Rbf(Rbf::new(centres, width, self.range(bounds, inputs)))
            }
            MapSpec::OneHot { column, count } => {
                check_column(column, inputs)?;
                let measured = self.values.iter().find(|(own, _)| *own == column);
                let values = match (count, measured) {
                    (Some(count), _) => (0..countable("one-hot", Some(count))?)
                        .map(|v| v as f64)
                        .collect(),
                    (None, Some((_, values))) => values.iter().map(|&bits| unorder(bits)).collect(),
                    (None, None) => Vec::new(),
                };
                Map::OneHot(OneHot::new(column, values))
            }
        })
    }
}

/// Refuses a discrete column with too many values.
fn check_values(column: usize, values: &std::collections::BTreeSet<i64>) -> Result<()> {
    if values.len() > MAX_VALUES {
        let problem = format!("column {column} has more than {MAX_VALUES} different values");
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
