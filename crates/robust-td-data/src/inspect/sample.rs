//! Holds values of some rows and episodes, for pictures of a log.

use super::collinear::CoMoments;
use crate::thinned::Thinned;

/// Values of some rows and episodes of a log, for pictures.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct DataSample {
    /// The values of each feature in up to 2,048 rows.
    pub features: Vec<Vec<f64>>,
    /// The rewards of the same rows; empty if there are none.
    pub rewards: Vec<f64>,
    /// The lengths of up to 2,048 episodes, in rows, the shortest first.
    pub lengths: Vec<f64>,
    /// The correlation of each pair of features over all rows, `None` where one of them is constant; empty above 64 features.
    pub correlations: Vec<Vec<Option<f64>>>,
}

/// The same numbers in a fixed order.
fn sorted(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers
}

impl DataSample {
    /// The sample from rows of observations of a dimension with their rewards.
    pub(super) fn new(
        rows: &Thinned,
        dimension: usize,
        lengths: &Thinned,
        moments: &CoMoments,
    ) -> Self {
        let column = |k: usize| rows.rows().filter_map(move |row| row.get(k).copied());
        Self {
            features: (0..dimension).map(|k| column(k).collect()).collect(),
            rewards: column(dimension).collect(),
            lengths: sorted(lengths.rows().flatten().copied().collect()),
            correlations: moments.correlations(),
        }
    }

    /// The same without the features that are categories.
    pub(super) fn without(mut self, is_category: impl Fn(usize) -> bool) -> Self {
        let keep = |k: usize| !is_category(k);
        if (0..self.features.len()).all(keep) {
            return self;
        }
        fn kept<T>(list: Vec<T>, keep: &impl Fn(usize) -> bool) -> Vec<T> {
            let numbered = list.into_iter().enumerate();
            numbered.filter(|(k, _)| keep(*k)).map(|(_, x)| x).collect()
        }
        self.features = kept(self.features, &keep);
        let rows = kept(self.correlations, &keep).into_iter();
        self.correlations = rows.map(|row| kept(row, &keep)).collect();
        self
    }
}
