//! Counts the actions of a log, and those of the policy to be evaluated.

use serde::Serialize;

use super::TargetKind;
use super::balance::Balance;
use crate::actions::{Choice, Policy, PolicyKind, PolicySchema};
use crate::batch::Batch;
use crate::findings::finding;
use crate::inspect::{Finding, FindingKind, Running, Stats};
use crate::schema::Schema;

/// An importance ratio may differ from that of the probabilities by this share.
const ROUNDING: f64 = 1e-2;
/// Actions that the policy takes in a smaller share of rows do not matter.
const RARE: f64 = 1e-3;
/// Rows of a log without episodes that count as one unit.
const BLOCK: u64 = 64;

/// The actions of a log, and a policy that was not followed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyReport {
    /// How the log describes the policy.
    pub target: TargetKind,
    /// The actions, in order; empty if there are only importance ratios.
    pub actions: Vec<ActionReport>,
    /// The probabilities with which the logged actions were taken.
    pub behaviour_prob: Option<Stats>,
    /// The importance ratios of the rows; their mean is 1 if the propensities are right and the log supports the policy.
    pub ratio: Option<Stats>,
    /// The number of rows of the policy itself that would weigh as much, one decision each.
    pub effective_rows: Option<f64>,
    /// The share of the policy's choices that are actions which the log never shows.
    pub never_logged_share: f64,
}

/// One action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActionReport {
    /// Its name.
    pub name: String,
    /// The number of rows in which it was taken.
    pub rows: u64,
    /// The mean probability with which the policy takes it.
    pub target_share: f64,
}

/// The counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PolicyTally {
    rows: u64,
    /// How often each action was taken, and how often the policy takes it.
    taken: Vec<u64>,
    wanted: Vec<f64>,
    propensities: Running,
    ratios: Running,
    /// The sum of squared ratios.
    squares: f64,
    balance: Balance,
    /// The number of episodes that ended, where only flags show them.
    ended: u64,
    /// Ratios that differ from those of the probabilities: their number, and the file and row of the first.
    contradictions: u64,
    first: Option<(usize, u64, f64, f64)>,
}

impl PolicyTally {
    /// Adds the rows of a batch.
    pub fn push(&mut self, schema: &Schema, batch: &Batch) {
        if schema.policy.is_none() && !schema.ratio {
            return;
        }
        for i in 0..batch.len() {
            let unit = self.unit(schema, batch, i);
            self.rows += 1;
            self.ended += u64::from(batch.terminated[i] || batch.truncated[i]);
            let logged = schema.ratio.then(|| batch.ratios[i]);
            match &schema.policy {
                None => self.weigh(unit, 0, logged, Policy::Takes(0)),
                Some(_) => {
                    let choice = batch.choices.get(i);
                    self.add(choice);
                    let own = choice.ratio();
                    if let (Some(ratio), Some(logged)) = (own, logged) {
                        self.compare(ratio, logged, (batch.file, batch.rows[i]));
                    }
                    choice
                        .propensity
                        .iter()
                        .for_each(|p| self.propensities.add(*p));
                    self.weigh(unit, choice.action, own.or(logged), choice.own);
                }
            }
        }
    }

    /// The unit of a row, whose rows may depend on each other.
    fn unit(&self, schema: &Schema, batch: &Batch, i: usize) -> u64 {
        match schema {
            _ if schema.cluster => batch.clusters[i],
            _ if schema.episode => batch.episodes[i],
            _ if schema.terminated || schema.truncated => self.ended,
            _ => self.rows / BLOCK,
        }
    }

    fn weigh(&mut self, unit: u64, action: usize, ratio: Option<f64>, policy: Policy<'_>) {
        if let Some(ratio) = ratio {
            self.ratios.add(ratio);
            self.squares += ratio * ratio;
            self.balance.add(unit, action, ratio, policy);
        }
    }

    fn compare(&mut self, ratio: f64, logged: f64, (file, row): (usize, u64)) {
        if !((ratio - logged).abs() <= ROUNDING * ratio.max(logged).max(ROUNDING)) {
            self.contradictions += 1;
            self.first.get_or_insert((file, row, logged, ratio));
        }
    }

    fn add(&mut self, choice: Choice<'_>) {
        self.reach(choice.action);
        self.taken[choice.action] += 1;
        for (policy, counts) in [
            (choice.own, true),
            (choice.next, choice.own == Policy::Unknown),
        ] {
            match policy {
                Policy::Unknown => {}
                Policy::Takes(action) => {
                    self.reach(action);
                    self.wanted[action] += f64::from(u8::from(counts));
                }
                Policy::Draws(weights) => {
                    self.reach(weights.len().saturating_sub(1));
                    if counts {
                        let sums = self.wanted.iter_mut().zip(weights);
                        sums.for_each(|(sum, weight)| *sum += weight);
                    }
                }
            }
        }
    }

