//! Counts the actions of a log, and those of the policy to be evaluated.

use crate::actions::{Choice, Policy, PolicySchema};
use crate::batch::Batch;
use crate::findings::finding;
use crate::inspect::{Finding, FindingKind};
use crate::schema::Schema;

/// An importance ratio may differ from that of the probabilities by this share.
const ROUNDING: f64 = 1e-2;
/// Actions that the policy takes in a smaller share of rows do not matter.
const RARE: f64 = 1e-3;

/// The counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PolicyTally {
    rows: u64,
    /// How often each action was taken, and how often the policy takes it.
    taken: Vec<u64>,
    wanted: Vec<f64>,
    /// Ratios that differ from those of the probabilities: their number, and the file and row of the first.
    contradictions: u64,
    first: Option<(usize, u64, f64, f64)>,
}

impl PolicyTally {
    /// Adds the rows of a batch.
    pub fn push(&mut self, schema: &Schema, batch: &Batch) {
        if schema.policy.is_none() {
            return;
        }
        for (i, choice) in batch.choices.iter().enumerate() {
            self.rows += 1;
            self.add(choice);
            if let Some(ratio) = choice.ratio().filter(|_| schema.ratio) {
                let logged = batch.ratios[i];
                if !((ratio - logged).abs() <= ROUNDING * ratio.max(logged).max(ROUNDING)) {
                    self.contradictions += 1;
                    let place = (batch.file, batch.rows[i], logged, ratio);
                    self.first.get_or_insert(place);
                }
            }
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
    pub fn actions(&self, schema: &PolicySchema) -> Vec<String> {
        match schema.actions.is_empty() {
            true => (0..self.taken.len()).map(|k| k.to_string()).collect(),
            false => schema.actions.clone(),
        }
    }

    /// What the counts show.
    pub fn findings(&self, actions: &[String], files: &[String]) -> Vec<Finding> {
        let mut list = Vec::new();
        let share = |k: usize| self.wanted[k] / self.rows.max(1) as f64;
        let never = (0..self.taken.len()).filter(|&k| self.taken[k] == 0 && share(k) > RARE);
        let never: Vec<String> = never
            .map(|k| {
                let name = actions.get(k).cloned().unwrap_or_else(|| k.to_string());
                format!("{name} ({:.1} % of its choices)", 100.0 * share(k))
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
