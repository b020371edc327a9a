//! Applies a map to some of the columns.

use serde::{Deserialize, Serialize};

use super::Map;

/// The number of columns that are copied without memory of their own.
const FEW: usize = 32;

/// A map of some columns, in the given order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub(super) struct Part {
    columns: Vec<usize>,
    /// The first column, if they are consecutive: then nothing is copied.
    first: Option<usize>,
    map: Box<Map>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    columns: Vec<usize>,
    map: Box<Map>,
}

impl From<Saved> for Part {
    fn from(saved: Saved) -> Self {
        Self::new(saved.columns, *saved.map)
    }
}

impl From<Part> for Saved {
    fn from(part: Part) -> Self {
        Self {
            columns: part.columns,
            map: part.map,
        }
    }
}

impl Part {
    pub fn new(columns: Vec<usize>, map: Map) -> Self {
        let consecutive = columns
            .windows(2)
            .all(|pair| pair[0].checked_add(1) == Some(pair[1]));
        Self {
            first: columns.first().copied().filter(|_| consecutive),
            columns,
            map: Box::new(map),
        }
    }

    /// The map of the columns.
    pub fn map(&self) -> &Map {
        &self.map
    }

    pub fn map_mut(&mut self) -> &mut Map {
        &mut self.map
    }

    /// Whether the columns exist and the map takes as many.
    pub fn fits(&self, inputs: usize) -> bool {
        let exist = self.columns.iter().all(|&column| column < inputs);
        let plain = !matches!(*self.map, Map::Part(_)) && !self.columns.is_empty();
        exist && plain && self.map.check(self.columns.len()).is_ok()
    }

    /// The name of a feature; `input` names all columns.
    pub fn name(&self, index: usize, input: &dyn Fn(usize) -> String) -> String {
        self.map.name(index, &|k| input(self.columns[k]))
    }

    /// Calls with the columns of an observation.
    #[inline]
    pub fn of<R>(&self, x: &[f64], call: impl FnOnce(&[f64]) -> R) -> R {
        let count = self.columns.len();
        if let Some(first) = self.first {
            return call(&x[first..first + count]);
        }
        if count <= FEW {
            let mut part = [0.0; FEW];
            for (value, &column) in part.iter_mut().zip(&self.columns) {
                *value = x[column];
            }
            return call(&part[..count]);
        }
        let part: Vec<f64> = self.columns.iter().map(|&column| x[column]).collect();
        call(&part)
    }
}