    fn reach(&mut self, action: usize) {
        if self.taken.len() <= action {
            self.taken.resize(action + 1, 0);
            self.wanted.resize(action + 1, 0.0);
        }
    }

    /// The names of the actions.
    fn names(&self, schema: Option<&PolicySchema>) -> Vec<String> {
        match schema {
            Some(schema) if !schema.actions.is_empty() => schema.actions.clone(),
            _ => (0..self.taken.len()).map(|k| k.to_string()).collect(),
        }
    }

    /// The share of the policy's choices that are action k.
    fn share(&self, k: usize) -> f64 {
        self.wanted.get(k).copied().unwrap_or(0.0) / self.rows.max(1) as f64
    }

    fn never_logged(&self) -> impl Iterator<Item = usize> {
        (0..self.taken.len()).filter(|&k| self.taken[k] == 0 && self.wanted[k] > 0.0)
    }

    /// The report; `None` without a policy that was not followed.
    pub fn report(&self, schema: &Schema) -> Option<PolicyReport> {
        let target = match &schema.policy {
            None if !schema.ratio => return None,
            None => TargetKind::Ratios,
            Some(policy) if policy.own != PolicyKind::Unknown => policy.own.into(),
            Some(policy) => policy.next.into(),
        };
        let names = self.names(schema.policy.as_ref()).into_iter().enumerate();
        let actions = names.map(|(k, name)| ActionReport {
            name,
            rows: self.taken.get(k).copied().unwrap_or(0),
            target_share: self.share(k),
        });
        let ratio = self.ratios.stats();
        let count = self.ratios.count() as f64;
        let effective = |found: &Stats| (count * found.mean).powi(2) / self.squares;
        Some(PolicyReport {
            target,
            actions: actions.collect(),
            behaviour_prob: self.propensities.stats(),
            effective_rows: ratio.as_ref().filter(|_| self.squares > 0.0).map(effective),
            ratio,
            never_logged_share: self.never_logged().map(|k| self.share(k)).sum::<f64>() + 0.0,
        })
    }

    /// What the counts show.
    pub fn findings(&self, schema: &Schema, files: &[String]) -> Vec<Finding> {
        let names = self.names(schema.policy.as_ref());
        let name = |k: usize| names.get(k).cloned().unwrap_or_else(|| k.to_string());
        let mut list = Vec::new();
        let never: Vec<String> = (self.never_logged())
            .filter(|&k| self.share(k) > RARE)
            .map(|k| {
                format!(
                    "{} ({:.1} % of its choices)",
                    name(k),
                    100.0 * self.share(k)
                )
            })
            .collect();
        if !never.is_empty() {
            list.push(finding(
                FindingKind::UnsupportedPolicy,
                format!(
                    "the policy takes actions that the log never shows: {}; nothing is known about what follows them",
                    never.join(", ")
                ),
            ));
        }
        if let Some(found) = self.balance.worst() {
            let (column, consequence) = match &schema.policy {
                None => ("rho", "the values rest on it, and are wrong"),
                Some(policy) => (
                    if policy.propensity {
                        "behaviour_prob"
                    } else {
                        "rho"
                    },
                    "do not rely on importance sampling and the doubly robust estimate; least squares does not use it",
                ),
            };
            let which = match schema.policy.is_some() {
                true => format!(" of action {}", name(found.action)),
                false => String::new(),
            };
            let or = match found.mean < 1.0 {
                true => ", or the policy takes actions where the log never does",
                false => "",
            };
            let mut finding = finding(
                FindingKind::WrongPropensities,
                format!(
                    "the importance ratios{which} average {:.2} instead of 1 ({} rows): {column} does not show the probabilities with which actions \
                     were taken{or}; {consequence}",
                    found.mean, found.rows
                ),
            );
            finding.count = found.rows;
            list.push(finding);
        }
        if let Some((file, row, logged, ratio)) = self.first {
            let mut found = finding(
                FindingKind::RatioContradicts,
                format!(
                    "{} of {} rows have a rho that is not target / behaviour_prob, first {logged} instead of {ratio:.4}: one of the three columns is wrong; \
                     target / behaviour_prob is used",
                    self.contradictions, self.rows
                ),
            );
            found.file = files.get(file).cloned();
            found.row = Some(row);
            found.count = self.contradictions;
            list.push(found);
        }
        list
    }
}
