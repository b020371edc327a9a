//! Makes the estimates by importance sampling, and the doubly robust one, with the error of each.

use std::collections::HashMap;

use robust_td_core::learner::LinearValue;
use robust_td_core::support::leverage;

use super::episodes::{Episode, Values, for_each_episode};
use super::tail::Tail;
use super::weighted::WeightedSums;
use super::{Doubt, MOST_CUT, MOST_PREDICTED, MOST_SKEWED, OffPolicyMethod, SavedEstimate, folds};
use crate::error::Result;
use crate::replay::Replay;
use crate::returns::CompleteReturns;
use crate::returns::whole::Whole;
use crate::solved::gather::Plan;

/// The maximum number of groups of episodes whose contributions are kept.
const MOST_GROUPS: usize = 1024;

/// What is estimated.
pub(crate) struct Wanted<'a> {
    pub value: &'a LinearValue,
    /// Whether rows have importance ratios.
    pub has_ratios: bool,
    /// Whether the policy is known at the first rows.
    pub knows_starts: bool,
    /// Whether rows have actions, so that there is a Q. With ratios alone a doubly robust estimate of complete episodes is that of importance
    /// sampling: its corrections cancel.
    pub has_actions: bool,
    /// The number of independent units.
    pub units: u64,
}

/// What is found.
#[derive(Default)]
pub(crate) struct Answer {
    pub estimates: Vec<SavedEstimate>,
    /// The returns of the policy that was followed.
    pub complete: Option<CompleteReturns>,
    /// The number of episodes that were cut.
    pub cut: u64,
}

/// Makes up to four passes over the log.
///
/// # Errors
/// Those of reading, and sums that overflow.
pub(crate) fn estimate(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    wanted: &Wanted<'_>,
) -> Result<Answer> {
    if !plan.episodic {
        return Ok(Answer::default());
    }
    let is_robust = wanted.has_ratios && wanted.knows_starts && wanted.has_actions;
    let fitted = match is_robust {
        true => folds::values(replay, plan, wanted.units)?,
        false => None,
    };
    let cross_fitted = fitted.is_some();
    let all = [wanted.value.clone()];
    let values = Values {
        of_parts: fitted.as_deref().unwrap_or(&all),
    };
    let mut groups = Groups::default();
    let mut weighted = WeightedSums::new(plan.discount);
    let mut returns = Whole::default();
    let (mut complete, mut robust) = (Mean::default(), Mean::default());
    let (mut cut, mut predicted) = (0, 0.0);
    for_each_episode(replay, plan, values, |episode| {
        let group = groups.of(episode.unit);
        returns.restart(true);
        let unit = plan.unit.is_named().then_some(episode.unit);
        for step in episode.steps {
            returns.add(step.reward, plan.discount, unit);
        }
        returns.end(episode.complete);
        let sums = Sums::of(episode, plan.discount);
        let rows = || episode.steps.iter().map(|step| (step.ratio, step.reward));
        robust.add(group, sums.robust, sums.weight);
        robust.tail.add(rows());
        if episode.complete {
            complete.add(group, sums.per_decision, sums.weight);
            complete.tail.add(rows());
            weighted.add(episode);
        } else {
            cut += 1;
            predicted += sums.left;
        }
    })?;
    let mut answer = Answer {
        complete: returns.finish(),
        cut,
        ..Answer::default()
    };
    if !wanted.has_ratios {
        return Ok(answer);
    }
    let share = cut as f64 / robust.count;
    complete.doubt = (share > MOST_CUT).then_some(Doubt::Cut(share));
    let weight = predicted / robust.count;
    robust.doubt = (weight > MOST_PREDICTED).then_some(Doubt::Predicted(weight));
    if complete.count > 0.0 {
        let method = OffPolicyMethod::PerDecision;
        let estimate = complete.estimate(method, plan.discount, groups.count(), None);
        answer.estimates.push(estimate);
        if let Some(found) = weighted.finish() {
            let mut parts = vec![0.0; groups.kept()];
            let mut again = Groups::default();
            for_each_episode(replay, plan, values, |episode| {
                let group = again.of(episode.unit);
                if episode.complete {
                    parts[group] += found.contribution(episode);
                }
            })?;
            let mut estimate = complete.estimate(
                OffPolicyMethod::Weighted,
                plan.discount,
                groups.count(),
                None,
            );
            estimate.value = found.value;
            estimate.contributions = complete.with_leverage(parts);
            answer.estimates.push(estimate);
        }
    }
    if is_robust && robust.count > 0.0 {
        let method = OffPolicyMethod::DoublyRobust;
        let estimate = robust.estimate(method, plan.discount, groups.count(), Some(cross_fitted));
        answer.estimates.push(estimate);
    }
    Ok(answer)
}

