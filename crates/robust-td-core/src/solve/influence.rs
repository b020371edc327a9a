//! Keeps the influence of groups of transitions on theta, from which the error of any value follows.
//!
//! # Formulas
//! With the scores s_t = rho delta_t phi_t at the solution, theta - theta* is A^{-1} sum_t s_t to first order. The transitions are
//! grouped by cluster or by time, and W_k = A^{-1} (sum of the scores of group k), with every entry divided by 1 minus the group's share of
//! the feature ([`leverage`]). The error of phi.theta is then a sum of K numbers,
//! ```text
//! phi.theta - phi.theta* = sum_k c_k,     c_k = phi.W_k,
//! ```
//! independent of each other (clusters, [`spread`](crate::spread)) or a time series (consecutive blocks,
//! [`trajectory`](crate::trajectory)).

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::phi::{Features, Transition};
use crate::solve::fixed_point::FixedPoint;
use crate::solve::spread::{Spread, independent};
use crate::solve::support::{Support, SupportSums, leverage};
use crate::solve::trajectory::{self, Trajectory};

/// The maximum number of groups of independent clusters.
const CLUSTER_GROUPS: usize = 256;
/// The largest number of features of sums that are read: memory is taken for all groups.
const MOST_SAVED: usize = 1 << 13;
/// The maximum number of groups of any kind.
const MOST_GROUPS: usize = 256;
/// A feature that is nonzero in at least this share of the rows does not limit the support of a value.
const COMMON: f64 = 0.5;

/// How the groups depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// Not at all: clusters, or several clusters in a group.
    Independent,
    /// They are consecutive parts of one trajectory.
    Ordered,
}

impl Grouping {
    /// The maximum number of groups that a log is divided into.
    #[must_use]
    pub fn most_groups(self) -> usize {
        match self {
            Self::Independent => CLUSTER_GROUPS,
            Self::Ordered => trajectory::BLOCKS,
        }
    }
}

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
    pub(super) transitions: u64,
}

impl GroupSums {
    /// No transitions.
    #[must_use]
    pub fn new(groups: usize, dimension: usize) -> Self {
        Self {
            scores: Matrix::zeros(groups, dimension),
            squares: Matrix::zeros(groups, dimension),
            rows: vec![0.0; dimension],
            transitions: 0,
        }
    }

    /// Sums that were made elsewhere: scores and squares, one row per group, and for each feature the number of transitions in
    /// which it is nonzero.
    pub(super) fn of(scores: Matrix, squares: Matrix, rows: Vec<f64>, transitions: u64) -> Self {
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
        self.transitions += 1;
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
        self.transitions += deltas.len() as u64;
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
        self.transitions += other.transitions;
    }
}

/// The saved form: only groups with transitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedSums {
    groups: u32,
    dimension: u32,
    /// The groups that have sums, and their scores and squares, one after the other.
    present: Vec<u32>,
    scores: Vec<f64>,
    squares: Vec<f64>,
    rows: Vec<f64>,
    #[serde(deserialize_with = "crate::count::read")]
    transitions: u64,
}

impl From<GroupSums> for SavedSums {
    fn from(sums: GroupSums) -> Self {
        let groups = sums.scores.rows();
        let is_zero = |row: &[f64]| row.iter().all(|x| x.to_bits() == 0);
        let present =
            (0..groups).filter(|&k| !is_zero(sums.scores.row(k)) || !is_zero(sums.squares.row(k)));
        let present: Vec<u32> = present.map(|k| k as u32).collect();
        let pick = |matrix: &Matrix| {
            let rows = present.iter().flat_map(|&k| matrix.row(k as usize));
            rows.copied().collect()
        };
        Self {
            groups: groups as u32,
            dimension: sums.scores.columns() as u32,
            scores: pick(&sums.scores),
            squares: pick(&sums.squares),
            present,
            rows: sums.rows,
            transitions: sums.transitions,
        }
    }
}

impl TryFrom<SavedSums> for GroupSums {
    type Error = Error;

