//! Solves for the TD fixed point of a stream at any time, and estimates its error, without keeping the transitions.
//!
//! # Formulas
//! The equations A theta = b are sums over the transitions ([`equations`](super::equations)). The error of their solution follows from
//! the scores of groups of transitions, s_g = b_g - A_g theta ([`influence`](super::influence)), at the theta of all transitions,
//! which is not known when they arrive. So the scores are taken at a reference: the solution of the transitions so far, renewed
//! whenever their number has grown by a quarter (has doubled, above 500 features). At a new reference,
//! ```text
//! s_g -= A_g (change of theta)                                                           up to 32 features
//! s_gj -= (sum of rho phi_j^2 in g) / (sum of rho phi_j^2 in all) sum_g s_gj             beyond
//! ```
//! The first is exact, and takes the matrix of every group. The second makes the sum of all scores 0, as it is at a solution. With D_g
//! the diagonal matrix of the shares, it neglects (A_g - D_g A)(change of theta), a product of two sampling errors.
//! The first transitions, of which there are 64 plus 8 per feature, are kept, and scored when the first reference is known.
//!
//! # Groups
//! The caller names the unit of each transition: its episode, or the user it belongs to. While there is only one, the groups are
//! consecutive parts of equal length, 96 to 192; when these are full, neighbours are merged. From the second unit on, groups are units,
//! or several units at random if there are more than 256; groups of independent units are independent.
//!
//! # Performance
//! O(d^2) per transition, in blocks; O(d^3) each time the reference is renewed. Memory is d^2 + 1024 d numbers.

mod early;
mod groups;
#[cfg(test)]
mod tests;
mod units;

use serde::{Deserialize, Serialize};

pub use units::Distinct;

use crate::error::{Error, Result};
use crate::phi::{Features, Transition};
use crate::solve::equations::Equations;
use crate::solve::fixed_point::FixedPoint;
use crate::solve::influence::{Grouping, Influence};
use crate::solve::support::leverage;
use early::Early;
use groups::{Group, Groups};

/// The largest dimension: its equations take 128 megabytes.
pub const LARGEST_DIMENSION: usize = 4000;

/// Up to this dimension the reference is renewed whenever the number of transitions has grown by a quarter; beyond, when it has doubled.
const OFTEN: usize = 500;

/// The equations of a stream, and the scores of its groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedOnline")]
pub struct Online {
    equations: Equations,
    /// The theta at which scores are taken.
    #[serde(with = "crate::exact_float")]
    reference: Vec<f64>,
    /// The number of transitions at which the reference is renewed.
    renew_at: u64,
    /// The first transitions, until there is a reference.
    early: Option<Early>,
    groups: Groups,
    errors: Errors,
}

/// What is known about the TD errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Errors {
    /// Sum of rho r.
    #[serde(with = "crate::exact_float")]
    rewards: f64,
    /// Sum of rho (phi - gamma phi').
    #[serde(with = "crate::exact_float")]
    change: Vec<f64>,
    /// Sum of (rho delta)^2 at the references.
    #[serde(with = "crate::exact_float")]
    squares: f64,
    /// The largest |rho delta|.
    #[serde(with = "crate::exact_float")]
    largest: f64,
}

impl Errors {
    #[inline]
    fn record(&mut self, delta: f64) {
        self.squares += delta * delta;
        // The negated comparison keeps NaN.
        if !(delta.abs() <= self.largest) {
            self.largest = delta.abs();
        }
    }
}

/// The temporal-difference errors of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TdErrorSums {
    /// The sum of rho delta at the answer.
    pub sum: f64,
    /// The sum of their squares, each at the reference of its time.
    pub squares: f64,
    /// The largest absolute value, each at the reference of its time.
    pub largest: f64,
}

/// Which rows an average is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// The first rows of episodes.
    Starts,
    /// All rows.
    All,
}

/// An average over rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Average {
    /// Their number.
    pub count: u64,
    /// Their mean features.
    pub features: Vec<f64>,
    /// What the sampling of these rows adds to the error of their mean value, group by group.
    pub contributions: Vec<f64>,
}

impl Online {
    /// The state before the first transition.
    ///
    /// # Errors
    /// When the dimension is 0 or above [`LARGEST_DIMENSION`], or the discount is outside [0, 1).
    pub fn new(dimension: usize, discount: f64) -> Result<Self> {
        check(dimension, discount)?;
        Ok(Self {
            equations: Equations::new(dimension, discount)?,
            reference: vec![0.0; dimension],
            renew_at: early::kept(dimension),
            early: Some(Early::new()),
            groups: Groups::new(dimension),
            errors: Errors {
                rewards: 0.0,
                change: vec![0.0; dimension],
                squares: 0.0,
                largest: 0.0,
            },
        })
    }

