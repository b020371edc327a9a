//! Samples rows of a log of unknown length: the same rows however the log is cut.

use serde::{Deserialize, Serialize};

use crate::hash::mix;

/// The maximum number of rows.
const MOST: usize = 2048;
/// The maximum number of numbers in the rows of a sample: half a megabyte, so that the states of parts of a log are small.
const MOST_NUMBERS: usize = 1 << 16;

/// The rows whose hash is below a limit, which is halved when there are too many.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Thinned {
    hashes: Vec<u64>,
    /// The rows, one after the other.
    numbers: Vec<f64>,
    width: usize,
    /// How many times the limit was halved.
    halvings: u32,
}

impl Thinned {
    /// A sample of rows of this width that continues one after this number of rows, to be merged into it: it leaves out most of what the
    /// other would drop.
    pub fn after(before: u64, width: usize) -> Self {
        // Two halvings fewer than are due on average, so that chance does not matter.
        let due = (before / most(width) as u64).checked_ilog2().unwrap_or(0);
        Self {
            halvings: due.saturating_sub(2),
            ..Self::default()
        }
    }

    /// Adds a row of several parts, or not, given its number in the log.
    #[inline]
    pub fn consider<const N: usize>(&mut self, number: u64, parts: [&[f64]; N]) {
        let hash = mix(number);
        if hash <= self.limit() {
            self.add(hash, &parts);
        }
    }

    /// Whether its rows have this width.
    pub fn fits(&self, width: usize) -> bool {
        let empty = self.hashes.is_empty() && self.numbers.is_empty();
        empty
            || (self.width == width
                && Some(self.numbers.len()) == self.hashes.len().checked_mul(width))
    }

    /// Adds the rows of a later part of the log.
    pub fn merge(&mut self, later: &Self) {
        while self.halvings < later.halvings {
            self.halve();
        }
        for (hash, row) in later.hashes.iter().zip(later.rows()) {
            if *hash <= self.limit() {
                self.add(*hash, &[row]);
            }
        }
    }

    /// The rows, in the order of the log.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        let width = self.width;
        (0..self.hashes.len()).map(move |i| &self.numbers[i * width..][..width])
    }

    fn limit(&self) -> u64 {
        u64::MAX.checked_shr(self.halvings).unwrap_or(0)
    }

    #[cold]
    fn add(&mut self, hash: u64, parts: &[&[f64]]) {
        self.width = parts.iter().map(|part| part.len()).sum();
        self.hashes.push(hash);
        for part in parts {
            self.numbers.extend_from_slice(part);
        }
        while self.hashes.len() > most(self.width) {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.halvings += 1;
        let (limit, width) = (self.limit(), self.width);
        let mut kept = 0;
        for i in 0..self.hashes.len() {
            if self.hashes[i] <= limit {
                self.hashes[kept] = self.hashes[i];
                self.numbers
                    .copy_within(i * width..(i + 1) * width, kept * width);
                kept += 1;
            }
        }
        self.hashes.truncate(kept);
        self.numbers.truncate(kept * width);
    }
}

/// The maximum number of rows of a width.
pub(crate) fn most(width: usize) -> usize {
    MOST.min((MOST_NUMBERS / width.max(1)).max(16))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(numbers: std::ops::Range<u64>) -> Thinned {
        let mut sample = Thinned::default();
        numbers.for_each(|n| sample.consider(n, [&[n as f64], &[-(n as f64)]]));
        sample
    }

    #[test]
    fn few_rows_are_all_kept() {
        let sample = sample(0..2000);
        assert!(sample.rows().map(|row| row[0]).eq((0..2000).map(f64::from)));
    }

    #[test]
    fn the_sample_is_bounded_spread_evenly_and_the_same_in_parts() {
        let whole = sample(0..100_000);
        let rows: Vec<&[f64]> = whole.rows().collect();
        assert!((MOST / 3..=MOST).contains(&rows.len()), "{}", rows.len());
        assert!(rows.iter().all(|row| row[1] == -row[0]));
        let mean = rows.iter().map(|row| row[0]).sum::<f64>() / rows.len() as f64;
        assert!((mean - 50_000.0).abs() < 4.0 * 28_868.0 / (rows.len() as f64).sqrt());
        let mut parts = sample(0..30_000);
        [30_000..30_001, 30_001..90_000, 90_000..100_000]
            .into_iter()
            .for_each(|part| parts.merge(&sample(part)));
        assert!(parts.rows().eq(whole.rows()));
        let mut parts = Thinned::default();
        for start in (0..100_000).step_by(4096) {
            let mut part = Thinned::after(start, 2);
            (start..100_000.min(start + 4096))
                .for_each(|n| part.consider(n, [&[n as f64], &[-(n as f64)]]));
            assert!(start < 40_000 || part.rows().count() < 1200);
            parts.merge(&part);
        }
        assert!(parts.rows().eq(whole.rows()));
    }

    #[test]
    fn wide_rows_take_a_bounded_number_of_numbers() {
        let mut sample = Thinned::default();
        (0..3000).for_each(|n| sample.consider(n, [&[0.5; 4096]]));
        assert!(sample.rows().count() <= 256);
    }
}