    fn try_from(saved: SavedSums) -> Result<Self> {
        let (groups, d) = (saved.groups as usize, saved.dimension as usize);
        let length = saved.present.len().checked_mul(d);
        let whole = groups <= CLUSTER_GROUPS.max(trajectory::BLOCKS)
            && d <= MOST_SAVED
            && saved.present.is_sorted_by(|a, b| a < b)
            && saved.present.last().is_none_or(|k| (*k as usize) < groups)
            && Some(saved.scores.len()) == length
            && Some(saved.squares.len()) == length
            && saved.rows.len() == d;
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
        (sums.rows, sums.transitions) = (saved.rows, saved.transitions);
        Ok(sums)
    }
}

/// The influence of every group on theta.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedInfluence", into = "SavedInfluence")]
pub struct Influence {
    /// Without the numbers W_k.
    saved: SavedInfluence,
    /// W_k, feature by feature: the contributions of all groups to one feature are consecutive.
    columns: Vec<f64>,
    /// For ordered groups.
    trajectory: Option<Trajectory>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedInfluence {
    grouping: Grouping,
    groups: usize,
    /// The features that W_k has columns for, in increasing order; empty if it has all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seen: Vec<u32>,
    /// W_k, row by row.
    #[serde(with = "crate::exact_float")]
    rows: Vec<f64>,
    /// The data behind the whole log.
    log: Support,
    /// The data behind each feature, and its root mean square where it is nonzero; empty if all features are common.
    features: Vec<(Support, f64)>,
}

impl Influence {
    /// The influence of groups with these sums on a fixed point, given the number of independent clusters behind them.
    ///
    /// # Errors
    /// When there are more than 256 groups, or none.
    pub fn new(
        found: &FixedPoint,
        grouping: Grouping,
        sums: &GroupSums,
        clusters: u64,
    ) -> Result<Self> {
        let influence = found.influence(&sums.scores);
        Self::of_seen(influence, Vec::new(), grouping, sums, clusters)
    }

    /// The same from A^{-1} times the scores, for the features seen; for all if none are given.
    ///
    /// # Errors
    /// When there are more groups than [`Grouping::most_groups`], or none.
    pub fn of_seen(
        mut influence: Matrix,
        seen: Vec<u32>,
        grouping: Grouping,
        sums: &GroupSums,
        clusters: u64,
    ) -> Result<Self> {
        let (groups, d) = (sums.squares.rows(), sums.squares.columns());
        let mut total = vec![0.0; d];
        for k in 0..groups {
            let squares = total.iter_mut().zip(sums.squares.row(k));
            squares.for_each(|(sum, x)| *sum += x);
        }
        for k in 0..groups {
            let squares = sums.squares.row(k).iter().zip(&total);
            for (w, (own, all)) in influence.row_mut(k).iter_mut().zip(squares) {
                if *own > 0.0 {
                    *w *= leverage(own / all);
                }
            }
        }
        let log = Support {
            clusters: clusters as f64,
            rows: sums.transitions as f64,
        };
        let common = |rows: &f64| *rows >= COMMON * log.rows;
        let features = match sums.rows.iter().all(common) {
            true => Vec::new(),
            false => support(sums, &total, log),
        };
        SavedInfluence {
            grouping,
            groups,
            seen,
            rows: influence.as_slice().to_vec(),
            log,
            features,
        }
        .try_into()
    }

    /// The groups behind the error of one value, whose contributions are given; other values have an unknown error.
    ///
    /// # Errors
    /// When there are more than 256 groups, or none.
    pub fn of_one_value(
        grouping: Grouping,
        groups: usize,
        clusters: u64,
        transitions: u64,
    ) -> Result<Self> {
        SavedInfluence {
            grouping,
            groups,
            seen: Vec::new(),
            rows: Vec::new(),
            log: Support {
                clusters: clusters as f64,
                rows: transitions as f64,
            },
            features: Vec::new(),
        }
        .try_into()
    }

    /// Whether it knows the error of one value only.
    #[must_use]
    pub fn is_of_one_value(&self) -> bool {
        self.columns.is_empty()
    }

