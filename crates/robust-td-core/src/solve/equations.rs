//! Adds up the equations A theta = b of the TD fixed point of a log.
//!
//! ```text
//! A = sum rho phi (phi - gamma phi')',     b = sum rho r phi
//! ```
//! Dense features are collected in blocks and added by matrix products; sparse ones entry by entry. The sums of parts of a log can be
//! merged. In a fixed order of merging, the result does not depend on who computed which part.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::linalg;
use crate::matrix::Matrix;
use crate::phi::{Features, Transition};
use crate::solve::fixed_point::FixedPoint;

/// The number of transitions per matrix product.
const BLOCK: usize = 256;

/// The ridge of an approximate solution, relative to the mean square of the features.
const RIDGE: f64 = 1e-10;

/// The sums of the equations over the transitions so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedEquations")]
pub struct Equations {
    discount: f64,
    count: u64,
    /// The sum of rho phi_j^2.
    #[serde(with = "crate::exact_float")]
    squares: Vec<f64>,
    /// The rows of (A | b); empty as long as all are 0, so that parts without transitions take no memory.
    #[serde(with = "crate::exact_float")]
    sums: Vec<f64>,
    block: Block,
}

/// Dense transitions that are not part of the sums yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    rows: usize,
    /// rho phi, row by row.
    #[serde(with = "crate::exact_float")]
    left: Vec<f64>,
    /// phi - gamma phi' and r, row by row.
    #[serde(with = "crate::exact_float")]
    right: Vec<f64>,
}

impl Equations {
    /// The equations before the first transition.
    ///
    /// # Errors
    /// When the dimension is 0 or the discount is outside [0, 1].
    pub fn new(dimension: usize, discount: f64) -> Result<Self> {
        check(dimension, discount)?;
        Ok(Self {
            discount,
            count: 0,
            squares: vec![0.0; dimension],
            sums: Vec::new(),
            block: Block::default(),
        })
    }

