//! Appends rows of a record batch to a batch column by column, if all their cells are good.

use std::ops::Range;

use crate::batch::Batch;
use crate::layout::Target;
use crate::read::arrow_column::ArrowColumn;
use crate::row::LogRow;

/// The number of rows that are written together: as many numbers of a column as a cache line has.
const TOGETHER: usize = 8;

/// The columns of rows that can be appended together.
#[derive(Debug)]
pub(crate) struct WholeRows {
    /// The indices of the columns of observations and of next observations, in their order there.
    obs: Vec<usize>,
    next_obs: Vec<usize>,
}

impl WholeRows {
    /// `None` if rows must be read one by one: there are lists, categories or policies, or the columns are not those of a row.
    pub fn of(columns: &[ArrowColumn], row: &LogRow) -> Option<Self> {
        let others = columns
            .iter()
            .all(|column| column.target().is_independent());
        let places = |place: fn(Target) -> Option<usize>| {
            let mut found: Vec<(usize, usize)> = (columns.iter().enumerate())
                .filter_map(|(index, column)| Some((place(column.target())?, index)))
                .collect();
            found.sort_unstable();
            let whole = found.iter().map(|(place, _)| *place).eq(0..found.len());
            whole.then(|| found.into_iter().map(|(_, index)| index).collect())
        };
        let obs: Vec<usize> = places(|target| match target {
            Target::Obs(place) => Some(place),
            _ => None,
        })?;
        let next_obs: Vec<usize> = places(|target| match target {
            Target::NextObs(place) => Some(place),
            _ => None,
        })?;
        let lengths = (obs.len(), next_obs.len()) == (row.obs.len(), row.next_obs.len());
        let even = next_obs.is_empty() || next_obs.len() == obs.len();
        (others && lengths && even && !obs.is_empty() && !row.choice.is_given())
            .then_some(Self { obs, next_obs })
    }

    /// The length of observations.
    pub fn dimension(&self) -> usize {
        self.obs.len()
    }

    /// Appends these rows of the record batch, the first of which has this number in the file; false, and no rows, if a cell is bad.
    pub fn append_if_good(
        &self,
        columns: &[ArrowColumn],
        row: &LogRow,
        rows: Range<usize>,
        number: u64,
        batch: &mut Batch,
    ) -> bool {
        let before = batch.len();
        let end = before + rows.len();
        batch.dimension = self.dimension();
        let good = transposed(columns, &self.obs, rows.clone(), &mut batch.obs)
            && transposed(columns, &self.next_obs, rows.clone(), &mut batch.next_obs)
            && (columns.iter()).all(|column| column.append_and_check(rows.clone(), batch));
        if !good {
            batch.truncate(before);
            return false;
        }
        // Roles without a column.
        if let Some(reward) = row.reward {
            batch.rewards.resize(end, reward);
        }
        batch.terminated.resize(end, false);
        batch.truncated.resize(end, false);
        batch.episodes.resize(end, 0);
        batch.clusters.resize(end, 0);
        batch.ratios.resize(end, 1.0);
        batch.gaps.resize(end, false);
        batch.rows.extend(number..number + rows.len() as u64);
        true
    }
}

/// Adds the numbers of some columns row by row; false if one is missing or not finite.
fn transposed(
    columns: &[ArrowColumn],
    places: &[usize],
    rows: Range<usize>,
    out: &mut Vec<f64>,
) -> bool {
    let numbers = places.iter().map(|&place| columns[place].numbers());
    let Some(numbers) = numbers.collect::<Option<Vec<&[f64]>>>() else {
        return false;
    };
    let (from, d) = (out.len(), numbers.len());
    if d == 0 {
        return true;
    }
    out.resize(from + rows.len() * d, 0.0);
    let mut finite = true;
    let blocks = out[from..].chunks_mut(TOGETHER * d);
    for (block, start) in blocks.zip(rows.step_by(TOGETHER)) {
        for (k, column) in numbers.iter().enumerate() {
            for (row, &x) in block.chunks_exact_mut(d).zip(&column[start..]) {
                row[k] = x;
                finite &= x.is_finite();
            }
        }
    }
    finite
}