    /// Whether it has this dimension.
    #[must_use]
    pub fn fits(&self, dimension: usize) -> bool {
        let saved = &self.saved;
        let ordered = saved.seen.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = (saved.seen.last()).is_none_or(|last| (*last as usize) < dimension);
        let dimension = match saved.seen.len() {
            0 => dimension,
            seen => seen,
        };
        ordered
            && inside
            && (self.is_of_one_value()
                || saved.groups.checked_mul(dimension) == Some(self.columns.len()))
            && [0, dimension].contains(&saved.features.len())
    }

    /// How the groups depend on each other.
    #[must_use]
    pub fn grouping(&self) -> Grouping {
        self.saved.grouping
    }

    /// The number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.saved.groups
    }

    /// W_k over all features of the given dimension.
    ///
    /// # Panics
    /// When there is no such group, or the dimension is another one.
    #[must_use]
    pub fn row(&self, group: usize, dimension: usize) -> Vec<f64> {
        let SavedInfluence { groups, seen, .. } = &self.saved;
        let own = self.columns.chunks_exact(*groups).map(|all| all[group]);
        if seen.is_empty() {
            assert_eq!(own.len(), dimension, "the dimension of the features");
            return own.collect();
        }
        let mut row = vec![0.0; dimension];
        for (x, &j) in own.zip(seen) {
            row[j as usize] = x;
        }
        row
    }

    /// The error of phi.theta.
    #[must_use]
    pub fn spread(&self, phi: Features<'_>) -> Spread {
        match self.is_of_one_value() {
            true => Spread::UNKNOWN,
            false => self.spread_with(phi, &[]),
        }
    }

    /// The error of phi.theta plus an average with the given contributions per group.
    ///
    /// # Panics
    /// When there are contributions, but not one per group.
    #[must_use]
    pub fn spread_with(&self, phi: Features<'_>, more: &[f64]) -> Spread {
        let groups = self.saved.groups;
        let mut contributions = [0.0; MOST_GROUPS];
        let contributions = &mut contributions[..groups];
        let width = self.columns.len() / groups;
        if let (Features::Dense(phi), true) = (phi, self.saved.seen.is_empty()) {
            let fits = self.is_of_one_value() || phi.len() == width;
            assert!(fits, "features have the dimension of theta");
        }
        let mut support = SupportSums::default();
        let mut is_used = false;
        self.for_each(phi, |place, x| {
            if place < width {
                axpy(x, &self.columns[place * groups..][..groups], contributions);
            }
            if let Some((of_feature, typical)) = self.saved.features.get(place) {
                support.add(x.abs() / typical, *of_feature);
                is_used = true;
            }
        });
        if !more.is_empty() {
            assert_eq!(more.len(), groups, "one contribution per group");
            axpy(1.0, more, contributions);
        }
        let support = match is_used {
            true => support.support(self.saved.log),
            false => self.saved.log,
        };
        match &self.trajectory {
            Some(trajectory) => trajectory.spread(contributions, support),
            None => independent(contributions, support),
        }
    }

    /// Takes the nonzero features of phi with their places among the columns.
    #[inline]
    fn for_each(&self, phi: Features<'_>, mut take: impl FnMut(usize, f64)) {
        let seen = &self.saved.seen;
        phi.for_each(|j, x| {
            if x == 0.0 {
                return;
            }
            if seen.is_empty() {
                take(j, x);
            } else if let Ok(place) = seen.binary_search(&(j as u32)) {
                take(place, x);
            }
        });
    }
}

/// sums += factor x.
#[inline]
fn axpy(factor: f64, x: &[f64], sums: &mut [f64]) {
    for (sum, x) in sums.iter_mut().zip(x) {
        *sum += factor * x;
    }
}

/// A matrix of this many rows, column by column.
fn transposed(entries: &[f64], rows: usize) -> Vec<f64> {
    let columns = entries.len() / rows;
    let column = |j: usize| entries.iter().skip(j).step_by(columns);
    (0..columns).flat_map(column).copied().collect()
}

