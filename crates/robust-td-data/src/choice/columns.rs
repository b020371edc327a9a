//! Finds the columns of a log that look discrete.

use std::collections::BTreeSet;

use crate::batch::Batch;

/// The maximum number of columns that are looked at.
const MOST_COLUMNS: usize = 64;
/// The maximum number of values of a column that looks discrete.
const MOST_VALUES: usize = 10_000;

/// The values of each column, as far as it looks discrete.
#[derive(Debug, Default)]
pub(super) struct Columns {
    started: bool,
    /// The whole numbers in each column; `None` if it has others, or too many.
    values: Vec<Option<BTreeSet<i64>>>,
}

impl Columns {
    /// Looks at the observations of a batch.
    pub fn push(&mut self, batch: &Batch) {
        if !self.started && !batch.is_empty() {
            self.started = true;
            let looked_at = batch.dimension() <= MOST_COLUMNS;
            self.values = vec![looked_at.then(BTreeSet::new); batch.dimension()];
        }
        if self.values.iter().all(Option::is_none) {
            return;
        }
        for i in 0..batch.len() {
            let both = [Some(batch.obs(i)), batch.next_obs(i)];
            for row in both.into_iter().flatten() {
                self.row(row);
            }
        }
    }

    fn row(&mut self, row: &[f64]) {
        for (values, &x) in self.values.iter_mut().zip(row) {
            if let Some(known) = values {
                // A terminated row may have NaN as its next observation.
                if x.is_nan() {
                    continue;
                }
                let whole = x as i64;
                let other = whole as f64 != x;
                if other || (known.insert(whole) && known.len() > MOST_VALUES) {
                    *values = None;
                }
            }
        }
    }

    /// For each column, the number of values of one that looks discrete.
    pub fn counts(&self) -> Vec<Option<usize>> {
        let counts = self.values.iter();
        counts.map(|values| Some(values.as_ref()?.len())).collect()
    }
}
