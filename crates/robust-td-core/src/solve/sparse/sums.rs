//! Adds up the equations of a log with sparse features.
//!
//! The sums are those of [`Equations`](crate::equations), and of the features of the starts. Only nonzero ones are stored, as sorted
//! lists that are merged like the digits of a counter, so that their number does not matter. In a fixed order of merging, the
//! result does not depend on who computed which part.

use super::system::SparseSystem;
use super::table::{Entry, Table, merged};
use crate::error::Result;
use crate::phi::{Features, Transition};
use crate::solve::equations::check;

/// The number of sums at which a table becomes a sorted list.
const OPEN: usize = 1 << 19;
/// The columns beside those of A: b, the sums of rho phi_j^2, and the features of the starts.
pub(super) const MORE: usize = 3;

/// The sums of the equations over the transitions so far.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseSums {
    dimension: usize,
    discount: f64,
    count: u64,
    /// Whether A is added up.
    has_matrix: bool,
    open: Table,
    /// Sorted lists of (row and column, sum), longest first.
    lists: Vec<Vec<Entry>>,
    /// The columns beside A from dense features.
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
            has_matrix,
            open: Table::default(),
            lists: Vec::new(),
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
        self.has_matrix
    }

    /// The number of sums that are stored.
    #[must_use]
    pub fn stored(&self) -> usize {
        self.open.len() + self.lists.iter().map(Vec::len).sum::<usize>()
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
        self.add_vector(0, phi, |x| ratio * reward * x);
        self.add_vector(1, phi, |x| ratio * x * x);
        if self.has_matrix {
            let next = transition.outcome.next_features();
            let (gamma, open) = (self.discount, &mut self.open);
            phi.for_each(|i, x| {
                let weight = ratio * x;
                phi.for_each(|j, y| open.add(key(i, j), weight * y));
                if let Some(next) = next {
                    next.for_each(|j, y| open.add(key(i, j), -gamma * weight * y));
                }
            });
        }
        if self.open.len() >= OPEN {
            self.close();
        }
    }

    /// Adds the features of a start.
    pub fn add_start(&mut self, phi: Features<'_>) {
        self.add_vector(2, phi, |x| x);
    }

    fn add_vector(&mut self, which: usize, phi: Features<'_>, term: impl Fn(f64) -> f64) {
        let d = self.dimension;
        match phi {
            Features::Dense(values) => {
                let zeros = || std::array::from_fn(|_| vec![0.0; d]);
                let sums = &mut self.dense.get_or_insert_with(zeros)[which];
                let sums = sums.iter_mut().zip(values);
                sums.for_each(|(sum, x)| *sum += term(*x));
            }
            Features::Sparse { .. } => {
                phi.for_each(|j, x| self.open.add(key(j, d + which), term(x)));
            }
        }
    }

    /// Leaves the matrix out, also of later transitions.
    pub fn leave_out_matrix(&mut self) {
        let d = self.dimension;
        self.has_matrix = false;
        self.close();
        for list in &mut self.lists {
            list.retain(|(key, _)| column(*key) >= d);
            list.shrink_to_fit();
        }
    }

    /// Adds the sums of other transitions; without the matrix if either has none.
    ///
    /// # Panics
    /// When the dimensions or discounts differ.
    pub fn merge(&mut self, mut other: Self) {
        assert_eq!(
            (self.dimension, self.discount),
            (other.dimension, other.discount),
            "sums of the same kind"
        );
        match (self.has_matrix, other.has_matrix) {
            (true, false) => self.leave_out_matrix(),
            (false, true) => other.leave_out_matrix(),
            _ => {}
        }
        self.count += other.count;
        self.close();
        self.push(other.close_all());
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

    fn close(&mut self) {
        if self.open.len() > 0 {
            let list = self.open.drain();
            self.push(list);
        }
    }

    /// Adds a list, and merges those of similar length.
    fn push(&mut self, mut list: Vec<Entry>) {
        while let Some(last) = self.lists.pop_if(|last| last.len() <= 2 * list.len()) {
            list = merged(&last, &list);
        }
        self.lists.push(list);
    }

    fn close_all(&mut self) -> Vec<Entry> {
        self.close();
        let mut all = self.lists.pop().unwrap_or_default();
        while let Some(longer) = self.lists.pop() {
            all = merged(&longer, &all);
        }
        all
    }

    /// The equations in scaled coordinates.
    ///
    /// # Errors
    /// When the sums are not finite, because the features or rewards are too large.
    pub fn into_system(mut self) -> Result<SparseSystem> {
        let entries = self.close_all();
        let mut vectors = self
            .dense
            .take()
            .unwrap_or_else(|| std::array::from_fn(|_| vec![0.0; self.dimension]));
        for &(key, sum) in &entries {
            if let Some(which) = column(key).checked_sub(self.dimension) {
                vectors[which][row(key)] += sum;
            }
        }
        let matrix = self.has_matrix.then_some(&entries[..]);
        SparseSystem::new(self.count, vectors, matrix)
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
