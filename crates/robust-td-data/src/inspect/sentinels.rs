//! Finds codes for missing values, such as -999, among the numbers of a column.

use serde::{Deserialize, Serialize};

use crate::inspect::tally::Tally;

/// The sizes of such codes; each may be negative.
const CODES: [f64; 5] = [999.0, 9999.0, 99_999.0, 999_999.0, 9_999_999.0];
/// A code occurs at least this number of times.
const FEW: u64 = 2;

/// The codes in a column, and the range of the other numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Sentinels {
    low: f64,
    high: f64,
    codes: Vec<(f64, Tally)>,
}

impl Default for Sentinels {
    fn default() -> Self {
        Self {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            codes: Vec::new(),
        }
    }
}

impl Sentinels {
    /// Whether a column with this range can have codes.
    pub fn possible(low: f64, high: f64) -> bool {
        !(low > -CODES[0] && high < CODES[0])
    }

    /// A column with this range and no codes.
    pub fn without_codes(low: f64, high: f64) -> Self {
        let codes = Vec::new();
        Self { low, high, codes }
    }

    /// Adds the codes of later rows.
    pub fn merge(&mut self, later: Self) {
        self.low = self.low.min(later.low);
        self.high = self.high.max(later.high);
        for (code, more) in later.codes {
            match self.codes.iter_mut().find(|(own, _)| *own == code) {
                Some((_, tally)) => tally.merge(more),
                None => self.codes.push((code, more)),
            }
        }
    }

    #[inline]
    pub fn add(&mut self, x: f64, place: (usize, u64)) {
        if x.abs() >= CODES[0] && CODES.contains(&x.abs()) {
            self.count(x, place);
        } else {
            self.low = self.low.min(x);
            self.high = self.high.max(x);
        }
    }

    #[cold]
    fn count(&mut self, x: f64, place: (usize, u64)) {
        match self.codes.iter_mut().find(|(code, _)| *code == x) {
            Some((_, tally)) => tally.hit(place),
            None => self.codes.push((
                x,
                Tally {
                    count: 1,
                    first: Some(place),
                },
            )),
        }
    }

    /// The codes that are repeated and further from the other numbers than these are from each other.
    pub fn found(&self) -> impl Iterator<Item = (f64, Tally)> {
        let (low, high) = self.others();
        let width = high - low;
        (self.codes.iter().copied()).filter(move |(code, tally)| {
            let far = *code < low - width || *code > high + width;
            tally.count >= FEW && low <= high && far
        })
    }

    /// The range of the other numbers.
    pub fn others(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(numbers: &[f64]) -> Vec<(f64, u64)> {
        let mut sentinels = Sentinels::default();
        for (row, &x) in numbers.iter().enumerate() {
            sentinels.add(x, (0, row as u64 + 1));
        }
        let found = sentinels.found();
        found.map(|(code, tally)| (code, tally.count)).collect()
    }

    #[test]
    fn codes_are_repeated_and_far_from_the_other_numbers() {
        assert_eq!(found(&[1.0, -999.0, 3.5, -999.0]), [(-999.0, 2)]);
        let both = [1.0, -999.0, 9999.0, -999.0, 2.0, 9999.0];
        assert_eq!(found(&both), [(-999.0, 2), (9999.0, 2)]);
        // Once may be chance; within the range, or close to it, it is a number like the others.
        assert_eq!(found(&[1.0, -999.0, 3.5]), []);
        assert_eq!(found(&[0.0, 999.0, 999.0, 5000.0]), []);
        assert_eq!(found(&[0.0, 999.0, 999.0, 800.0]), []);
        // A column of codes only says nothing.
        assert_eq!(found(&[999.0, 999.0]), []);
        assert_eq!(found(&[999.5, 999.5, 1.0, 2.0]), []);
    }
}