/// The data behind each feature.
fn support(sums: &GroupSums, total: &[f64], log: Support) -> Vec<(Support, f64)> {
    let (groups, d) = (sums.squares.rows(), sums.squares.columns());
    let mut present = vec![0.0; d];
    for k in 0..groups {
        for (count, square) in present.iter_mut().zip(sums.squares.row(k)) {
            *count += f64::from(u8::from(*square > 0.0));
        }
    }
    let pooled = log.clusters > groups as f64;
    let of = |(j, present): (usize, f64)| {
        let rows = sums.rows[j];
        // The expected number of clusters that fill this many groups at random.
        let most = groups as f64;
        let clusters = match pooled {
            true if present < most => -most * (-present / most).ln_1p(),
            true => log.clusters,
            false => present,
        };
        let support = Support {
            clusters: clusters.min(log.clusters).min(rows),
            rows,
        };
        // A feature never seen has no root mean square; NaN could not be saved as JSON.
        (support, (total[j] / rows.max(1.0)).sqrt())
    };
    present.into_iter().enumerate().map(of).collect()
}

impl From<Influence> for SavedInfluence {
    fn from(influence: Influence) -> Self {
        let width = influence.columns.len() / influence.saved.groups;
        Self {
            rows: transposed(&influence.columns, width.max(1)),
            ..influence.saved
        }
    }
}

impl TryFrom<SavedInfluence> for Influence {
    type Error = Error;

    fn try_from(mut saved: SavedInfluence) -> Result<Self> {
        let (groups, entries) = (saved.groups, saved.rows.len());
        if !(1..=MOST_GROUPS).contains(&groups) || !entries.is_multiple_of(groups) {
            let contradiction = format!("{groups} groups of transitions with {entries} entries");
            return Err(Error::Saved { contradiction });
        }
        let trajectory = match saved.grouping {
            Grouping::Independent => None,
            Grouping::Ordered => Some(Trajectory::new(saved.groups)?),
        };
        let columns = transposed(&std::mem::take(&mut saved.rows), groups);
        Ok(Self {
            saved,
            columns,
            trajectory,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::equations::Equations;

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

    /// The mean of rewards, discount 0: the interval is the textbook's t interval.
    #[test]
    fn the_mean_of_clusters_has_its_t_interval() {
        let rewards = [1.0, 4.0, 2.0, 2.0, 6.0, 3.0];
        let mut equations = Equations::new(1, 0.0).unwrap();
        let transitions = rewards.map(|reward| Transition::terminated(&[1.0], reward));
        transitions.iter().for_each(|t| equations.add(t));
        let found = equations.solve().unwrap();
        let mut sums = GroupSums::new(6, 1);
        for (k, transition) in transitions.iter().enumerate() {
            sums.add(k, transition, transition.td_error(&found.theta, 0.0));
        }
        let influence = Influence::new(&found, Grouping::Independent, &sums, 6).unwrap();
        let spread = influence.spread(Features::Dense(&[1.0]));
        let variance: f64 = rewards.iter().map(|r| (r - 3.0) * (r - 3.0)).sum::<f64>() / 5.0;
        assert!((found.theta[0] - 3.0).abs() < 1e-14);
        assert!((spread.standard_error() - (variance / 6.0).sqrt()).abs() < 1e-12);
        let text = serde_json::to_string(&influence).unwrap();
        assert_eq!(serde_json::from_str::<Influence>(&text).unwrap(), influence);
    }

    #[test]
    fn a_rare_feature_limits_the_support_of_its_value_only() {
        let states = [[1.0, 0.0], [0.0, 1.0]];
        let mut equations = Equations::new(2, 0.0).unwrap();
        let mut sums = GroupSums::new(100, 2);
        let state = |k: usize| usize::from(k.is_multiple_of(10) && k < 50);
        let at = |k: usize| Transition::terminated(&states[state(k)], (k % 7) as f64);
        (0..100).for_each(|k| equations.add(&at(k)));
        let found = equations.solve().unwrap();
        (0..100).for_each(|k| sums.add(k, &at(k), at(k).td_error(&found.theta, 0.0)));
        let influence = Influence::new(&found, Grouping::Independent, &sums, 100).unwrap();
        let [often, rare] = states.map(|phi| influence.spread(Features::Dense(&phi)));
        assert!(often.reliable && often.freedom() > 30.0, "{often:?}");
        assert!(!rare.reliable && rare.freedom() <= 4.0, "{rare:?}");
    }
}
