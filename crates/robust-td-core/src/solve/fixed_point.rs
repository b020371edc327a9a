//! Solves the equations of a log for the TD fixed point, and shows what they leave open.
//!
//! # Formulas
//! Every feature is scaled to mean square 1, so that units do not matter: with D = diag(sqrt(sum phi_j^2 / n)),
//! ```text
//! M x = y,     M = D^{-1} A D^{-1} / n,     y = D^{-1} b / n,     theta = D^{-1} x
//! ```
//! A QR factorisation with column pivoting finds an orthonormal basis Q of the range of M. Combinations of features outside of it
//! never vary in the log, so nothing is known about them. The solution is the smallest one, x = Q (Q' M Q)^{-1} Q' y, without a
//! ridge that would move it.
//!
//! # Features that only successors have
//! A log may enter states that no row of it leaves. Their features have no equations; their weights are 0, and so is what they add to values.
//! How much of them follows a row, discounted, is a value function with the amount in the successor as its reward:
//! ```text
//! M z = D^{-1} sum over t of phi_t gamma new(phi_t') / n,     new(phi) = sum of phi_j over the features j that no row has
//! ```
//! With weights of the usual size w, twice the median of |theta_j|, the value of phi may be wrong by about w g / (1 - g/m), where g = phi.z
//! and m is the usual sum of a row's features (1 for one-hot, the number of tilings for tiles): what follows the new states may lead to them again.
//! New features are indicators in practice; amounts of both signs would cancel.
//!
//! # Reference
//! Bradtke & Barto, "Linear least-squares algorithms for temporal difference learning", Machine Learning 22, 1996; Golub & Van
//! Loan, *Matrix Computations*, section 5.4 for the factorisation.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::linalg::{Factors, factors};
use crate::matrix::Matrix;
use crate::phi::Features;
use crate::random::Stream;

/// The part of a scaled feature vector outside the range, relative to its norm, above which its value is not identified.
const OUTSIDE: f64 = 1e-4;
/// A probe shorter than this is rounding.
const SHORT: f64 = 1e-2;

/// The TD fixed point of a log.
#[derive(Debug, Clone)]
pub struct FixedPoint {
    /// theta.
    pub theta: Vec<f64>,
    /// The number of independent features.
    pub rank: usize,
    /// |b - A theta| / |b| with scaled features: 0 at the solution and 1 at theta = 0.
    pub relative_residual: f64,
    /// What the log shows.
    pub identified: Identified,
    count: u64,
    /// The features that were nonzero at least once.
    active: Vec<usize>,
    factors: Option<Factors>,
}

/// The scale of a feature with this mean square. Smaller squares have lost digits to underflow: such a feature counts as never seen.
pub(super) fn scale(mean_square: f64) -> f64 {
    match mean_square >= f64::MIN_POSITIVE {
        true => mean_square.sqrt(),
        false => 0.0,
    }
}

