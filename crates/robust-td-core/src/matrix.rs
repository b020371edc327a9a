//! Stores dense and sparse matrices of f64.

use crate::error::{Error, Result};

/// A dense matrix, row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    entries: Vec<f64>,
}

impl Matrix {
    /// A matrix from its entries in row order.
    pub fn new(rows: usize, columns: usize, entries: Vec<f64>) -> Result<Self> {
        if entries.len() != rows * columns {
            return Err(Error::Length {
                what: "matrix",
                expected: rows * columns,
                found: entries.len(),
            });
        }
        Ok(Self {
            rows,
            columns,
            entries,
        })
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            entries: vec![0.0; rows * columns],
        }
    }

    /// The identity.
    pub fn identity(size: usize) -> Self {
        Self::from_fn(size, size, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// A matrix with entries computed by a function.
    pub fn from_fn(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let entries = (0..rows * columns)
            .map(|k| entry(k / columns, k % columns))
            .collect();
        Self {
            rows,
            columns,
            entries,
        }
    }

    /// A matrix from rows of equal length.
    pub fn from_rows(rows: &[impl AsRef<[f64]>]) -> Result<Self> {
        let columns = rows.first().map_or(0, |row| row.as_ref().len());
        let mut entries = Vec::with_capacity(rows.len() * columns);
        for (i, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != columns {
                return Err(Error::Ragged {
                    what: "matrix",
                    row: i,
                    expected: columns,
                    found: row.len(),
                });
            }
            entries.extend_from_slice(row);
        }
        Ok(Self {
            rows: rows.len(),
            columns,
            entries,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.columns..(i + 1) * self.columns]
    }

    /// Row `i`, mutable.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.entries[i * self.columns..(i + 1) * self.columns]
    }

    /// The entry in row `i`, column `j`.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.columns + j]
    }

    /// Adds another matrix of the same shape.
    ///
    /// # Panics
    /// When the shapes differ.
    pub fn add(&mut self, other: &Self) {
        let shape = (self.rows, self.columns);
        assert_eq!(shape, (other.rows, other.columns), "matrices of one shape");
        let entries = self.entries.iter_mut().zip(&other.entries);
        entries.for_each(|(sum, x)| *sum += x);
    }

    /// All entries in row order.
    pub fn as_slice(&self) -> &[f64] {
        &self.entries
    }

    /// All entries in row order, mutable.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.entries
    }

    /// The product with a column vector.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.rows).map(|i| dot(self.row(i), x)).collect()
    }

    /// The quadratic form `x' M x`.
    pub fn quadratic(&self, x: &[f64]) -> f64 {
        (0..self.rows).map(|i| x[i] * dot(self.row(i), x)).sum()
    }

    /// Rejects NaN and infinities.
    pub(crate) fn require_finite(&self, what: &'static str) -> Result<()> {
        match self.entries.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(k) => Err(Error::NotFinite {
                what,
                row: k / self.columns,
                column: k % self.columns,
                value: self.entries[k],
            }),
        }
    }
}

/// A square sparse matrix in compressed rows (CSR): the stored entries of each row by increasing column.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// The non-zero entries of a square dense matrix; NaN counts as an entry.
    pub fn from_dense(dense: &Matrix) -> Self {
        let mut sparse = Self::with_capacity(dense.rows(), 0);
        for i in 0..dense.rows() {
            for (j, &value) in dense.row(i).iter().enumerate() {
                if value != 0.0 {
                    sparse.push(j, value);
                }
            }
            sparse.end_row();
        }
        sparse
    }

    /// A matrix from (row, column, value) triplets in any order, without duplicates.
    pub fn from_triplets(
        what: &'static str,
        states: usize,
        triplets: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self> {
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); states];
        for (row, column, value) in triplets {
            if row >= states || column >= states {
                return Err(Error::OutOfRange {
                    what,
                    row,
                    column,
                    states,
                });
            }
            rows[row].push((column as u32, value));
        }
        let mut sparse = Self::with_capacity(states, rows.iter().map(Vec::len).sum());
        for (row, entries) in rows.iter_mut().enumerate() {
            entries.sort_unstable_by_key(|&(column, _)| column);
            for pair in entries.windows(2) {
                if pair[0].0 == pair[1].0 {
                    let column = pair[0].0 as usize;
                    return Err(Error::Duplicate { what, row, column });
                }
            }
            for &(column, value) in entries.iter() {
                sparse.push(column as usize, value);
            }
            sparse.end_row();
        }
        Ok(sparse)
    }

    pub(crate) fn with_capacity(rows: usize, entries: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self {
            offsets,
            columns: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        }
    }

    /// Appends an entry to the row under construction; columns must come in increasing order.
    pub(crate) fn push(&mut self, column: usize, value: f64) {
        self.columns.push(column as u32);
        self.values.push(value);
    }

    /// Ends the row under construction.
    pub(crate) fn end_row(&mut self) {
        self.offsets.push(self.columns.len());
    }

    /// The same pattern with new values, one per stored entry.
    pub(crate) fn with_values(&self, values: Vec<f64>) -> Self {
        debug_assert_eq!(values.len(), self.stored());
        Self {
            offsets: self.offsets.clone(),
            columns: self.columns.clone(),
            values,
        }
    }

    /// Number of rows, which is the number of columns.
    pub fn size(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of stored entries.
    pub fn stored(&self) -> usize {
        self.columns.len()
    }

    /// The positions of row `i` among all stored entries.
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// The stored columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.range(i);
        (&self.columns[range.clone()], &self.values[range])
    }

    /// The stored entries of row `i` as (column, value).
    pub fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, values) = self.row(i);
        columns
            .iter()
            .map(|&column| column as usize)
            .zip(values.iter().copied())
    }

    /// The entry in row `i`, column `j`: zero unless stored.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (columns, values) = self.row(i);
        columns
            .binary_search(&(j as u32))
            .map_or(0.0, |k| values[k])
    }

    /// The same matrix, dense.
    pub fn to_dense(&self) -> Matrix {
        let mut dense = Matrix::zeros(self.size(), self.size());
        for i in 0..self.size() {
            for (j, value) in self.entries(i) {
                dense.row_mut(i)[j] = value;
            }
        }
        dense
    }

    /// The transposed matrix.
    pub fn transposed(&self) -> Self {
        let mut offsets = vec![0; self.size() + 1];
        for &j in &self.columns {
            offsets[j as usize + 1] += 1;
        }
        for j in 0..self.size() {
            offsets[j + 1] += offsets[j];
        }
        let mut next = offsets.clone();
        let mut columns = vec![0; self.stored()];
        let mut values = vec![0.0; self.stored()];
        for i in 0..self.size() {
            for (j, value) in self.entries(i) {
                let place = &mut next[j];
                (columns[*place], values[*place]) = (i as u32, value);
                *place += 1;
            }
        }
        Self {
            offsets,
            columns,
            values,
        }
    }

    /// The product with a column vector.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.size())
            .map(|i| self.entries(i).map(|(j, value)| value * x[j]).sum())
            .collect()
    }

    /// The product `x' M` with a row vector.
    pub fn left_times(&self, x: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.size()];
        for (i, &weight) in x.iter().enumerate() {
            for (j, value) in self.entries(i) {
                product[j] += weight * value;
            }
        }
        product
    }
}

/// The inner product.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// The squared Euclidean norm.
pub fn norm_sq(x: &[f64]) -> f64 {
    dot(x, x)
}

/// `x += a y`.
#[inline(always)]
pub(crate) fn add_scaled(x: &mut [f64], a: f64, y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += a * y;
    }
}
