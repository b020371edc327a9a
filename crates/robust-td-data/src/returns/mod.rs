//! Compares the discounted returns of a log with the values that a model predicts, by tenths of the predictions.
//!
//! The return of a row is the discounted sum of the rewards that follow, up to the end of its episode. Where an episode is cut, what
//! would have followed is replaced by the predicted value there. A run without an end is cut every 20 / (1 - gamma)
//! rows, so that these replacements matter in few rows, and at the end of every node of 262,144 rows, so that nodes are independent. The sum of the returns G_i = r_i + gamma r_(i+1) + ... of a
//! group's rows in an episode is computed forwards:
//! ```text
//! sum over rows i of the group of G_i = sum over t of r_t e_t + gamma e_T V(cut),   e_t = gamma e_(t-1) + [row t is of the group]
//! ```
//!
//! The difference D of a group is the ratio of two sums over units, s = sum of (prediction - return) and n = rows. A unit is an
//! episode, or a cluster of episodes. The standard error assumes that units are independent, and nothing about the rows within one:
//! ```text
//! stderr^2 = m/(m-1) sum over the m units of (s - D n)^2 / (sum of n)^2
//! ```
//! Rare payoffs may be missing from a group, whose returns then seem to be known exactly. So the error is at least that of shares whose
//! returns have half of the standard deviation of the returns of whole episodes, over the whole log. Where episodes were cut, that deviation is at
//! least what the TD errors let expect, because a return is its value plus delta_0 + gamma delta_1 + ... over the rows that follow:
//! ```text
//! deviation^2 = (mean of delta^2) min( 1 / (1 - gamma^2), mean length )
//! ```

mod node;
mod ratio;
mod sums;
pub(crate) mod whole;

use robust_td_core::fixed_point::Identified;
use robust_td_core::learner::{Features, LinearValue, Outcome};
use robust_td_core::spread::two_sided;
use serde::{Deserialize, Serialize};

use crate::chunks::{Chunk, for_each_chunk};
use crate::error::Result;
use crate::fold::{FAN, Fold};
use crate::hash::mix;
use crate::replay::Replay;
use crate::solved::gather::Plan;
use crate::solved::passes;
pub(crate) use node::Checked;
use node::Open;
use sums::{Row, Sums};

/// Groups of rows, by predicted value.
const GROUPS: usize = 10;
/// The confidence with which a difference is more than chance: that of four standard deviations, even among ten.
const CONFIDENCE: f64 = 0.999_937;
/// The confidence with which a difference is remarkable: where a tenth has one, the check does not say that the features fit. Of ten
/// independent tenths one is in 5 % of logs.
const REMARKABLE: f64 = 0.995;
/// With fewer units than this in every tenth, no difference is no evidence that the features fit.
const FEWEST_UNITS: u64 = 20;
/// A tenth with this many units speaks for the features, however small the range of the returns is.
const ENOUGH_UNITS: u64 = 100;
/// One with fewer does if a difference of this share of the range would have been noticed.
const NOTICED: f64 = 0.5;
/// The fewest units of a tenth that can show that they do not.
const FEWEST_AGAINST: u64 = 5;
/// The maximum number of clusters; beyond, several are taken as one.
const MOST_CLUSTERS: u64 = 1 << 16;
/// Differences below this share of the range of values do not matter.
const SMALL: f64 = 0.02;
/// The error of the predictions, which were made with three times as many episodes, adds this to that of the returns.
const PREDICTIONS: f64 = 1.155;
/// The least error of a tenth, relative to that of a typical one: its returns may all be equal by chance.
const LEAST: f64 = 0.25;
/// The least deviation of its returns, relative to that of whole episodes of the log. With 1/4, 13 of 100 logs of 150 episodes whose rare
/// payoffs the features could express were found not to fit; with none, 24.
const OF_WHOLE: f64 = 0.5;