impl FixedPoint {
    /// Solves the equations with the given sums of phi_j^2 and rows of (A | b).
    pub(super) fn new(count: u64, squares: &[f64], sums: &[f64]) -> Result<Self> {
        let (d, n) = (squares.len(), count.max(1) as f64);
        if sums.iter().chain(squares).any(|x| !x.is_finite()) {
            return Err(Error::Overflow);
        }
        let scale: Vec<f64> = squares.iter().map(|square| scale(square / n)).collect();
        let active: Vec<usize> = (0..d).filter(|&j| scale[j] > 0.0).collect();
        let entry = |i: usize, j: usize| sums[i * (d + 1) + j] / n;
        let y: Vec<f64> = active.iter().map(|&i| entry(i, d) / scale[i]).collect();
        let m = active.len();
        let matrix = Matrix::from_fn(m, m, |i, j| {
            let (i, j) = (active[i], active[j]);
            entry(i, j) / (scale[i] * scale[j])
        });
        let factors = (m > 0).then(|| factors(&matrix));
        let x = factors.as_ref().map_or(Vec::new(), |factors| {
            let mut x = factors.solve(&y);
            // One step of iterative refinement.
            let correction = factors.solve(&residual(&matrix, &x, &y));
            x.iter_mut().zip(&correction).for_each(|(x, dx)| *x += dx);
            x
        });
        let mut theta = vec![0.0; d];
        for (x, &j) in x.iter().zip(&active) {
            theta[j] = x / scale[j];
        }
        if theta.iter().any(|x| !x.is_finite()) {
            return Err(Error::Overflow);
        }
        let (left, whole) = (norm(&residual(&matrix, &x, &y)), norm(&y));
        let entered = factors.as_ref().and_then(|factors| {
            let new: Vec<usize> = (0..d).filter(|&j| scale[j] == 0.0).collect();
            let amounts = new.iter().map(|&j| {
                let amounts = active.iter().map(|&i| entry(i, j).abs());
                (j, amounts.sum::<f64>())
            });
            let (feature, most) = amounts.max_by(|x, y| x.1.total_cmp(&y.1))?;
            let into = active.iter().map(|&i| {
                let amounts = new.iter().map(|&j| -entry(i, j));
                amounts.sum::<f64>() / scale[i]
            });
            let into: Vec<f64> = into.collect();
            (most > 0.0).then(|| (feature, factors.solve(&into)))
        });
        let identified = Identified::new(scale, &active, factors.as_ref());
        let identified = match entered {
            None => identified,
            Some((feature, found)) => {
                let mut reach = vec![0.0; d];
                for (x, &j) in found.iter().zip(&active) {
                    reach[j] = x / identified.scale[j];
                }
                identified.entering(feature, reach, &theta)
            }
        };
        Ok(Self {
            theta,
            rank: factors.as_ref().map_or(0, Factors::rank),
            relative_residual: if whole > 0.0 { left / whole } else { 0.0 },
            identified,
            count,
            active,
            factors,
        })
    }

    /// Whether there are enough samples for this rank to estimate the error of theta.
    #[must_use]
    pub fn has_enough_samples(&self) -> bool {
        self.count as f64 >= 1.5 * self.rank as f64 + 10.0
    }

    /// The influence of scores on theta: A^{-1} s for each row s, a sum of rho delta phi.
    ///
    /// # Panics
    /// When the rows do not have the dimension of theta.
    #[must_use]
    pub fn influence(&self, scores: &Matrix) -> Matrix {
        let d = self.theta.len();
        assert_eq!(scores.columns(), d, "scores have the dimension of theta");
        let Some(factors) = &self.factors else {
            return Matrix::zeros(scores.rows(), d);
        };
        let (scale, n) = (&self.identified.scale, self.count.max(1) as f64);
        let scaled = Matrix::from_fn(scores.rows(), self.active.len(), |k, i| {
            let j = self.active[i];
            scores.get(k, j) / (scale[j] * n)
        });
        let solved = factors.solve_rows(&scaled);
        let mut influence = Matrix::zeros(scores.rows(), d);
        for k in 0..scores.rows() {
            let row = influence.row_mut(k);
            for (x, &j) in solved.row(k).iter().zip(&self.active) {
                row[j] = x / scale[j];
            }
        }
        influence
    }
}

/// Which values a log identifies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identified {
    /// The root mean square of each feature; 0 if it was never nonzero.
    #[serde(with = "crate::exact_float")]
    scale: Vec<f64>,
    /// Vectors u, one after the other, with u.phi = 0 for all phi whose values are known: those with u.phi = 0 for all phi of the log (a
    /// basis, or some random ones), and those of [`Identified::without`]. Features never seen are 0 in them.
    #[serde(with = "crate::exact_float")]
    never: Vec<f64>,
    /// The features that only successors have.
    entered: Option<Entered>,
}

/// Features that successors have, but no row: the log says nothing about their weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entered {
    /// The one that successors have most.
    feature: usize,
    /// z: their discounted amount after phi is phi.z.
    #[serde(with = "crate::exact_float")]
    reach: Vec<f64>,
    /// The usual size of a weight, and the usual sum of a row's features.
    #[serde(with = "crate::exact_float")]
    weight: f64,
    #[serde(with = "crate::exact_float")]
    amount: f64,
}

impl Identified {
    /// Features of these root mean squares, all of them independent.
    #[must_use]
    pub fn all(scale: Vec<f64>) -> Self {
        Self {
            scale,
            never: Vec::new(),
            entered: None,
        }
    }

