//! Adds up the squared differences between predictions and returns.

use super::parts::Part;

/// A run is cut after this number of effective horizons 1 / (1 - gamma).
const HORIZONS: f64 = 20.0;

/// What a comparison needs of a transition, beside the predictions of the candidates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// The number of its episode.
    pub run: u64,
    pub unit: u64,
    pub fold: usize,
    pub reward: f64,
    /// The median prediction after it.
    pub after: f64,
    pub restarts: bool,
    pub terminated: bool,
    pub ends: bool,
}

/// The number of rows after which a part is cut, so that what follows is negligible.
pub(super) fn longest(discount: f64) -> f64 {
    HORIZONS / (1.0 - discount)
}

/// The sums over all rows.
#[derive(Debug)]
pub(super) struct Losses {
    discount: f64,
    /// For each candidate, the sum of its squared differences.
    sums: Vec<f64>,
    pub rows: u64,
    closed: f64,
}

impl Losses {
    pub fn new(candidates: usize, discount: f64) -> Self {
        Self {
            discount,
            sums: vec![0.0; candidates],
            rows: 0,
            closed: 0.0,
        }
    }

    /// Adds a part of an episode.
    pub fn add(&mut self, part: &Part) {
        let Some(last) = part.rows.last() else {
            return;
        };
        let (mut after, mut left) = match last.terminated {
            true => (0.0, 0.0),
            false => (last.after, 1.0),
        };
        for (row, here, _) in part.backwards() {
            after = row.reward + self.discount * after;
            left *= self.discount;
            for (sum, x) in self.sums.iter_mut().zip(here) {
                *sum += (x - after) * (x - after);
            }
            self.closed += left;
        }
        self.rows += part.rows.len() as u64;
    }

    /// The mean squared difference of a candidate from the returns.
    pub fn mean_square(&self, candidate: usize) -> f64 {
        self.sums[candidate] / self.rows.max(1) as f64
    }

    /// The share of the returns that was not observed.
    pub fn closed(&self) -> f64 {
        self.closed / self.rows.max(1) as f64
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::parts::Parts;
    use super::*;

    pub fn row(unit: u64, reward: f64, terminated: bool) -> Row {
        Row {
            run: unit,
            unit,
            fold: 0,
            reward,
            after: 4.0,
            restarts: false,
            terminated,
            ends: terminated,
        }
    }

    /// Two units: one terminates after rewards 1, 2 (returns 2, 2 at discount 0.5), one is cut after reward 1 (return 3).
    #[test]
    fn losses_are_those_of_the_returns_also_where_rows_are_interleaved() {
        let rows = [row(0, 1.0, false), row(0, 2.0, true), row(1, 1.0, false)];
        let predictions = [[2.0, 0.0], [2.0, 0.0], [2.0, 1.0]];
        for (interleaved, order) in [(false, [0, 1, 2]), (true, [0, 2, 1])] {
            let mut parts = Parts::new(2, 100.0, interleaved);
            let mut losses = Losses::new(2, 0.5);
            for k in order {
                parts.add(rows[k], [&predictions[k], &[0.0; 2]], |part| {
                    losses.add(part)
                });
            }
            parts.finish(|part| losses.add(part));
            // Squares 0, 0, 1 and 4, 4, 4.
            assert!((losses.mean_square(0) - 1.0 / 3.0).abs() < 1e-14);
            assert!((losses.mean_square(1) - 4.0).abs() < 1e-14);
            // Only the return of the last row is closed, by half.
            assert!((losses.closed() - 0.5 / 3.0).abs() < 1e-14);
        }
    }
}
