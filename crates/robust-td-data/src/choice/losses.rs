//! Adds up the squared differences between predictions and returns, unit by unit.

use std::collections::BTreeMap;

/// The number of values that the rows of a part may hold.
const MOST_VALUES: u64 = 1 << 24;
/// A run is cut after this number of effective horizons 1 / (1 - gamma).
const HORIZONS: f64 = 20.0;

/// What a comparison needs of a transition, beside the predictions of the candidates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub unit: u64,
    pub fold: usize,
    pub reward: f64,
    /// The common value before and after it.
    pub value: f64,
    pub next: f64,
    pub restarts: bool,
    pub terminated: bool,
    pub ends: bool,
}

/// The sums over all units.
pub(super) struct Losses {
    discount: f64,
    /// Whether the transitions of a unit follow each other.
    ordered: bool,
    longest: u64,
    /// The current part of an episode.
    rows: Vec<Row>,
    predictions: Vec<f64>,
    /// The current unit, or all of them if they are not ordered.
    here: Option<(u64, Loss)>,
    named: BTreeMap<u64, Loss>,
    all: Loss,
    units: u64,
    closed: f64,
}

/// The losses of some rows.
#[derive(Debug, Clone)]
struct Loss {
    /// For each candidate, the sum of its squared difference minus that of the common value.
    more: Vec<f64>,
    /// The sum of squared differences of the common value.
    common: f64,
    rows: f64,
}

impl Loss {
    fn new(candidates: usize) -> Self {
        Self {
            more: vec![0.0; candidates],
            common: 0.0,
            rows: 0.0,
        }
    }

    fn add(&mut self, other: &Self) {
        let sums = self.more.iter_mut().zip(&other.more);
        sums.for_each(|(sum, x)| *sum += x);
        self.common += other.common;
        self.rows += other.rows;
    }
}

impl Losses {
    pub fn new(candidates: usize, discount: f64, ordered: bool) -> Self {
        let horizons = (HORIZONS / (1.0 - discount)).ceil();
        Self {
            discount,
            ordered,
            // At discount 1 the cast saturates.
            longest: (horizons as u64).clamp(1, MOST_VALUES / (candidates as u64 + 1)),
            rows: Vec::new(),
            predictions: Vec::new(),
            here: None,
            named: BTreeMap::new(),
            all: Loss::new(candidates),
            units: 0,
            closed: 0.0,
        }
    }

    /// Adds a transition with the predictions of all candidates.
    pub fn add(&mut self, row: Row, predictions: &[f64]) {
        let same = |last: &Row| (last.unit, last.fold) == (row.unit, row.fold);
        if row.restarts || !self.rows.last().is_none_or(same) {
            self.end_part();
        }
        self.rows.push(row);
        self.predictions.extend_from_slice(predictions);
        if row.ends || self.rows.len() as u64 >= self.longest {
            self.end_part();
        }
    }

    /// Ends a part of an episode: its returns are known now.
    fn end_part(&mut self) {
        let Some(last) = self.rows.last().copied() else {
            return;
        };
        let candidates = self.all.more.len();
        let mut loss = Loss::new(candidates);
        let (mut after, mut left) = match last.terminated {
            true => (0.0, 0.0),
            false => (last.next, 1.0),
        };
        let predictions = self.predictions.chunks_exact(candidates.max(1));
        for (row, predictions) in self.rows.iter().zip(predictions).rev() {
            after = row.reward + self.discount * after;
            left *= self.discount;
            let common = row.value - after;
            loss.common += common * common;
            for (sum, x) in loss.more.iter_mut().zip(predictions) {
                // (x - G)^2 - (m - G)^2, without the noise of G that both have.
                *sum += (x - row.value) * (x + row.value - 2.0 * after);
            }
            self.closed += left;
        }
        loss.rows = self.rows.len() as f64;
        self.rows.clear();
        self.predictions.clear();
        if !self.ordered {
            let known = self.named.entry(last.unit);
            known.or_insert_with(|| Loss::new(candidates)).add(&loss);
            return;
        }
        match &mut self.here {
            Some((unit, here)) if *unit == last.unit => here.add(&loss),
            _ => {
                self.end_unit();
                self.here = Some((last.unit, loss));
            }
        }
    }

    fn end_unit(&mut self) {
        if let Some((_, loss)) = self.here.take() {
            self.count(&loss);
        }
    }

    fn count(&mut self, loss: &Loss) {
        self.all.add(loss);
        self.units += 1;
    }

    /// What was found.
    pub fn finish(mut self) -> Found {
        self.end_part();
        self.end_unit();
        for loss in std::mem::take(&mut self.named).into_values() {
            self.count(&loss);
        }
        Found {
            closed: self.closed / self.all.rows.max(1.0),
            loss: self.all,
            units: self.units,
        }
    }
}

/// The errors of all candidates.
pub(super) struct Found {
    loss: Loss,
    pub units: u64,
    pub closed: f64,
}

impl Found {
    pub fn rows(&self) -> u64 {
        self.loss.rows as u64
    }

    /// The mean squared difference of a candidate from the returns.
    pub fn mean_square(&self, candidate: usize) -> f64 {
        let n = self.loss.rows.max(1.0);
        // Rounding may make a sum of squares that is 0 negative.
        ((self.loss.more[candidate] + self.loss.common) / n).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(unit: u64, reward: f64) -> Row {
        Row {
            unit,
            fold: 0,
            reward,
            value: 0.5,
            next: 4.0,
            restarts: false,
            terminated: false,
            ends: false,
        }
    }

    /// Two units: one terminates after rewards 1, 2 (returns 2, 2 at discount 0.5), one is cut after reward 1 (return 3).
    #[test]
    fn losses_are_those_of_the_returns_unit_by_unit() {
        let mut losses = Losses::new(2, 0.5, true);
        losses.add(row(0, 1.0), &[2.0, 0.0]);
        let last = Row {
            terminated: true,
            ends: true,
            ..row(0, 2.0)
        };
        losses.add(last, &[2.0, 0.0]);
        losses.add(row(1, 1.0), &[2.0, 1.0]);
        let found = losses.finish();
        assert_eq!((found.units, found.rows()), (2, 3));
        // Squares 0, 0, 1 and 4, 4, 4.
        assert!((found.mean_square(0) - 1.0 / 3.0).abs() < 1e-14);
        assert!((found.mean_square(1) - 4.0).abs() < 1e-14);
        // Only the last row's return is closed, by half.
        assert!((found.closed - 0.5 / 3.0).abs() < 1e-14);
    }

    #[test]
    fn interleaved_units_have_the_same_losses() {
        let of = |ordered: bool, units: [u64; 4]| {
            let mut losses = Losses::new(1, 0.9, ordered);
            for (k, unit) in units.into_iter().enumerate() {
                let restart = Row {
                    restarts: true,
                    ..row(unit, unit as f64)
                };
                losses.add(restart, &[k as f64 * 0.0 + unit as f64]);
            }
            losses.finish()
        };
        let (sorted, mixed) = (of(true, [1, 1, 2, 2]), of(false, [1, 2, 1, 2]));
        assert_eq!(sorted.units, mixed.units);
        assert!((sorted.mean_square(0) - mixed.mean_square(0)).abs() < 1e-12);
    }
}
