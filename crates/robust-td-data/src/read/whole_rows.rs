//! Appends rows of a record batch to a batch column by column, if all their cells are good.

use std::ops::Range;

use crate::batch::Batch;
use crate::layout::Target;
use crate::read::arrow_column::ArrowColumn;
use crate::row::LogRow;

/// The number of rows that are transposed together, and of columns: as many numbers of a row as a cache line has.
const ROWS: usize = 64;
const COLUMNS: usize = 8;
/// The numbers from which on a further thread is worth starting.
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

/// Adds the numbers of some columns row by row, on up to this number of threads; false if one is missing or not finite.
fn transposed(
    columns: &[ArrowColumn],
    places: &[usize],
    rows: Range<usize>,
    threads: usize,
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
        let numbers = &numbers;
        let of = move |(part, start): (&mut [f64], usize)| all_finite(numbers, start, part);
        let others: Vec<_> = parts.map(|part| scope.spawn(move || of(part))).collect();
        let good = first.is_none_or(of);
        // A thread that panicked left its rows unread.
        let others = others
            .into_iter()
            .map(|other| other.join().unwrap_or(false));
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
