//! Gathers statistics of the input of a stage, and fits its maps to them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::category::{Category, Label};
use super::fourier::Fourier;
use super::map::Map;
use super::one_hot::OneHot;
use super::part::Part;
use super::polynomial::Polynomial;
use super::range::Range;
use super::rbf::Rbf;
use super::running::Running;
use super::select::Selected;
use super::spec::{MapSpec, OneHotSpec, refused};
use super::standardise::Standardise;
use super::tiles::Tiles;
use super::{FeatureMap, MAX_FEATURES, Row};
use crate::column_moments::ColumnMoments;
use crate::error::{Error, Result};
use crate::phi::Features;

/// The maximum number of levels that `one-hot` accepts without `count`.
pub const MAX_LEVELS: usize = 100_000;

/// Statistics of a stage's input, gathered in one pass.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Moments {
    pub columns: ColumnMoments,
    /// The values of the discrete columns, as ordered bits, with the number of their rows.
    pub values: Vec<(usize, BTreeMap<i64, u64>)>,
    /// The names of these columns, for messages.
    pub names: Vec<String>,
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
    pub fn new(stage: &[Selected], inputs: usize) -> Result<Self> {
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
    pub fn empty(&self) -> Self {
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
    pub fn observe(
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

    pub fn merge(&mut self, other: Self) -> Result<()> {
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
    pub fn fit(&self, part: &Selected, inputs: usize, label: Label<'_>) -> Result<Map> {
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
    // Values that are not finite come first or last. A log has none, but a product of large ones may overflow.
    let mut ends = values
        .keys()
        .next()
        .into_iter()
        .chain(values.keys().next_back());
    if ends.any(|&bits| !unorder(bits).is_finite()) {
        let problem = format!("a value of column {name} overflows; scale the columns first");
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

/// Whether a map needs the range of its input.
pub(super) fn needs_data(map: &MapSpec) -> bool {
    match map {
        MapSpec::Standardise => true,
        MapSpec::Fourier { bounds, .. }
        | MapSpec::Tiles { bounds, .. }
        | MapSpec::Rbf { bounds, .. } => bounds.is_none(),
        MapSpec::OneHot(one_hot) => one_hot.count.is_none() && one_hot.levels.is_none(),
        _ => false,
    }
}

/// A map with too many features.
pub(super) fn too_many(part: &str, remedy: &str) -> Error {
    refused(
        part,
        format!("it would make more than {MAX_FEATURES} features{remedy}"),
    )
}