    /// d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.squares.len()
    }

    /// gamma.
    #[must_use]
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The number of transitions.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a transition.
    ///
    /// # Panics
    /// When the features do not have the dimension of the equations.
    pub fn add(&mut self, transition: &Transition<'_>) {
        let (reward, ratio) = (transition.reward, transition.ratio);
        self.count += 1;
        match (&transition.features, transition.outcome.next_features()) {
            (Features::Dense(phi), None) => self.add_dense(phi, reward, None, ratio),
            (Features::Dense(phi), Some(Features::Dense(next))) => {
                self.add_dense(phi, reward, Some(next), ratio);
            }
            (phi, next) => self.add_entries(phi, reward, next, ratio),
        }
    }

    fn add_dense(&mut self, phi: &[f64], reward: f64, next: Option<&[f64]>, ratio: f64) {
        let (d, block) = (self.squares.len(), &mut self.block);
        assert_eq!(phi.len(), d, "features have the dimension of the equations");
        block.left.extend(phi.iter().map(|x| ratio * x));
        match next {
            Some(next) => {
                assert_eq!(
                    next.len(),
                    d,
                    "features have the dimension of the equations"
                );
                let gamma = self.discount;
                let change = phi.iter().zip(next).map(|(x, next)| x - gamma * next);
                block.right.extend(change);
            }
            None => block.right.extend_from_slice(phi),
        }
        block.right.push(reward);
        block.rows += 1;
        let squares = self.squares.iter_mut().zip(phi);
        squares.for_each(|(sum, x)| *sum += ratio * x * x);
        if block.rows == BLOCK {
            self.flush();
        }
    }

    /// Adds consecutive transitions that continue, with dense features row by row: the same bits as one by one.
    ///
    /// # Panics
    /// When the features do not have the dimension of the equations.
    pub fn add_rows(&mut self, phi: &[f64], next: &[f64], rewards: &[f64], ratios: &[f64]) {
        let (d, gamma, count) = (self.squares.len(), self.discount, rewards.len());
        assert_eq!(
            (phi.len(), next.len(), ratios.len()),
            (count * d, count * d, count),
            "features have the dimension of the equations"
        );
        self.count += count as u64;
        let mut start = 0;
        while start < count {
            let end = count.min(start + BLOCK - self.block.rows);
            let block = &mut self.block;
            let [phi, next] = [phi, next].map(|all| &all[start * d..end * d]);
            let (rewards, ratios) = (&rewards[start..end], &ratios[start..end]);
            let (left, right) = (block.left.len(), block.right.len());
            block.left.extend_from_slice(phi);
            block.right.resize(right + rewards.len() * (d + 1), 0.0);
            let rows = block.left[left..].chunks_exact_mut(d).zip(ratios);
            for (row, &ratio) in rows.filter(|(_, ratio)| **ratio != 1.0) {
                row.iter_mut().for_each(|x| *x *= ratio);
            }
            let rows = block.right[right..].chunks_exact_mut(d + 1);
            let features = phi.chunks_exact(d).zip(next.chunks_exact(d));
            for ((row, (phi, next)), reward) in rows.zip(features).zip(rewards) {
                let (change, last) = row.split_at_mut(d);
                for ((change, x), next) in change.iter_mut().zip(phi).zip(next) {
                    *change = x - gamma * next;
                }
                last[0] = *reward;
            }
            for (weighted, phi) in block.left[left..].chunks_exact(d).zip(phi.chunks_exact(d)) {
                for ((sum, weighted), x) in self.squares.iter_mut().zip(weighted).zip(phi) {
                    *sum += weighted * x;
                }
            }
            block.rows += rewards.len();
            start = end;
            if block.rows == BLOCK {
                self.flush();
            }
        }
    }

    fn add_entries(
        &mut self,
        phi: &Features<'_>,
        reward: f64,
        next: Option<&Features<'_>>,
        ratio: f64,
    ) {
        let d = self.squares.len();
        self.take_memory();
        phi.for_each(|i, x| {
            let (row, weight) = (&mut self.sums[i * (d + 1)..][..d + 1], ratio * x);
            let (a, b) = row.split_at_mut(d);
            phi.axpy(weight, a);
            if let Some(next) = next {
                next.axpy(-self.discount * weight, a);
            }
            b[0] += weight * reward;
            self.squares[i] += weight * x;
        });
    }

    /// Zeros are written here instead of being left to the system: its pages of zeros, if read before they are written, as sums are, cause
    /// two page faults each, and the second one interrupts all threads to forget the first mapping.
    fn take_memory(&mut self) {
        if self.sums.is_empty() {
            let d = self.squares.len();
            self.sums = Vec::with_capacity(d * (d + 1));
            self.sums.resize(d * (d + 1), 0.0);
        }
    }

    /// Adds the transitions that are not part of the sums yet, which [`Equations::merge`] would do otherwise.
    pub fn flush(&mut self) {
        if self.block.rows > 0 {
            self.take_memory();
            let (d, block) = (self.squares.len(), &mut self.block);
            linalg::add_product(
                &mut self.sums,
                &block.left,
                &block.right,
                [d, block.rows, d + 1],
            );
            block.rows = 0;
            block.left.clear();
            block.right.clear();
        }
    }

    /// Adds the sums of other transitions.
    ///
    /// # Panics
    /// When the dimensions or discounts differ.
    pub fn merge(&mut self, mut other: Self) {
        assert_eq!(
            (self.dimension(), self.discount),
            (other.dimension(), other.discount),
            "equations of the same kind"
        );
        self.flush();
        other.flush();
        self.count += other.count;
        let add = |sums: &mut [f64], more: &[f64]| {
            sums.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
        };
        add(&mut self.squares, &other.squares);
        match self.sums.is_empty() {
            true => self.sums = other.sums,
            false => add(&mut self.sums, &other.sums),
        }
    }

    /// A theta close to the solution, several times faster: with features scaled to mean square 1 and a tiny ridge. None if it is not
    /// finite.
    pub(super) fn approximate(&self) -> Option<Vec<f64>> {
        let mut whole = self.clone();
        whole.flush();
        whole.take_memory();
        let (d, n) = (whole.squares.len(), whole.count.max(1) as f64);
        let scale: Vec<f64> = (whole.squares.iter())
            .map(|square| match *square > 0.0 {
                true => (n / square).sqrt(),
                false => 0.0,
            })
            .collect();
        let entry = |i: usize, j: usize| whole.sums[i * (d + 1) + j] / n * scale[i];
        let matrix = Matrix::from_fn(d, d, |i, j| {
            let ridge = match (i == j, scale[i] > 0.0) {
                (false, _) => 0.0,
                (true, true) => RIDGE,
                (true, false) => 1.0,
            };
            entry(i, j) * scale[j] + ridge
        });
        let y: Vec<f64> = (0..d).map(|i| entry(i, d)).collect();
        let mut theta = linalg::solve(&matrix, &y);
        theta.iter_mut().zip(&scale).for_each(|(x, s)| *x *= s);
        theta.iter().all(|x| x.is_finite()).then_some(theta)
    }

    /// A x for each row x.
    ///
    /// # Panics
    /// When the rows have another dimension.
    #[must_use]
    pub fn times_rows(&self, rows: &Matrix) -> Matrix {
        let mut whole = self.clone();
        whole.flush();
        whole.take_memory();
        let d = whole.squares.len();
        assert_eq!(
            rows.columns(),
            d,
            "rows have the dimension of the equations"
        );
        Matrix::from_fn(rows.rows(), d, |k, i| {
            let a = whole.sums[i * (d + 1)..][..d].iter();
            a.zip(rows.row(k)).map(|(a, x)| a * x).sum()
        })
    }

    /// The solution; see [`FixedPoint`].
    ///
    /// # Errors
    /// When the sums are not finite, because the features or rewards are too large.
    pub fn solve(&self) -> Result<FixedPoint> {
        let mut whole = self.clone();
        whole.flush();
        whole.take_memory();
        FixedPoint::new(whole.count, &whole.squares, &whole.sums)
    }
}

