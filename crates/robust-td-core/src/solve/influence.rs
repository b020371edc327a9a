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
use crate::phi::Features;
use crate::solve::fixed_point::FixedPoint;
pub use crate::solve::group_sums::GroupSums;
use crate::solve::spread::{Spread, independent};
use crate::solve::support::{Shares, Support, SupportSums, leverage};
use crate::solve::trajectory::{self, Trajectory};

/// The maximum number of groups of independent clusters.
const CLUSTER_GROUPS: usize = 256;
/// The maximum number of groups of any kind.
pub(super) const MOST_GROUPS: usize = 256;
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
        let log = of_log(grouping, sums, clusters);
        let common = |rows: &f64| *rows >= COMMON * log.rows;
        let features = match sums.rows.iter().all(common) {
            true => Vec::new(),
            false => support(grouping, sums, &total, log),
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

    /// The groups of these sizes behind the error of one value, whose contributions are given; other values have an unknown error.
    ///
    /// # Errors
    /// When there are more than 256 groups, or none.
    pub fn of_one_value(
        grouping: Grouping,
        sizes: &[f64],
        clusters: u64,
        transitions: u64,
    ) -> Result<Self> {
        let (clusters, rows) = (clusters as f64, transitions as f64);
        SavedInfluence {
            grouping,
            groups: sizes.len(),
            seen: Vec::new(),
            rows: Vec::new(),
            log: match grouping {
                Grouping::Independent => Support::of_sizes(sizes, clusters, rows),
                Grouping::Ordered => Support::even(clusters, rows),
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

/// The data behind the whole log: clusters by their rows.
fn of_log(grouping: Grouping, sums: &GroupSums, clusters: u64) -> Support {
    let sizes: Vec<f64> = sums.transitions.iter().map(|&n| n as f64).collect();
    let (clusters, rows) = (clusters as f64, sizes.iter().sum());
    match grouping {
        Grouping::Independent => Support::of_sizes(&sizes, clusters, rows),
        Grouping::Ordered => Support::even(clusters, rows),
    }
}

/// The data behind each feature.
fn support(
    grouping: Grouping,
    sums: &GroupSums,
    total: &[f64],
    log: Support,
) -> Vec<(Support, f64)> {
    let (groups, d) = (sums.squares.rows(), sums.squares.columns());
    let mut present = vec![0.0; d];
    let mut shares = vec![Shares::default(); d];
    for k in 0..groups {
        let columns = present.iter_mut().zip(&mut shares);
        for ((count, shares), (own, all)) in columns.zip(sums.squares.row(k).iter().zip(total)) {
            if *own > 0.0 {
                *count += 1.0;
                shares.add(own / all);
            }
        }
    }
    let pooled = log.clusters > groups as f64;
    let of = |j: usize| {
        let (rows, present) = (sums.rows[j], present[j]);
        // The expected number of clusters that fill this many groups at random.
        let most = groups as f64;
        let clusters = match pooled {
            true if present < most => -most * (-present / most).ln_1p(),
            true => log.clusters,
            false => present,
        };
        let clusters = clusters.min(log.clusters).min(rows);
        let support = match grouping {
            Grouping::Independent => {
                let pooled = pooled.then_some(groups);
                Support::of_shares(shares[j], pooled, clusters, rows)
            }
            Grouping::Ordered => Support::even(clusters, rows),
        };
        // A feature never seen has no root mean square; NaN could not be saved as JSON.
        (support, (total[j] / rows.max(1.0)).sqrt())
    };
    (0..d).map(of).collect()
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
    use crate::phi::Transition;
    use crate::solve::equations::Equations;

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

    /// A mean over 8 clusters, one with 40 % of the rows: few degrees of freedom, whatever a column does that the value does not use.
    #[test]
    fn clusters_count_by_their_rows() {
        let of = |sizes: &[usize], outlier: f64| {
            let rows: Vec<(usize, [f64; 2], f64)> = (sizes.iter().enumerate())
                .flat_map(|(k, &size)| (0..size).map(move |i| (k, i)))
                .map(|(k, i)| {
                    let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                    let x = sign * if k == 1 { outlier } else { 1.0 };
                    (k, [1.0, x], (k * k % 5) as f64 + (i / 2 % 3) as f64)
                })
                .collect();
            let mut equations = Equations::new(2, 0.0).unwrap();
            let at = |row: usize| Transition::terminated(&rows[row].1, rows[row].2);
            (0..rows.len()).for_each(|row| equations.add(&at(row)));
            let found = equations.solve().unwrap();
            let mut sums = GroupSums::new(sizes.len(), 2);
            for (row, (k, ..)) in rows.iter().enumerate() {
                sums.add(*k, &at(row), at(row).td_error(&found.theta, 0.0));
            }
            let clusters = sizes.len() as u64;
            let influence = Influence::new(&found, Grouping::Independent, &sums, clusters);
            influence.unwrap().spread(Features::Dense(&[1.0, 0.0]))
        };
        let [even, uneven] = [[60; 8], [280, 60, 60, 60, 60, 60, 60, 60]];
        assert!(of(&even, 1.0).freedom() > 5.0);
        // 1 / (0.4^2 + 7 (0.6 / 7)^2) = 4.73.
        let freedom = of(&uneven, 1.0).freedom();
        assert!((2.5..3.74).contains(&freedom), "{freedom}");
        // The value is that of the constant: the other column adds nothing.
        let [plain, wild] = [1.0, 30.0].map(|outlier| of(&[60; 100], outlier));
        assert!(plain.reliable && wild.reliable);
        let ratio = wild.half_width(0.95) / plain.half_width(0.95);
        assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
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
