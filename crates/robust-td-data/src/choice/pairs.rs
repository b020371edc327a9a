//! Compares every candidate with one of them, unit by unit.
//!
//! With v the predictions of a candidate, u those of the reference, and m = (v + u) / 2, the difference of their squared errors against a
//! target G is (v - G)^2 - (u - G)^2 = 2 (v - u) (m - G). The target is the lambda-return that is closed with m, so that m - G is a sum
//! of the TD errors of m:
//! ```text
//! difference_t = -2 (v_t - u_t) sum over i >= t of (gamma lambda)^(i-t) (r_i + gamma m'_i - m_i)
//! ```
//! up to the end of the episode, or of what is known of it.

use std::collections::BTreeMap;

use super::losses::Row;

/// lambda.
const LAMBDA: f64 = 0.9;
/// The number of values that the rows of a part may hold.
const MOST_VALUES: u64 = 1 << 24;
/// A part is cut after this number of effective horizons 1 / (1 - gamma lambda).
const HORIZONS: f64 = 40.0;

/// The sums over all units.
pub(super) struct Pairs {
    discount: f64,
    reference: usize,
    candidates: usize,
    ordered: bool,
    longest: usize,
    rows: Vec<Row>,
    predictions: Vec<f64>,
    following: Vec<f64>,
    here: Option<(u64, Share)>,
    named: BTreeMap<u64, Share>,
    all: Share,
    units: u64,
    /// For each candidate, sums over units of d^2, d n and n^2.
    squares: Vec<[f64; 3]>,
}

/// The differences of some rows.
#[derive(Debug, Clone)]
struct Share {
    differences: Vec<f64>,
    rows: f64,
}

impl Share {
    fn new(candidates: usize) -> Self {
        Self {
            differences: vec![0.0; candidates],
            rows: 0.0,
        }
    }

    fn add(&mut self, other: &Self) {
        let sums = self.differences.iter_mut().zip(&other.differences);
        sums.for_each(|(sum, x)| *sum += x);
        self.rows += other.rows;
    }
}

impl Pairs {
    pub fn new(candidates: usize, reference: usize, discount: f64, ordered: bool) -> Self {
        let horizons = (HORIZONS / (1.0 - LAMBDA * discount)).ceil();
        let most = MOST_VALUES / (2 * candidates as u64 + 1);
        Self {
            discount,
            reference,
            candidates,
            ordered,
            longest: (horizons as u64).clamp(1, most) as usize,
            rows: Vec::new(),
            predictions: Vec::new(),
            following: Vec::new(),
            here: None,
            named: BTreeMap::new(),
            all: Share::new(candidates),
            units: 0,
            squares: vec![[0.0; 3]; candidates],
        }
    }

    /// Adds a transition with the predictions of all candidates before and after it.
    pub fn add(&mut self, row: Row, predictions: &[f64], following: &[f64]) {
        let same = |last: &Row| (last.unit, last.fold) == (row.unit, row.fold);
        if row.restarts || !self.rows.last().is_none_or(same) {
            self.end_part();
        }
        self.rows.push(row);
        self.predictions.extend_from_slice(predictions);
        self.following.extend_from_slice(following);
        if row.ends || self.rows.len() >= self.longest {
            self.end_part();
        }
    }

    fn end_part(&mut self) {
        let Some(unit) = self.rows.last().map(|row| row.unit) else {
            return;
        };
        let count = self.candidates.max(1);
        let mut share = Share::new(self.candidates);
        share.rows = self.rows.len() as f64;
        let mut errors = vec![0.0; self.candidates];
        let values = self.predictions.chunks_exact(count);
        let values = values.zip(self.following.chunks_exact(count));
        for (row, (here, next)) in self.rows.iter().zip(values).rev() {
            let (own, after) = (here[self.reference], next[self.reference]);
            for (k, error) in errors.iter_mut().enumerate() {
                let value = f64::midpoint(here[k], own);
                let following = match row.terminated {
                    true => 0.0,
                    false => f64::midpoint(next[k], after),
                };
                let td_error = row.reward + self.discount * following - value;
                *error = td_error + self.discount * LAMBDA * *error;
                share.differences[k] -= 2.0 * (here[k] - own) * *error;
            }
        }
        self.rows.clear();
        self.predictions.clear();
        self.following.clear();
        if !self.ordered {
            let known = self.named.entry(unit);
            known
                .or_insert_with(|| Share::new(self.candidates))
                .add(&share);
            return;
        }
        match &mut self.here {
            Some((last, here)) if *last == unit => here.add(&share),
            _ => {
                self.end_unit();
                self.here = Some((unit, share));
            }
        }
    }