/// Returns against predictions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReturnCheck {
    /// Whether the predictions were made without the rows that they are compared with.
    pub held_out: bool,
    /// The number of episodes, or of parts of a run without an end.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub episodes: u64,
    /// Their rows.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub rows: u64,
    /// The number of those that were cut.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub cut: u64,
    /// The number of rows that are in no tenth, because the fit without them does not determine their values: it has not seen their
    /// features.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub undetermined: u64,
    /// The rows by predicted value, smallest first.
    pub tenths: Vec<Tenth>,
    /// Why it says nothing about the features.
    #[serde(default)]
    pub doubt: Option<Doubt>,
}

/// Why a comparison of returns with predictions says nothing about the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// The log enters states that no row leaves, so their values, which close the returns of cut episodes, are not known.
    NewStates,
    /// The value of the policy differs from the mean return of complete episodes.
    MeanReturn,
}

impl Doubt {
    /// The reason in words.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Self::NewStates => "the log enters states that no row of it leaves",
            Self::MeanReturn => "the value of the policy differs from the mean return",
        }
    }
}

/// About a tenth of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tenth {
    /// The number of rows.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub rows: u64,
    /// The number of episodes that they belong to.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub episodes: u64,
    /// The number of independent units that these belong to: the episodes themselves, or clusters of them.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub units: u64,
    /// The mean predicted value.
    #[serde(deserialize_with = "robust_td_core::exact_float::or_null")]
    pub predicted: f64,
    /// The mean discounted return.
    #[serde(rename = "return")]
    #[serde(deserialize_with = "robust_td_core::exact_float::or_null")]
    pub discounted_return: f64,
    /// The mean prediction minus the mean return.
    #[serde(deserialize_with = "robust_td_core::exact_float::or_null")]
    pub difference: f64,
    /// The standard error of the difference, by units, at least half of what the returns of whole episodes let expect; `None` for a
    /// single unit, and if it overflows.
    pub stderr: Option<f64>,
}

impl Tenth {
    /// The difference in standard errors; `None` if the standard error is not known.
    #[must_use]
    pub fn standard_errors(&self) -> Option<f64> {
        match self.stderr {
            Some(_) if self.difference.abs() <= self.rounding() => Some(0.0),
            stderr => stderr.map(|stderr| self.difference.abs() / stderr),
        }
    }

    /// A difference up to which it may be that of rounding.
    fn rounding(&self) -> f64 {
        1e-9 * self.predicted.abs().max(self.discounted_return.abs())
    }
}

/// Whether the features can express the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No difference is remarkable, or matters.
    Fits,
    /// Some difference is.
    DoesNotFit,
    /// Nearly all predictions are equal, so the check cannot show whether values differ.
    AllEqual,
    /// No difference is too large to be chance, but one is remarkable, or too few tenths would have shown a large one.
    Unknown,
}

impl Verdict {
    /// The verdict in a word or two.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fits => "yes",
            Self::DoesNotFit => "no",
            Self::AllEqual | Self::Unknown => "not known",
        }
    }
}

impl ReturnCheck {
    /// The variance of a unit's part of a tenth, over all tenths.
    fn pooled(&self) -> f64 {
        let (mut sum, mut units) = (0.0, 0.0);
        for tenth in &self.tenths {
            let (m, n) = (tenth.units as f64, tenth.rows as f64);
            sum += tenth.stderr.map_or(0.0, |stderr| (stderr * n).powi(2));
            units += m;
        }
        sum / f64::max(units, 1.0)
    }

    /// The range of the mean returns of tenths.
    fn range(&self) -> f64 {
        let values = || self.tenths.iter().map(|tenth| tenth.discounted_return);
        let (low, high) = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        // With one group there is no range.
        if high > low { high - low } else { high.abs() }
    }

    /// The difference beyond which that of a tenth is more than chance, with this confidence; `None` if no difference is.
    ///
    /// With few episodes, or clusters of them, the t distribution asks for more standard errors; with fewer than 5 none are enough.
    fn chance(&self, tenth: &Tenth, confidence: f64) -> Option<f64> {
        let (m, n) = (tenth.units as f64, tenth.rows as f64);
        let typical = (m * self.pooled()).sqrt() / n;
        let stderr = (tenth.stderr).filter(|_| tenth.units >= FEWEST_AGAINST)?;
        let error = (PREDICTIONS * stderr).max(LEAST * typical);
        Some(two_sided(confidence, m - 1.0) * error)
    }

