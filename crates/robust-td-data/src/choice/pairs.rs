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

use super::parts::Part;

/// lambda.
const LAMBDA: f64 = 0.5;

/// The sums over all units.
#[derive(Debug)]
pub(super) struct Pairs {
    discount: f64,
    reference: usize,
    /// Whether the parts of a unit follow each other.
    ordered: bool,
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
        Self {
            discount,
            reference,
            ordered,
            here: None,
            named: BTreeMap::new(),
            all: Share::new(candidates),
            units: 0,
            squares: vec![[0.0; 3]; candidates],
        }
    }

    /// Adds a part of an episode.
    pub fn add(&mut self, part: &Part) {
        let Some(unit) = part.rows.last().map(|row| row.unit) else {
            return;
        };
        let candidates = self.squares.len();
        let mut share = Share::new(candidates);
        share.rows = part.rows.len() as f64;
        let mut errors = vec![0.0; candidates];
        for (row, here, next) in part.backwards() {
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
        if !self.ordered {
            let known = self.named.entry(unit);
            known.or_insert_with(|| Share::new(candidates)).add(&share);
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

    /// The number of units; and for each candidate, the mean square of its error minus that of the reference, and the standard error.
    pub fn finish(mut self) -> (u64, Vec<(f64, f64)>) {
        self.end_unit();
        for share in std::mem::take(&mut self.named).into_values() {
            self.count(&share);
        }
        let (n, m) = (self.all.rows.max(1.0), self.units as f64);
        let each = self.all.differences.iter().zip(&self.squares);
        let each = each.map(|(sum, [dd, dn, nn])| {
            let difference = sum / n;
            let spread = dd - 2.0 * difference * dn + difference * difference * nn;
            let stderr = (m / (m - 1.0) * spread.max(0.0)).sqrt() / n;
            (difference, stderr)
        });
        (self.units, each.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::losses::tests::row;
    use super::super::parts::Parts;
    use super::*;

    /// One row per unit, which terminates: the return is the reward, and the difference that of the squares.
    #[test]
    fn of_single_rows_it_is_the_difference_of_squared_errors() {
        let (mut parts, mut pairs) = (Parts::new(2, 100.0, false), Pairs::new(2, 1, 0.9, true));
        let rewards = [1.0, 3.0, 2.0];
        for (unit, reward) in rewards.into_iter().enumerate() {
            let values: [&[f64]; 2] = [&[2.0, 0.5], &[7.0, 7.0]];
            parts.add(row(unit as u64, reward, true), values, |part| {
                pairs.add(part)
            });
        }
        let (units, found) = pairs.finish();
        let exact = rewards.map(|g| (2.0 - g) * (2.0 - g) - (0.5 - g) * (0.5 - g));
        let mean = exact.iter().sum::<f64>() / 3.0;
        let square: f64 = exact.iter().map(|d| (d - mean) * (d - mean)).sum();
        assert_eq!(units, 3);
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
            let mut parts = Parts::new(2, 100.0, false);
            let mut pairs = Pairs::new(2, reference, 0.9, false);
            for t in 0..40_u64 {
                let x = (t * 7 % 5) as f64;
                let row = row(t / 8, x + (t % 3) as f64, t % 16 == 15);
                let values: [&[f64]; 2] = [&[x, 2.0 + x / 2.0], &[x + 1.0, 2.5]];
                parts.add(row, values, |part| pairs.add(part));
            }
            parts.finish(|part| pairs.add(part));
            pairs.finish().1[1 - reference]
        };
        let (one, other) = (of(0), of(1));
        assert!(
            (one.0 + other.0).abs() < 1e-12 && one.0 != 0.0,
            "{one:?} {other:?}"
        );
        assert!((one.1 - other.1).abs() < 1e-12, "{one:?} {other:?}");
    }
}
