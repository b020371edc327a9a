//! Appends rows of a record batch to a batch column by column, if all their cells are good.

use std::ops::Range;

use crate::batch::{Batch, NO_FLAGS, NO_NAMES, NO_RATIOS, extend_by_same};
use crate::layout::Target;
use crate::read::arrow_column::ArrowColumn;
use crate::row::LogRow;

/// The number of rows that are transposed together, and of columns: as many numbers of a row as a cache line has.
const ROWS: usize = 64;
const COLUMNS: usize = 8;
/// The least number of values for a thread.
const LEAST: usize = 1 << 17;

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

    /// Appends these rows of the record batch, the first of which has this number in the file, on up to this number of threads; false,
    /// and no rows, if a cell is bad.
    pub fn append_if_good(
        &self,
        columns: &[ArrowColumn],
        row: &LogRow,
        rows: Range<usize>,
        (number, threads): (u64, usize),
        batch: &mut Batch,
    ) -> bool {
        let before = batch.len();
        let end = before + rows.len();
        batch.dimension = self.dimension();
        let good = transposed(columns, &self.obs, rows.clone(), threads, &mut batch.obs)
            && transposed(
                columns,
                &self.next_obs,
                rows.clone(),
                threads,
                &mut batch.next_obs,
            )
            && (columns.iter()).all(|column| column.append_and_check(rows.clone(), batch));
        if !good {
            batch.truncate(before);
            return false;
        }
        // Roles without a column.
        if let Some(reward) = row.reward {
            batch.rewards.resize(end, reward);
        }
        for flags in [&mut batch.terminated, &mut batch.truncated, &mut batch.gaps] {
            extend_by_same(flags, end, &NO_FLAGS);
        }
        for names in [&mut batch.episodes, &mut batch.clusters] {
            extend_by_same(names, end, &NO_NAMES);
        }
        extend_by_same(&mut batch.ratios, end, &NO_RATIOS);
        batch.rows.extend(number..number + rows.len() as u64);
        true
    }
}

/// Adds the numbers of some columns row by row, on up to this number of threads; false if one is missing or not finite.
fn transposed(
    columns: &[ArrowColumn],
    places: &[usize],
    rows: Range<usize>,
    threads: usize,
    out: &mut Vec<f64>,
) -> bool {
    let numbers = places.iter().map(|&place| columns[place].numbers());
    let numbers = numbers.collect::<Option<Vec<&[f64]>>>();
    numbers.is_some_and(|numbers| append(&numbers, rows, threads, out))
}

/// Adds some rows of columns; false if a number is not finite.
fn append(numbers: &[&[f64]], rows: Range<usize>, threads: usize, out: &mut Vec<f64>) -> bool {
    let (from, d) = (out.len(), numbers.len());
    if d == 0 {
        return true;
    }
    let size = rows.len() * d;
    match out.capacity() < size {
        // Memory that the system clears need not be cleared here.
        true if from == 0 => *out = vec![0.0; size],
        _ => out.resize(from + size, 0.0),
    }
    let each = rows.len().div_ceil(threads.min(size / LEAST).max(1));
    let each = each.next_multiple_of(ROWS);
    let parts = out[from..].chunks_mut(each * d);
    let mut parts = parts.zip(rows.clone().step_by(each));
    let first = parts.next();
    std::thread::scope(|scope| {
        let of = move |(part, start): (&mut [f64], usize)| all_finite(numbers, start, part);
        let start = |part| std::thread::Builder::new().spawn_scoped(scope, move || of(part));
        let others: Vec<_> = parts.map(start).collect();
        let good = first.is_none_or(of);
        // Without a thread, its rows must be read one by one.
        let others = others.into_iter().map(|other| {
            let good = other.map(|other| other.join().unwrap_or(false));
            good.unwrap_or(false)
        });
        others.fold(good, |all, good| all && good)
    })
}

/// Writes the numbers of columns from a row on to the rows of a part; whether they are all finite.
fn all_finite(columns: &[&[f64]], start: usize, part: &mut [f64]) -> bool {
    let d = columns.len();
    let mut faults = 0.0;
    for (block, start) in part.chunks_mut(ROWS * d).zip((start..).step_by(ROWS)) {
        let rows = start..start + block.len() / d;
        for (k, group) in columns.chunks(COLUMNS).enumerate() {
            faults += copied(group, rows.clone(), k * COLUMNS, d, block);
        }
    }
    faults == 0.0
}

/// Copies some rows of columns to consecutive places in the rows of a block; 0 if they are all finite, or else NaN.
fn copied(
    columns: &[&[f64]],
    rows: Range<usize>,
    place: usize,
    d: usize,
    block: &mut [f64],
) -> f64 {
    let mut faults = [0.0; COLUMNS];
    if let Ok(columns) = <&[&[f64]; COLUMNS]>::try_from(columns) {
        let columns = columns.map(|column| &column[rows.clone()]);
        for (i, row) in block.chunks_exact_mut(d).enumerate() {
            let numbers = columns.map(|column| column[i]);
            row[place..place + COLUMNS].copy_from_slice(&numbers);
            for (fault, x) in faults.iter_mut().zip(numbers) {
                *fault += x * 0.0;
            }
        }
    } else {
        for (k, column) in columns.iter().enumerate() {
            for (row, &x) in block.chunks_exact_mut(d).zip(&column[rows.clone()]) {
                row[place + k] = x;
                faults[0] += x * 0.0;
            }
        }
    }
    faults.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_columns_on_any_number_of_threads() {
        for (d, count) in [(1, 5), (7, 64), (8, 65), (9, 700), (20, 30_000)] {
            let at = |k: usize, i: usize| (k * 1_000_000 + i) as f64;
            let columns: Vec<Vec<f64>> = (0..d)
                .map(|k| (0..count).map(|i| at(k, i)).collect())
                .collect();
            let views: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let rows = 2..count - 1;
            let expected = rows.clone().flat_map(|i| (0..d).map(move |k| at(k, i)));
            for (threads, before) in [(1, 0), (1, 3), (3, 0), (3, 3)] {
                let mut out = vec![-1.0; before];
                assert!(append(&views, rows.clone(), threads, &mut out));
                assert!(out[..before].iter().all(|x| *x == -1.0));
                assert!(out[before..].iter().copied().eq(expected.clone()), "{d}");
            }
        }
    }

    #[test]
    fn a_number_that_is_not_finite_is_noticed_anywhere() {
        let count = 50_000;
        let good = vec![1e308; count];
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (column, row) in [(0, 0), (8, 17), (9, count - 1)] {
                let mut wrong = good.clone();
                wrong[row] = bad;
                let mut views = vec![good.as_slice(); 10];
                assert!(append(&views, 0..count, 4, &mut Vec::new()));
                views[column] = &wrong;
                assert!(!append(&views, 0..count, 4, &mut Vec::new()));
                assert!(!append(&views, 0..count, 1, &mut Vec::new()));
            }
        }
    }
}