    /// Whether the predictions of a tenth differ from its returns by more than chance, and by an amount that matters.
    #[must_use]
    pub fn is_far_off(&self, tenth: &Tenth) -> bool {
        self.differs(tenth, CONFIDENCE)
    }

    /// Whether they differ so much that it need not be chance.
    #[must_use]
    pub fn is_remarkable(&self, tenth: &Tenth) -> bool {
        self.differs(tenth, REMARKABLE)
    }

    fn differs(&self, tenth: &Tenth, confidence: f64) -> bool {
        let difference = tenth.difference.abs();
        let by_chance = self.chance(tenth, confidence);
        by_chance.is_some_and(|chance| difference > chance)
            && difference > SMALL * self.range()
            && difference > tenth.rounding()
    }

    /// Whether a tenth that is not far off speaks for the features: it has many units, or a large difference would have been noticed.
    fn speaks_for(&self, tenth: &Tenth) -> bool {
        let chance = self.chance(tenth, CONFIDENCE);
        let would_notice = |chance| tenth.units >= ENOUGH_UNITS || chance <= NOTICED * self.range();
        chance.is_some_and(would_notice)
    }

    /// Whether the features can express the values.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let is_far_off = self.tenths.iter().any(|tenth| self.is_far_off(tenth));
        match self.doubt {
            Some(Doubt::NewStates) => return Verdict::Unknown,
            _ if is_far_off => return Verdict::DoesNotFit,
            Some(Doubt::MeanReturn) => return Verdict::Unknown,
            None => {}
        }
        let says_little = |tenth: &Tenth| tenth.units < FEWEST_UNITS || tenth.stderr.is_none();
        if self.tenths.iter().all(says_little) {
            return Verdict::Unknown;
        }
        let speaks = |tenth: &&Tenth| self.speaks_for(tenth);
        let speaking = self.tenths.iter().filter(speaks).count();
        match self.tenths.len() {
            1 => Verdict::AllEqual,
            _ if self.tenths.iter().any(|tenth| self.is_remarkable(tenth)) => Verdict::Unknown,
            // A tenth of rare rows may have too few units in any log.
            tenths if 2 * speaking >= tenths => Verdict::Fits,
            _ => Verdict::Unknown,
        }
    }

    /// Why the check does not know whether the features can express the values.
    #[must_use]
    pub fn why_unknown(&self) -> &'static str {
        let remarkable = || self.tenths.iter().any(|tenth| self.is_remarkable(tenth));
        match self.doubt {
            Some(doubt) => doubt.why(),
            None if self.tenths.len() > 1 && remarkable() => {
                "one difference is larger than chance usually makes it"
            }
            None => "too little independent data to say yes",
        }
    }

    /// The largest difference in standard errors.
    #[must_use]
    pub fn largest(&self) -> Option<f64> {
        let known = self.tenths.iter().filter_map(Tenth::standard_errors);
        known.max_by(f64::total_cmp)
    }
}

/// The mean discounted return of complete episodes from their first row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompleteReturns {
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub episodes: u64,
    /// The number of independent units: the episodes themselves, or clusters of them.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub units: u64,
    /// The number of units of one size that hold the episodes as evenly.
    #[serde(with = "robust_td_core::exact_float")]
    pub effective: f64,
    #[serde(with = "robust_td_core::exact_float")]
    pub mean: f64,
    /// The standard deviation of an episode's return, as units show it; 0 if it is not known.
    #[serde(with = "robust_td_core::exact_float")]
    pub deviation: f64,
    /// The sum over units of (sum of the unit's returns - mean x its episodes)^2, and those of its third and fourth powers. Units larger
    /// than others, which bend the mean towards themselves, are enlarged, and smaller ones reduced.
    #[serde(with = "robust_td_core::exact_float")]
    pub spread: f64,
    #[serde(with = "robust_td_core::exact_float")]
    pub third: f64,
    #[serde(with = "robust_td_core::exact_float")]
    pub fourth: f64,
    /// The number of episodes left out, because they were cut.
    #[serde(deserialize_with = "robust_td_core::count::read")]
    pub cut: u64,
}

