//! Adds up the scores of groups of transitions.

use serde::{Deserialize, Serialize};

use crate::count::MOST;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::phi::{Features, Transition};
use crate::solve::influence::MOST_GROUPS;

/// The largest number of features of sums that are read: memory is taken for all groups.
const MOST_SAVED: usize = 1 << 13;

/// Sums over the transitions of each group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedSums", into = "SavedSums")]
pub struct GroupSums {
    /// The scores rho delta phi, one row per group.
    pub(super) scores: Matrix,
    /// rho phi_j^2, one row per group.
    pub(super) squares: Matrix,
    /// For each feature, the number of transitions in which it is nonzero.
    pub(super) rows: Vec<f64>,
    /// The number of transitions of each group.
    pub(super) transitions: Vec<u64>,
}

impl GroupSums {
    /// No transitions.
    #[must_use]
    pub fn new(groups: usize, dimension: usize) -> Self {
        Self {
            scores: Matrix::zeros(groups, dimension),
            squares: Matrix::zeros(groups, dimension),
            rows: vec![0.0; dimension],
            transitions: vec![0; groups],
        }
    }

    /// Sums that were made elsewhere: scores and squares, one row per group, and for each feature the number of transitions in
    /// which it is nonzero, and the number of transitions of each group.
    pub(super) fn of(
        scores: Matrix,
        squares: Matrix,
        rows: Vec<f64>,
        transitions: Vec<u64>,
    ) -> Self {
        Self {
            scores,
            squares,
            rows,
            transitions,
        }
    }

    /// Adds a transition with its TD error to a group.
    ///
    /// # Panics
    /// When there is no such group, or the features have another dimension.
    pub fn add(&mut self, group: usize, transition: &Transition<'_>, delta: f64) {
        let (phi, ratio) = (transition.features, transition.ratio);
        phi.axpy(ratio * delta, self.scores.row_mut(group));
        let squares = self.squares.row_mut(group);
        let rows = &mut self.rows;
        match phi {
            Features::Dense(phi) => {
                let sums = squares.iter_mut().zip(rows).zip(phi);
                for ((square, rows), x) in sums {
                    *square += ratio * x * x;
                    *rows += if *x == 0.0 { 0.0 } else { 1.0 };
                }
            }
            Features::Sparse { .. } => phi.for_each(|j, x| {
                squares[j] += ratio * x * x;
                rows[j] += f64::from(u8::from(x != 0.0));
            }),
        }
        self.transitions[group] += 1;
    }

    /// Adds consecutive transitions with their TD errors to a group, with dense features row by row: the same bits as one by one.
    ///
    /// # Panics
    /// When there is no such group, or the features have another dimension.
    pub fn add_rows(&mut self, group: usize, phi: &[f64], ratios: &[f64], deltas: &[f64]) {
        let d = self.rows.len();
        assert_eq!(phi.len(), deltas.len() * d, "features of one dimension");
        let (scores, squares) = (self.scores.row_mut(group), self.squares.row_mut(group));
        let transitions = phi.chunks_exact(d).zip(ratios).zip(deltas);
        for ((phi, &ratio), &delta) in transitions {
            let weight = ratio * delta;
            let sums = scores.iter_mut().zip(&mut *squares).zip(&mut self.rows);
            for (((score, square), rows), x) in sums.zip(phi) {
                *score += weight * x;
                *square += ratio * x * x;
                *rows += if *x == 0.0 { 0.0 } else { 1.0 };
            }
        }
        self.transitions[group] += deltas.len() as u64;
    }

    /// The scores rho delta phi, one row per group.
    #[must_use]
    pub fn scores(&self) -> &Matrix {
        &self.scores
    }

    /// Takes the scores out, after which nothing can be added.
    pub fn take_scores(&mut self) -> Matrix {
        std::mem::replace(&mut self.scores, Matrix::zeros(0, 0))
    }

