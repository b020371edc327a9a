//! Holds the features of several observations contiguously.

use crate::features::Row;
use crate::phi::Features;

/// Feature vectors that a map writes together, in reusable memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    pub(super) sparse: bool,
    /// The number of ones per observation when all other features are 0; `None` if other values occur.
    pub(super) ones: Option<usize>,
    /// Otherwise, where the features of each observation end.
    pub(super) ends: Vec<usize>,
    pub(super) indices: Vec<u32>,
    /// The values; with `ones`, that many ones, shared by all observations.
    pub(super) values: Vec<f64>,
}

impl Rows {
    /// The features of observation i.
    ///
    /// # Panics
    /// When i is not below the number of observations written.
    #[inline(always)]
    #[must_use]
    pub fn features(&self, i: usize) -> Features<'_> {
        if let Some(ones) = self.ones {
            return Features::Sparse {
                indices: &self.indices[i * ones..][..ones],
                values: &self.values,
            };
        }
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let place = start..self.ends[i];
        let values = &self.values[place.clone()];
        match self.sparse {
            false => Features::Dense(values),
            true => Features::Sparse {
                indices: &self.indices[place],
                values,
            },
        }
    }

    /// The features of all observations, one after the other; nothing if they are sparse.
    #[must_use]
    pub fn dense(&self) -> &[f64] {
        match self.sparse || self.ones.is_some() {
            true => &[],
            false => &self.values,
        }
    }

    /// Removes all rows but keeps the memory.
    pub fn clear(&mut self) {
        (self.sparse, self.ones) = (false, None);
        self.ends.clear();
        self.indices.clear();
        self.values.clear();
    }

    /// Adds the features of the next observation.
    pub(super) fn push(&mut self, row: &Row) {
        match row.features() {
            Features::Dense(values) => self.values.extend_from_slice(values),
            Features::Sparse { indices, values } => {
                self.indices.extend_from_slice(indices);
                self.values.extend_from_slice(values);
            }
        }
        self.ends.push(self.values.len());
    }
}