/// What one episode adds to the estimates.
struct Sums {
    per_decision: f64,
    robust: f64,
    /// The mean weight of its rows, discounted.
    weight: f64,
    /// The weight of what would follow, discounted.
    left: f64,
}

impl Sums {
    fn of(episode: &Episode<'_>, discount: f64) -> Self {
        let (mut weight, mut power) = (1.0, 1.0);
        let [mut per_decision, mut weights, mut powers] = [0.0; 3];
        let mut robust = episode.steps.first().map_or(0.0, |step| step.value);
        for step in episode.steps {
            weight *= step.ratio;
            per_decision += power * weight * step.reward;
            let error = step.reward + discount * step.next_value - step.action_value;
            robust += power * weight * error;
            weights += power * weight;
            powers += power;
            power *= discount;
        }
        Self {
            per_decision,
            robust,
            weight: weights / powers,
            left: power * weight,
        }
    }
}

/// Numbers independent units, and pools them if there are many.
#[derive(Default)]
struct Groups {
    index: HashMap<u64, usize>,
}

impl Groups {
    fn of(&mut self, unit: u64) -> usize {
        let next = self.index.len();
        *self.index.entry(unit).or_insert(next) % MOST_GROUPS
    }

    fn count(&self) -> u64 {
        self.index.len() as u64
    }

    fn kept(&self) -> usize {
        self.index.len().min(MOST_GROUPS)
    }
}

/// A mean over episodes, with the sums of each group.
#[derive(Default)]
struct Mean {
    count: f64,
    sum: f64,
    counts: Vec<f64>,
    sums: Vec<f64>,
    weights: f64,
    squares: f64,
    tail: Tail,
    doubt: Option<Doubt>,
}

impl Mean {
    fn add(&mut self, group: usize, value: f64, weight: f64) {
        if self.sums.len() <= group {
            self.sums.resize(group + 1, 0.0);
            self.counts.resize(group + 1, 0.0);
        }
        self.count += 1.0;
        self.sum += value;
        self.counts[group] += 1.0;
        self.sums[group] += value;
        self.weights += weight;
        self.squares += weight * weight;
    }

    fn effective(&self) -> f64 {
        match self.squares > 0.0 {
            true => self.weights * self.weights / self.squares,
            false => 0.0,
        }
    }

    /// The contributions of groups, each enlarged by its share of the episodes.
    fn with_leverage(&self, mut parts: Vec<f64>) -> Vec<f64> {
        for (part, own) in parts.iter_mut().zip(&self.counts) {
            *part *= leverage(own / self.count);
        }
        parts
    }

    fn estimate(
        &self,
        method: OffPolicyMethod,
        discount: f64,
        clusters: u64,
        cross_fitted: Option<bool>,
    ) -> SavedEstimate {
        let value = self.sum / self.count;
        let reach = self.tail.reach(discount, clusters as f64, MOST_SKEWED);
        let parts = self.sums.iter().zip(&self.counts);
        let parts = parts.map(|(sum, own)| (sum - own * value) / self.count);
        SavedEstimate {
            method,
            value,
            contributions: self.with_leverage(parts.collect()),
            clusters,
            episodes: self.count as u64,
            effective: self.effective(),
            skewness: reach.skewness,
            beyond: reach.beyond,
            cross_fitted,
            doubt: self.doubt,
        }
    }
}