/// Checks the size and the discount of equations.
pub(super) fn check(dimension: usize, discount: f64) -> Result<()> {
    let bad = |name, value, expected| {
        Err(Error::Parameter {
            name,
            value,
            expected,
        })
    };
    match (dimension, discount) {
        (0, _) => bad("dimension", 0.0, "at least 1"),
        (_, 0.0..=1.0) => Ok(()),
        _ => bad("discount", discount, "from 0 to 1"),
    }
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedEquations {
    discount: f64,
    #[serde(deserialize_with = "crate::count::read")]
    count: u64,
    #[serde(with = "crate::exact_float")]
    squares: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    sums: Vec<f64>,
    block: Block,
}

impl TryFrom<SavedEquations> for Equations {
    type Error = Error;

    fn try_from(saved: SavedEquations) -> Result<Self> {
        let (d, block) = (saved.squares.len(), &saved.block);
        check(d, saved.discount)?;
        let whole = (saved.sums.is_empty() || d.checked_mul(d + 1) == Some(saved.sums.len()))
            && block.rows < BLOCK
            && block.left.len() == block.rows * d
            && block.right.len() == block.rows * (d + 1);
        if !whole {
            let contradiction = format!("equations whose parts do not fit dimension {d}");
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            discount: saved.discount,
            count: saved.count,
            squares: saved.squares,
            sums: saved.sums,
            block: saved.block,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_entries_give_the_same_sums() {
        let d = 3;
        let [mut dense, mut sparse] = [(); 2].map(|()| Equations::new(d, 0.9).unwrap());
        let value = |k: usize| ((k * 37 + 11) % 17) as f64 - 8.0;
        for t in 0..600 {
            let phi: Vec<f64> = (0..d).map(|j| value(3 * t + j)).collect();
            let next: Vec<f64> = (0..d).map(|j| value(5 * t + 2 * j)).collect();
            let indices: Vec<u32> = (0..d as u32).collect();
            let view = |values| Features::Sparse {
                indices: &indices,
                values,
            };
            let ratio = 0.5 + (t % 3) as f64;
            let (one, other) = match t % 7 {
                0 => (
                    Transition::terminated(&phi, 1.0),
                    Transition::terminated(view(&phi), 1.0),
                ),
                _ => (
                    Transition::new(&phi, t as f64, &next),
                    Transition::new(view(&phi), t as f64, view(&next)),
                ),
            };
            dense.add(&one.with_ratio(ratio));
            sparse.add(&other.with_ratio(ratio));
        }
        let mut merged = Equations::new(d, 0.9).unwrap();
        merged.merge(dense);
        assert_eq!(merged.count(), 600);
        for (x, y) in merged.sums.iter().zip(&sparse.sums) {
            assert!((x - y).abs() <= 1e-9 * y.abs().max(1.0), "{x} {y}");
        }
        assert_eq!(merged.squares, sparse.squares);
    }

    #[test]
    fn rows_together_give_the_bits_of_rows_one_by_one() {
        for d in [1, 3, 11] {
            let [mut one, mut many] = [(); 2].map(|()| Equations::new(d, 0.9).unwrap());
            let count = 700;
            let numbers = |step: usize, length: usize| -> Vec<f64> {
                (0..length)
                    .map(|k| ((k * step + 11) % 1013) as f64 / 7.0 - 70.0)
                    .collect()
            };
            let (phi, next) = (numbers(37, count * d), numbers(53, count * d));
            let rewards = numbers(71, count);
            let ratios: Vec<f64> = (0..count).map(|k| [1.0, 1.0, 0.3][k % 3]).collect();
            for t in 0..count {
                let [phi, next] = [&phi, &next].map(|all| &all[t * d..][..d]);
                one.add(&Transition::new(phi, rewards[t], next).with_ratio(ratios[t]));
            }
            let mut start = 0;
            for length in [1, 30, 0, 300, 257, 112] {
                let (rows, wide) = (start..start + length, start * d..(start + length) * d);
                many.add_rows(
                    &phi[wide.clone()],
                    &next[wide],
                    &rewards[rows.clone()],
                    &ratios[rows],
                );
                start += length;
            }
            assert_eq!(start, count);
            assert_eq!(many, one);
        }
    }
}