    /// Adds the sums of other transitions.
    ///
    /// # Panics
    /// When the shapes differ.
    pub fn merge(&mut self, other: &Self) {
        self.scores.add(&other.scores);
        self.squares.add(&other.squares);
        let rows = self.rows.iter_mut().zip(&other.rows);
        rows.for_each(|(sum, x)| *sum += x);
        let transitions = self.transitions.iter_mut().zip(&other.transitions);
        transitions.for_each(|(sum, x)| *sum += x);
    }
}

/// The saved form: only groups with transitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedSums {
    groups: u32,
    dimension: u32,
    /// The groups that have transitions, their numbers of them, and their scores and squares, one after the other.
    present: Vec<u32>,
    transitions: Vec<u64>,
    scores: Vec<f64>,
    squares: Vec<f64>,
    rows: Vec<f64>,
}

impl From<GroupSums> for SavedSums {
    fn from(sums: GroupSums) -> Self {
        let groups = sums.scores.rows();
        let present = (0..groups).filter(|&k| sums.transitions[k] > 0);
        let present: Vec<u32> = present.map(|k| k as u32).collect();
        let transitions = sums.transitions.iter().copied().filter(|&n| n > 0);
        let pick = |matrix: &Matrix| {
            let rows = present.iter().flat_map(|&k| matrix.row(k as usize));
            rows.copied().collect()
        };
        Self {
            groups: groups as u32,
            dimension: sums.scores.columns() as u32,
            transitions: transitions.collect(),
            scores: pick(&sums.scores),
            squares: pick(&sums.squares),
            present,
            rows: sums.rows,
        }
    }
}

impl TryFrom<SavedSums> for GroupSums {
    type Error = Error;

    fn try_from(saved: SavedSums) -> Result<Self> {
        let (groups, d) = (saved.groups as usize, saved.dimension as usize);
        let length = saved.present.len().checked_mul(d);
        let whole = groups <= MOST_GROUPS
            && d <= MOST_SAVED
            && saved.present.is_sorted_by(|a, b| a < b)
            && saved.present.last().is_none_or(|k| (*k as usize) < groups)
            && Some(saved.scores.len()) == length
            && Some(saved.squares.len()) == length
            && saved.rows.len() == d
            && saved.transitions.len() == saved.present.len()
            && saved.transitions.iter().all(|n| (1..=MOST).contains(n));
        if !whole {
            let contradiction = format!("the sums of {groups} groups of {d} features do not fit");
            return Err(Error::Saved { contradiction });
        }
        let mut sums = Self::new(groups, d);
        let rows = saved.scores.chunks_exact(d.max(1));
        let rows = rows.zip(saved.squares.chunks_exact(d.max(1)));
        for (&k, (scores, squares)) in saved.present.iter().zip(rows) {
            sums.scores.row_mut(k as usize).copy_from_slice(scores);
            sums.squares.row_mut(k as usize).copy_from_slice(squares);
        }
        for (&k, transitions) in saved.present.iter().zip(saved.transitions) {
            sums.transitions[k as usize] = transitions;
        }
        sums.rows = saved.rows;
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_together_give_the_bits_of_rows_one_by_one() {
        let (d, groups) = (3, 2);
        let phi: Vec<f64> = (0..60).map(|k| f64::from(k * 37 % 17 - 5) / 3.0).collect();
        let deltas: Vec<f64> = (0..20).map(|k| f64::from(k * 7 % 11) - 4.7).collect();
        let ratios: Vec<f64> = (0..20).map(|k| [1.0, 0.3][k % 2]).collect();
        let [mut one, mut many] = [(); 2].map(|()| GroupSums::new(groups, d));
        for (group, rows) in [(0, 0..13), (1, 13..20)] {
            for t in rows.clone() {
                let transition = Transition::terminated(&phi[t * d..][..d], 0.0);
                one.add(group, &transition.with_ratio(ratios[t]), deltas[t]);
            }
            let wide = rows.start * d..rows.end * d;
            many.add_rows(group, &phi[wide], &ratios[rows.clone()], &deltas[rows]);
        }
        assert_eq!(many, one);
    }
}