/// The largest predictions of all groups but the last; fewer where many predictions are equal.
pub(crate) fn edges(mut predictions: Vec<f64>) -> Vec<f64> {
    predictions.sort_by(f64::total_cmp);
    let count = predictions.len();
    let place = |k: usize| (k * count).div_ceil(GROUPS).checked_sub(1);
    let last = predictions.last().copied();
    let mut edges: Vec<f64> = (1..GROUPS)
        .filter_map(|k| predictions.get(place(k)?).copied())
        .collect();
    edges.dedup();
    // No group above the largest prediction.
    edges.retain(|edge| Some(*edge) != last);
    edges
}

/// What predicts values.
pub(crate) struct Predicts<'a> {
    pub value: LinearValue,
    /// What it determines; all rows if nothing is said.
    pub identified: Option<&'a Identified>,
    /// What predicts the others, where an episode is cut.
    pub all: LinearValue,
    /// The root mean square of its TD errors; 0 if it is not known.
    pub noise: f64,
}

impl Predicts<'_> {
    /// A value function that is known for all rows.
    pub fn all(value: LinearValue) -> Self {
        Self {
            all: value.clone(),
            value,
            identified: None,
            noise: 0.0,
        }
    }

    fn determines(&self, phi: Features<'_>) -> bool {
        self.identified.is_none_or(|known| known.covers(phi))
    }

    /// The value after a row.
    fn after(&self, phi: Features<'_>) -> f64 {
        match self.determines(phi) {
            true => self.value.value(phi),
            false => self.all.value(phi),
        }
    }
}

/// Makes a pass over the log.
///
/// # Errors
/// Those of reading.
pub(crate) fn check(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    predicts: Predicts<'_>,
    edges: Vec<f64>,
) -> Result<(ReturnCheck, Option<CompleteReturns>)> {
    let mut all = check_each(replay, &[(*plan, predicts)], vec![edges])?;
    Ok(all
        .pop()
        .unwrap_or_else(|| Sums::new(Vec::new(), 0.0, false).finish(false, [0.0; 2])))
}

/// Makes one pass over the log for several value functions, each with its plan.
///
/// # Errors
/// Those of reading.
pub(crate) fn check_each(
    replay: &mut Replay<'_>,
    jobs: &[(Plan<'_>, Predicts<'_>)],
    edges: Vec<Vec<f64>>,
) -> Result<Vec<(ReturnCheck, Option<CompleteReturns>)>> {
    let Some((first, _)) = jobs.first() else {
        return Ok(Vec::new());
    };
    if !first.interleaved {
        let nodes = match (replay.parts(), jobs) {
            (Some((elsewhere, log)), [(plan, predicts)]) => {
                passes::check(elsewhere, log, plan, predicts, edges)?
            }
            _ => fold(replay, jobs, &edges)?,
        };
        let all = nodes.finish().unwrap_or_default();
        let each = all.into_iter().zip(jobs);
        return Ok(each
            .map(|(found, (plan, predicts))| {
                found.finish(plan.holds_out, [predicts.noise, plan.discount])
            })
            .collect());
    }
    // Open episodes would be cut at the end of every node.
    let sums = jobs.iter().zip(edges);
    let sums = sums.map(|((plan, _), edges)| Sums::new(edges, plan.discount, true));
    let mut sums: Vec<Sums> = sums.collect();
    for_each_chunk(
        replay,
        first,
        |chunk| -> Vec<_> {
            let jobs = jobs.iter();
            jobs.map(|(plan, predicts)| rows(chunk, plan, predicts))
                .collect()
        },
        |each| {
            for (sums, rows) in sums.iter_mut().zip(each) {
                rows.iter().for_each(|row| sums.row(row));
            }
            Ok(())
        },
    )?;
    let each = sums.into_iter().zip(jobs);
    Ok(each
        .map(|(sums, (plan, predicts))| {
            sums.finish(plan.holds_out, [predicts.noise, plan.discount])
        })
        .collect())
}