    /// Features of these root mean squares, and random vectors with u.phi = 0 for all phi of the log: each the part of random
    /// signs, divided by the root mean squares, that the equations cannot reach.
    ///
    /// Some stand for all: if u.phi is 0 for each, phi is almost surely identified. Their mean squared length in scaled
    /// coordinates, returned too, is about the number of independent ones.
    #[must_use]
    pub fn from_probes(scale: Vec<f64>, probes: &[Vec<f64>]) -> (Self, f64) {
        let square = |u: &f64, scale: &f64| (u * scale) * (u * scale);
        let length = |u: &Vec<f64>| u.iter().zip(&scale).map(|(u, s)| square(u, s)).sum::<f64>();
        let lengths: Vec<f64> = probes.iter().map(length).collect();
        let count = probes.len().max(1) as f64;
        if lengths.iter().all(|square| *square < SHORT * SHORT) {
            return (Self::all(scale), 0.0);
        }
        let never = probes.iter().flatten().map(|u| u / count.sqrt());
        let identified = Self {
            never: never.collect(),
            ..Self::all(scale)
        };
        (identified, lengths.iter().sum::<f64>() / count)
    }

    /// A vector of random signs for [`Identified::from_probes`]; 0 for features never seen.
    #[must_use]
    pub fn probe(scale: &[f64], number: u64) -> Vec<f64> {
        let mut random = Stream::new(number, 0);
        let sign = |scale: &f64| match (*scale > 0.0, random.uniform() < 0.5) {
            (false, _) => 0.0,
            (true, true) => -1.0 / scale,
            (true, false) => 1.0 / scale,
        };
        scale.iter().map(sign).collect()
    }

    fn new(scale: Vec<f64>, active: &[usize], factors: Option<&Factors>) -> Self {
        let mut never = Vec::new();
        for direction in factors.map_or(Vec::new(), Factors::outside) {
            let start = never.len();
            never.resize(start + scale.len(), 0.0);
            for (u, &j) in direction.iter().zip(active) {
                never[start + j] = u / scale[j];
            }
        }
        Self {
            never,
            ..Self::all(scale)
        }
    }