    /// d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.equations.dimension()
    }

    /// gamma.
    #[must_use]
    pub fn discount(&self) -> f64 {
        self.equations.discount()
    }

    /// The number of transitions.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.equations.count()
    }

    /// The number of units; estimated to 1 % if there are more than 65,536.
    #[must_use]
    pub fn units(&self) -> u64 {
        self.groups.units()
    }

    /// Adds a transition of a unit; `starts` if it is the first of an episode.
    ///
    /// # Panics
    /// When the features do not have the dimension.
    pub fn add(&mut self, transition: &Transition<'_>, unit: u64, starts: bool) {
        self.equations.add(transition);
        let (group, change) = self.groups.place(unit);
        let discount = self.equations.discount();
        let mut delta = 0.0;
        match &mut self.early {
            Some(early) => {
                if let Some(change) = change {
                    early.follow(change);
                }
                early.push(group, transition, discount, self.reference.len());
            }
            None => {
                delta = transition.td_error(&self.reference, discount);
                self.errors.record(transition.ratio * delta);
            }
        }
        self.groups.add(group, transition, delta, starts, discount);
        let rho = transition.ratio;
        self.errors.rewards += rho * transition.reward;
        transition.features.axpy(rho, &mut self.errors.change);
        if let Some(next) = transition.outcome.next_features() {
            next.axpy(-discount * rho, &mut self.errors.change);
        }
        if self.count() >= self.renew_at {
            self.renew();
        }
    }

    /// Takes the solution so far as the reference of scores.
    fn renew(&mut self) {
        let (n, d) = (self.count(), self.dimension());
        let growth = match d <= OFTEN {
            true => n.div_ceil(4),
            false => n,
        };
        // A solution costs as much as some 2 d transitions.
        self.renew_at = n + growth.max(2 * d as u64);
        let found = self.equations.approximate();
        let theta = found.unwrap_or_else(|| self.reference.clone());
        match self.early.take() {
            Some(early) => {
                let (groups, errors) = (&mut self.groups, &mut self.errors);
                early.score(&theta, groups, |delta| errors.record(delta));
            }
            None => self.groups.refer(&self.reference, &theta),
        }
        self.reference = theta;
    }

    /// The TD fixed point of the transitions so far; O(d^3).
    ///
    /// # Errors
    /// When it is not finite.
    pub fn fixed_point(&self) -> Result<FixedPoint> {
        self.equations.solve()
    }

    /// The influence of the groups on the fixed point; none while there are too few transitions or groups.
    #[must_use]
    pub fn influence(&self, found: &FixedPoint) -> Option<Influence> {
        if !found.has_enough_samples() || self.groups.list().len() < 2 {
            return None;
        }
        let mut groups = self.groups.clone();
        match &self.early {
            Some(early) => early.score(&found.theta, &mut groups, |_| ()),
            None => groups.refer(&self.reference, &found.theta),
        }
        groups.close();
        let (grouping, clusters) = (groups.grouping(), groups.clusters());
        Influence::new(found, grouping, &groups.sums(), clusters).ok()
    }

    /// How the groups depend on each other.
    #[must_use]
    pub fn grouping(&self) -> Grouping {
        self.groups.grouping()
    }

    /// The mean features of rows, and the sampling error of these rows in their mean value at theta.
    #[must_use]
    pub fn average(&self, rows: Rows, theta: &[f64]) -> Average {
        let part = |group: &Group| -> (u64, Vec<f64>) {
            match rows {
                Rows::Starts => (group.starts, group.start_features.clone()),
                Rows::All => (group.rows, group.features.clone()),
            }
        };
        let mut groups = self.groups.clone();
        groups.close();
        let parts: Vec<_> = groups.list().iter().map(part).collect();
        let count: u64 = parts.iter().map(|(count, _)| count).sum();
        let n = count.max(1) as f64;
        let mut features = vec![0.0; theta.len()];
        for (_, sums) in parts.iter().filter(|(count, _)| *count > 0) {
            Features::Dense(sums).axpy(1.0 / n, &mut features);
        }
        let mean = Features::Dense(&features).dot(theta);
        let contribution = |(own, sums): &(u64, Vec<f64>)| match own {
            0 => 0.0,
            _ => {
                let own = *own as f64;
                let away = Features::Dense(sums).dot(theta) - own * mean;
                away / n * leverage(own / n)
            }
        };
        Average {
            count,
            contributions: parts.iter().map(contribution).collect(),
            features,
        }
    }

    /// The temporal-difference errors at theta, the answer.
    #[must_use]
    pub fn td_errors(&self, theta: &[f64]) -> TdErrorSums {
        let mut errors = self.errors.clone();
        if let Some(early) = &self.early {
            let mut groups = self.groups.clone();
            early.score(theta, &mut groups, |delta| errors.record(delta));
        }
        TdErrorSums {
            sum: errors.rewards - Features::Dense(&errors.change).dot(theta),
            squares: errors.squares,
            largest: errors.largest,
        }
    }
}

fn check(dimension: usize, discount: f64) -> Result<()> {
    crate::check::check_discount(discount)?;
    match (1..=LARGEST_DIMENSION).contains(&dimension) {
        true => Ok(()),
        false => Err(Error::Parameter {
            name: "dimension",
            value: dimension as f64,
            expected: "from 1 to 4000",
        }),
    }
}

/// The saved form, before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedOnline {
    equations: Equations,
    #[serde(with = "crate::exact_float")]
    reference: Vec<f64>,
    #[serde(deserialize_with = "crate::count::read")]
    renew_at: u64,
    early: Option<Early>,
    groups: Groups,
    errors: Errors,
}

impl TryFrom<SavedOnline> for Online {
    type Error = Error;

    fn try_from(saved: SavedOnline) -> Result<Self> {
        let SavedOnline {
            equations,
            reference,
            renew_at,
            early,
            groups,
            errors,
        } = saved;
        let d = equations.dimension();
        check(d, equations.discount())?;
        let rows: u64 = groups.list().iter().map(|group| group.rows).sum();
        let whole = [reference.len(), errors.change.len()] == [d; 2]
            && groups.fits(d)
            && rows == equations.count()
            && (early.as_ref()).is_none_or(|early| early.fits(d, groups.list().len()));
        if !whole {
            let contradiction = format!("a stream whose parts do not fit dimension {d}");
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            equations,
            reference,
            renew_at,
            early,
            groups,
            errors,
        })
    }
}