    fn end_unit(&mut self) {
        if let Some((_, share)) = self.here.take() {
            self.count(&share);
        }
    }

    fn count(&mut self, share: &Share) {
        self.all.add(share);
        self.units += 1;
        for ([dd, dn, nn], d) in self.squares.iter_mut().zip(&share.differences) {
            *dd += d * d;
            *dn += d * share.rows;
            *nn += share.rows * share.rows;
        }
    }

    /// For each candidate, the mean square of its error minus that of the reference, and the standard error.
    pub fn finish(mut self) -> Vec<(f64, f64)> {
        self.end_part();
        self.end_unit();
        for share in std::mem::take(&mut self.named).into_values() {
            self.count(&share);
        }
        let (n, m) = (self.all.rows.max(1.0), self.units as f64);
        let each = self.all.differences.iter().zip(&self.squares);
        each.map(|(sum, [dd, dn, nn])| {
            let difference = sum / n;
            let spread = dd - 2.0 * difference * dn + difference * difference * nn;
            let stderr = (m / (m - 1.0) * spread.max(0.0)).sqrt() / n;
            (difference, stderr)
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(unit: u64, reward: f64, ends: bool) -> Row {
        Row {
            unit,
            fold: 0,
            reward,
            value: 0.0,
            next: 0.0,
            restarts: false,
            terminated: ends,
            ends,
        }
    }

    /// One row per unit, which terminates: the return is the reward, and the difference that of the squares.
    #[test]
    fn of_single_rows_it_is_the_difference_of_squared_errors() {
        let mut pairs = Pairs::new(2, 1, 0.9, true);
        let rewards = [1.0, 3.0, 2.0];
        for (unit, reward) in rewards.into_iter().enumerate() {
            pairs.add(row(unit as u64, reward, true), &[2.0, 0.5], &[7.0, 7.0]);
        }
        let found = pairs.finish();
        let exact = rewards.map(|g| (2.0 - g) * (2.0 - g) - (0.5 - g) * (0.5 - g));
        let mean = exact.iter().sum::<f64>() / 3.0;
        let square: f64 = exact.iter().map(|d| (d - mean) * (d - mean)).sum();
        assert!((found[0].0 - mean).abs() < 1e-14, "{found:?}");
        assert!(
            (found[0].1 - (1.5 * square).sqrt() / 3.0).abs() < 1e-14,
            "{found:?}"
        );
        assert_eq!(found[1], (0.0, 0.0));
    }

    /// The roles of the two candidates can be exchanged.
    #[test]
    fn the_reference_is_not_favoured() {
        let of = |reference: usize| {
            let mut pairs = Pairs::new(2, reference, 0.9, false);
            for t in 0..40_u64 {
                let x = (t * 7 % 5) as f64;
                let row = row(t / 8, x + (t % 3) as f64, t % 8 == 7 && t % 16 == 15);
                pairs.add(row, &[x, 2.0 + x / 2.0], &[x + 1.0, 2.5]);
            }
            pairs.finish()[1 - reference]
        };
        let ([one, other], [error, same]) = {
            let (x, y) = (of(0), of(1));
            ([x.0, y.0], [x.1, y.1])
        };
        assert!((one + other).abs() < 1e-12 && one != 0.0, "{one} {other}");
        assert!((error - same).abs() < 1e-12, "{error} {same}");
    }
}