    /// Notes the features that only successors have: the one that they have most, z, and theta.
    ///
    /// # Panics
    /// When they do not have the dimension of theta.
    #[must_use]
    pub fn entering(mut self, feature: usize, reach: Vec<f64>, theta: &[f64]) -> Self {
        assert_eq!(reach.len(), self.scale.len(), "one number per feature");
        let seen = (theta.iter().zip(&self.scale)).filter(|(_, scale)| **scale > 0.0);
        let mut sizes: Vec<f64> = seen.map(|(x, _)| x.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let squares = self.scale.iter().map(|scale| scale * scale);
        self.entered = Some(Entered {
            feature,
            reach,
            weight: 2.0 * sizes.get(sizes.len() / 2).copied().unwrap_or(0.0),
            // The squares of indicators are the indicators.
            amount: squares.sum::<f64>().max(1.0),
        });
        self
    }

    /// About how wrong phi.theta may be because features that only successors have count as 0.
    #[must_use]
    pub fn doubt(&self, phi: Features<'_>) -> f64 {
        /// Values that rest on new states almost entirely are wrong by any amount.
        const MOST: f64 = 0.99;
        /// Less is rounding.
        const LEAST: f64 = 1e-9;
        self.entered.as_ref().map_or(0.0, |entered| {
            let reach = phi.dot(&entered.reach).abs();
            match reach <= LEAST {
                true => 0.0,
                false => entered.weight * reach / (1.0 - (reach / entered.amount).min(MOST)),
            }
        })
    }

    /// The feature that successors have most, of those that no row has.
    #[must_use]
    pub fn entered(&self) -> Option<usize> {
        self.entered.as_ref().map(|entered| entered.feature)
    }

    /// The number of combinations of features that never varied, each of which [`covers`](Self::covers) looks at.
    #[must_use]
    pub fn directions(&self) -> usize {
        self.never.len() / self.scale.len().max(1)
    }

    /// Whether it fits a dimension.
    #[must_use]
    pub fn fits(&self, dimension: usize) -> bool {
        let entered = self.entered.as_ref();
        self.scale.len() == dimension
            && self.never.len().is_multiple_of(dimension.max(1))
            && entered
                .is_none_or(|found| found.reach.len() == dimension && found.feature < dimension)
    }

    /// The number of features that were nonzero at least once.
    #[must_use]
    pub fn seen(&self) -> usize {
        self.scale.iter().filter(|scale| **scale > 0.0).count()
    }

    /// Whether a feature was nonzero at least once.
    #[must_use]
    pub fn has_feature(&self, index: usize) -> bool {
        self.scale[index] > 0.0
    }

    /// Declares phi.theta open for every phi with a notable phi.u, because it depends on what the log does not show.
    ///
    /// # Panics
    /// When u does not have the dimension of theta.
    #[must_use]
    pub fn without(mut self, u: &[f64]) -> Self {
        assert_eq!(u.len(), self.scale.len(), "one number per feature");
        self.never.extend_from_slice(u);
        self
    }

    /// Whether every feature of this vector was seen.
    #[must_use]
    pub fn has_seen(&self, phi: Features<'_>) -> bool {
        let mut seen = true;
        phi.for_each(|j, x| seen &= x == 0.0 || self.scale[j] > 0.0);
        seen
    }

    /// Whether the log says anything about phi.theta: some feature is not 0, none is new, and no combination of features that
    /// never varied matters.
    ///
    /// Without a nonzero feature, as for a category that the log does not have, the value 0 is not learned from anything.
    #[must_use]
    pub fn covers(&self, phi: Features<'_>) -> bool {
        let mut is_zero = true;
        phi.for_each(|_, x| is_zero &= x == 0.0);
        if is_zero || !self.has_seen(phi) {
            return false;
        }
        if self.never.is_empty() {
            return true;
        }
        let mut norm = 0.0;
        phi.for_each(|j, x| {
            if x != 0.0 {
                norm += (x / self.scale[j]).powi(2);
            }
        });
        let outside = self.never.chunks_exact(self.scale.len());
        let outside: f64 = outside.map(|u| phi.dot(u).powi(2)).sum();
        outside <= OUTSIDE * OUTSIDE * norm
    }
}

/// y - M x.
fn residual(matrix: &Matrix, x: &[f64], y: &[f64]) -> Vec<f64> {
    let image = matrix.times(x);
    y.iter().zip(&image).map(|(y, image)| y - image).collect()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phi::Transition;
    use crate::solve::equations::Equations;

    /// Two states that swap, reward 1 for leaving the first; features: the two indicators, a constant, and one never seen.
    #[test]
    fn collinear_and_unseen_features_have_the_smallest_solution() {
        let states = [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]];
        let mut equations = Equations::new(4, 0.5).unwrap();
        for t in 0..100 {
            let reward = if t % 2 == 0 { 1.0 } else { 0.0 };
            equations.add(&Transition::new(&states[t % 2], reward, &states[1 - t % 2]));
        }
        let found = equations.solve().unwrap();
        assert_eq!(found.rank, 2);
        assert!(
            found.relative_residual < 1e-14,
            "{}",
            found.relative_residual
        );
        for (state, exact) in states.iter().zip([4.0 / 3.0, 2.0 / 3.0]) {
            let phi = Features::Dense(state);
            assert!((phi.dot(&found.theta) - exact).abs() < 1e-13);
            assert!(found.identified.covers(phi));
        }
        for open in [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
            [1.0, 0.0, 1.0, 1.0],
        ] {
            assert!(!found.identified.covers(Features::Dense(&open)), "{open:?}");
        }
        assert_eq!(found.theta[3], 0.0);
        // In scaled coordinates the solution is orthogonal to (1, 1, -sqrt 2).
        let outside = found.theta[0] / 2.0 + found.theta[1] / 2.0 - found.theta[2];
        assert!(outside.abs() < 1e-13, "{outside}");
    }

    #[test]
    fn units_do_not_matter() {
        let solve = |units: [f64; 2]| {
            let mut equations = Equations::new(2, 0.9).unwrap();
            for t in 0..500_u32 {
                let at = |t: u32| {
                    [
                        units[0] * f64::from(t * 7 % 13),
                        units[1] * f64::from(t * 5 % 11),
                    ]
                };
                equations.add(&Transition::new(&at(t), f64::from(t % 3), &at(t + 1)));
            }
            equations.solve().unwrap()
        };
        let (plain, scaled) = (solve([1.0, 1.0]), solve([1e-9, 1e12]));
        assert_eq!((plain.rank, scaled.rank), (2, 2));
        for (j, unit) in [1e-9, 1e12].into_iter().enumerate() {
            let (x, y) = (plain.theta[j], scaled.theta[j] * unit);
            assert!((x - y).abs() < 1e-9 * x.abs(), "{x} {y}");
        }
    }

