//! Adds up the equations of a log with sparse features.
//!
//! The sums are those of [`Equations`](crate::equations), and of the features of the starts. Only nonzero ones are stored. In a fixed
//! order of merging, the result does not depend on who computed which part.

use super::ledger::Ledger;
use super::system::SparseSystem;
use crate::error::Result;
use crate::phi::{Features, Transition};
use crate::solve::equations::check;

/// The sums of a feature beside A: b, that of rho phi_j^2, and that of the features of the starts.
pub(super) const MORE: usize = 3;

/// The sums of the equations over the transitions so far.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseSums {
    dimension: usize,
    discount: f64,
    count: u64,
    /// A by row and column, unless it is left out.
    matrix: Option<Ledger<f64>>,
    /// The other sums by feature; of dense features in whole vectors.
    vectors: Ledger<[f64; MORE]>,
    dense: Option<[Vec<f64>; MORE]>,
}

impl SparseSums {
    /// The sums before the first transition, with or without the matrix.
    ///
    /// # Errors
    /// When the dimension is 0 or the discount is outside [0, 1].
    pub fn new(dimension: usize, discount: f64, has_matrix: bool) -> Result<Self> {
        check(dimension, discount)?;
        Ok(Self {
            dimension,
            discount,
            count: 0,
            matrix: has_matrix.then(Ledger::default),
            vectors: Ledger::default(),
            dense: None,
        })
    }

    /// The number of transitions.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether the matrix is added up.
    #[must_use]
    pub fn has_matrix(&self) -> bool {
        self.matrix.is_some()
    }

    /// The number of sums that are stored.
    #[must_use]
    pub fn stored(&self) -> usize {
        self.matrix.as_ref().map_or(0, Ledger::stored) + MORE * self.vectors.stored()
    }

    /// Adds a transition.
    pub fn add(&mut self, transition: &Transition<'_>) {
        let Transition {
            features: phi,
            reward,
            ratio,
            ..
        } = *transition;
        self.count += 1;
        self.add_vectors(phi, |x| [ratio * reward * x, ratio * x * x, 0.0]);
        if let Some(matrix) = &mut self.matrix {
            let (gamma, next) = (self.discount, transition.outcome.next_features());
            phi.for_each(|i, x| {
                let weight = ratio * x;
                phi.for_each(|j, y| matrix.add(key(i, j), weight * y));
                if let Some(next) = next {
                    next.for_each(|j, y| matrix.add(key(i, j), -gamma * weight * y));
                }
            });
            matrix.settle();
        }
    }

    /// Adds the features of a start.
    pub fn add_start(&mut self, phi: Features<'_>) {
        self.add_vectors(phi, |x| [0.0, 0.0, x]);
    }

    fn add_vectors(&mut self, phi: Features<'_>, terms: impl Fn(f64) -> [f64; MORE]) {
        match phi {
            Features::Dense(values) => {
                let zeros = || std::array::from_fn(|_| vec![0.0; self.dimension]);
                let sums = self.dense.get_or_insert_with(zeros);
                for (j, x) in values.iter().enumerate() {
                    let terms = terms(*x);
                    (0..MORE).for_each(|k| sums[k][j] += terms[k]);
                }
            }
            Features::Sparse { .. } => {
                phi.for_each(|j, x| self.vectors.add(j as u64, terms(x)));
                self.vectors.settle();
            }
        }
    }

    /// Leaves the matrix out, also of later transitions.
    pub fn leave_out_matrix(&mut self) {
        self.matrix = None;
    }

    /// Adds the sums of other transitions; without the matrix if either has none.
    ///
    /// # Panics
    /// When the dimensions or discounts differ.
    pub fn merge(&mut self, other: Self) {
        assert_eq!(
            (self.dimension, self.discount),
            (other.dimension, other.discount),
            "sums of the same kind"
        );
        self.count += other.count;
        match (&mut self.matrix, other.matrix) {
            (Some(all), Some(more)) => all.merge(more),
            (all, _) => *all = None,
        }
        self.vectors.merge(other.vectors);
        match (&mut self.dense, other.dense) {
            (Some(all), Some(more)) => {
                for (sums, more) in all.iter_mut().zip(more) {
                    sums.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
                }
            }
            (all @ None, more) => *all = more,
            (Some(_), None) => {}
        }
    }

    /// The equations in scaled coordinates.
    ///
    /// # Errors
    /// When the sums are not finite, because the features or rewards are too large.
    pub fn into_system(self) -> Result<SparseSystem> {
        let zeros = || std::array::from_fn(|_| vec![0.0; self.dimension]);
        let mut vectors = self.dense.unwrap_or_else(zeros);
        for (j, sums) in self.vectors.into_sorted() {
            for (vector, sum) in vectors.iter_mut().zip(sums) {
                vector[j as usize] += sum;
            }
        }
        let matrix = self.matrix.map(Ledger::into_sorted);
        SparseSystem::new(self.count, vectors, matrix.as_deref())
    }
}

/// The key of a row and a column.
fn key(row: usize, column: usize) -> u64 {
    (row as u64) << 32 | column as u64
}

/// The row of a key.
pub(super) fn row(key: u64) -> usize {
    (key >> 32) as usize
}

/// The column of a key.
pub(super) fn column(key: u64) -> usize {
    (key & u64::from(u32::MAX)) as usize
}
