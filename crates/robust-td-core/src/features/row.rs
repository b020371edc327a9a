//! Holds the features of one observation, dense or sparse, in reusable memory.

use crate::features::FeatureMap;
use crate::features::sink::Sink;
use crate::phi::Features;

/// A feature vector that a map writes to.
#[derive(Debug, Clone, Default)]
pub struct Row {
    dimension: usize,
    sparse: bool,
    indices: Vec<u32>,
    values: Vec<f64>,
    scratch: [Vec<f64>; 2],
}

impl Row {
    /// A row for the features of a map.
    #[must_use]
    pub fn for_map(map: &FeatureMap) -> Self {
        Self {
            dimension: map.outputs(),
            sparse: map.is_sparse(),
            ..Self::default()
        }
    }

    /// Becomes a row for the features of a map, and keeps its memory.
    pub(super) fn become_for(&mut self, map: &FeatureMap) {
        self.dimension = map.outputs();
        self.sparse = map.is_sparse();
    }

    /// The features written last.
    #[inline]
    #[must_use]
    pub fn features(&self) -> Features<'_> {
        if self.sparse {
            Features::Sparse {
                indices: &self.indices,
                values: &self.values,
            }
        } else {
            Features::Dense(&self.values)
        }
    }

    /// The features written last, as a dense vector.
    #[must_use]
    pub fn to_dense(&self) -> Vec<f64> {
        let mut dense = vec![0.0; self.dimension];
        self.features().axpy(1.0, &mut dense);
        dense
    }

    pub(super) fn copy(&mut self, values: &[f64]) {
        self.values.clear();
        self.values.extend_from_slice(values);
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.indices.clear();
    }

    /// All entries of a dense row, to be written.
    #[inline]
    pub(super) fn dense_mut(&mut self) -> Option<&mut [f64]> {
        if self.sparse {
            return None;
        }
        self.values.resize(self.dimension, 0.0);
        Some(&mut self.values)
    }

    pub(super) fn take_scratch(&mut self) -> [Vec<f64>; 2] {
        std::mem::take(&mut self.scratch)
    }

    pub(super) fn give_scratch(&mut self, scratch: [Vec<f64>; 2]) {
        self.scratch = scratch;
    }
}

impl Sink for Row {
    #[inline]
    fn put(&mut self, index: usize, value: f64) {
        if self.sparse {
            if value != 0.0 {
                self.indices.push(index as u32);
                self.values.push(value);
            }
        } else {
            // A dense map writes every index.
            self.values.push(value);
        }
    }

    #[inline]
    fn put_ones<const N: usize>(&mut self, indices: [u32; N]) {
        self.indices.extend_from_slice(&indices);
        self.values.extend_from_slice(&[1.0; N]);
    }
}