    #[test]
    fn features_whose_squares_underflow_are_not_identified() {
        let solve = |unit: f64| {
            let mut equations = Equations::new(1, 0.5).unwrap();
            let at = |t: u32| [unit * f64::from(1 + t % 3)];
            (0..300).for_each(|t| {
                equations.add(&Transition::new(&at(t), f64::from(t % 3), &at(t + 1)));
            });
            equations.solve().unwrap()
        };
        let (plain, small, tiny) = (solve(1.0), solve(1e-140), solve(1e-160));
        assert!((small.theta[0] * 1e-140 / plain.theta[0] - 1.0).abs() < 1e-12);
        assert_eq!((small.rank, tiny.rank), (1, 0));
        assert!(!tiny.identified.covers(Features::Dense(&[1e-160])));
    }

    #[test]
    fn the_influence_of_scores_is_that_of_more_rewards() {
        let features = |t: u32| [1.0, f64::from(t * t % 7), f64::from(t % 3)];
        let solve = |extra: f64| {
            let mut equations = Equations::new(3, 0.8).unwrap();
            for t in 0..200_u32 {
                let reward = f64::from(t % 5) + if t == 17 { extra } else { 0.0 };
                equations.add(&Transition::new(&features(t), reward, &features(t + 1)));
            }
            equations.solve().unwrap()
        };
        let (before, after) = (solve(0.0), solve(2.0));
        let score = features(17).map(|x| 2.0 * x);
        let influence = before.influence(&Matrix::from_rows(&[score]).unwrap());
        for j in 0..3 {
            let change = after.theta[j] - before.theta[j];
            assert!((influence.get(0, j) - change).abs() < 1e-12);
        }
    }

    #[test]
    fn equations_without_information_identify_nothing() {
        // A constant feature, discount 1: A = 0.
        let mut equations = Equations::new(1, 1.0).unwrap();
        (0..50).for_each(|_| equations.add(&Transition::new(&[1.0], 2.0, &[1.0])));
        let found = equations.solve().unwrap();
        assert_eq!((found.theta[0], found.rank), (0.0, 0));
        assert_eq!(found.relative_residual, 1.0);
        assert!(!found.identified.covers(Features::Dense(&[1.0])));
    }

    /// 0 -> 1 -> 2 with rewards of 1: nothing is known of state 2, which both states lead to.
    #[test]
    fn states_that_are_only_entered_are_doubted() {
        let states = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut equations = Equations::new(3, 0.9).unwrap();
        for _ in 0..20 {
            for k in 0..2 {
                equations.add(&Transition::new(&states[k], 1.0, &states[k + 1]));
            }
        }
        let found = equations.solve().unwrap();
        let theta = [1.9_f64, 1.0];
        let weight = 2.0 * theta[0];
        for (k, reach) in [0.81, 0.9].into_iter().enumerate() {
            assert!((found.theta[k] - theta[k]).abs() < 1e-12);
            let doubt = found.identified.doubt(Features::Dense(&states[k]));
            let expected = weight * reach / (1.0 - reach);
            assert!((doubt / expected - 1.0).abs() < 1e-9, "{doubt} {expected}");
        }
        assert_eq!(found.identified.entered(), Some(2));
        assert!(found.identified.fits(3) && !found.identified.fits(4));
        // A row that leaves it removes all doubt.
        equations.add(&Transition::new(&states[2], 1.0, &states[0]));
        let found = equations.solve().unwrap();
        assert_eq!(found.identified.entered(), None);
        assert_eq!(found.identified.doubt(Features::Dense(&states[0])), 0.0);
    }

    #[test]
    fn nothing_to_learn_from_is_zero() {
        let empty = Equations::new(2, 0.9).unwrap().solve().unwrap();
        assert_eq!((empty.theta, empty.rank), (vec![0.0; 2], 0));
        assert!(!empty.identified.covers(Features::Dense(&[1.0, 0.0])));
    }
}