/// Makes one pass over a log, or a part of it, whose episodes are not interleaved; returns its nodes.
///
/// # Errors
/// Those of reading.
pub(crate) fn fold(
    replay: &mut Replay<'_>,
    jobs: &[(Plan<'_>, Predicts<'_>)],
    edges: &[Vec<f64>],
) -> Result<Fold<Vec<Checked>>> {
    let mut fold = Fold::default();
    let Some((first, _)) = jobs.first() else {
        return Ok(fold);
    };
    let start = || -> Vec<Open> {
        let each = jobs.iter().zip(edges);
        each.map(|((plan, _), edges)| Open::new(edges.clone(), plan.discount))
            .collect()
    };
    let (mut open, mut chunks) = (start(), 0);
    for_each_chunk(
        replay,
        first,
        |chunk| -> Vec<_> {
            let jobs = jobs.iter();
            jobs.map(|(plan, predicts)| rows(chunk, plan, predicts))
                .collect()
        },
        |each| {
            for (open, rows) in open.iter_mut().zip(each) {
                rows.iter().for_each(|row| open.row(row));
            }
            chunks += 1;
            if chunks == FAN {
                let whole = std::mem::replace(&mut open, start());
                fold.put(1, whole.into_iter().map(Open::close).collect());
                chunks = 0;
            }
            Ok(())
        },
    )?;
    if chunks > 0 {
        fold.put(1, open.into_iter().map(Open::close).collect());
    }
    Ok(fold)
}

/// The number of a cluster.
pub(crate) fn pooled(cluster: u64) -> u64 {
    mix(cluster) % MOST_CLUSTERS
}

fn rows(chunk: &Chunk, plan: &Plan<'_>, predicts: &Predicts<'_>) -> Vec<Row> {
    let mut rows = Vec::with_capacity(chunk.transitions as usize);
    chunk.for_each(plan.map, |placed| {
        let outcome = placed.transition.outcome;
        rows.push(Row {
            run: placed.run,
            value: predicts.value.value(placed.transition.features),
            determined: predicts.determines(placed.transition.features),
            reward: placed.transition.reward,
            next: outcome
                .next_features()
                .map_or(0.0, |next| predicts.after(*next)),
            restarts: placed.restarts,
            starts: placed.starts,
            terminated: matches!(outcome, Outcome::Terminated),
            ends: outcome.ends_episode(),
            cluster: (plan.unit.is_named()).then(|| pooled(plan.unit.key(placed))),
            compared: !plan.holds_out || plan.unit.is_held_out(placed, plan.transitions),
        });
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten tenths of 200 episodes, with returns from 0 to 90 and an error of 1, one of which differs by this.
    fn check(difference: f64) -> ReturnCheck {
        let tenth = |k: usize| {
            let difference = if k == 3 { difference } else { 0.5 };
            Tenth {
                rows: 1000,
                episodes: 200,
                units: 200,
                predicted: 10.0 * k as f64 + difference,
                discounted_return: 10.0 * k as f64,
                difference,
                stderr: Some(1.0),
            }
        };
        ReturnCheck {
            held_out: true,
            episodes: 2000,
            rows: 10_000,
            cut: 0,
            undetermined: 0,
            tenths: (0..10).map(tenth).collect(),
            doubt: None,
        }
    }

    /// Differences count in errors that include those of the predictions: 1.155 times those of the returns.
    #[test]
    fn remarkable_differences_are_neither_yes_nor_no() {
        assert_eq!(check(-3.0).verdict(), Verdict::Fits);
        for difference in [3.6, -4.5] {
            let check = check(difference);
            assert_eq!(check.verdict(), Verdict::Unknown);
            assert!(check.why_unknown().contains("larger than chance"));
        }
        assert_eq!(check(5.5).verdict(), Verdict::DoesNotFit);
        // Less than 2 % of the range of the returns does not matter.
        let mut precise = check(1.7);
        for tenth in &mut precise.tenths {
            tenth.stderr = Some(0.1);
        }
        assert_eq!(precise.verdict(), Verdict::Fits);
    }
}
