//! Holds the results of a comparison.

use robust_td_core::catalog::Setting;
use robust_td_core::registry::{Input, Quantity, Source};
use robust_td_core::{Mixing, Problem};
use robust_td_engine::contest::Score;

use crate::contest::field::{Contestant, Field};
use crate::contest::kept::Kept;
use crate::contest::run::{Length, Outcome};
use crate::number;

/// A finished comparison.
#[derive(Debug, Clone)]
pub struct ComparisonResults {
    /// What the problem is called.
    pub name: String,
    /// The settings that made it.
    pub settings: Vec<(String, Setting)>,
    /// The problem.
    pub problem: Problem,
    /// How fast it mixes, unless it is too large to compute that.
    pub mixing: Option<Mixing>,
    /// Horizon, runs and seed.
    pub length: Length,
    /// Which methods took part, and which were skipped.
    pub field: Field,
    /// The scores.
    pub outcome: Outcome,
    /// The threads that ran.
    pub threads: usize,
    /// The kernel that ran.
    pub kernel: &'static str,
    /// The command line; empty if there was none.
    pub command: String,
    /// Where its checkpoint is, if it has one.
    pub(super) kept: Kept,
}

impl ComparisonResults {
    /// The score of a method, by the text that requested it.
    #[must_use]
    pub fn score(&self, label: &str) -> Option<&Score> {
        let mut entries = self.entries();
        entries.find_map(|(contestant, score)| (contestant.label == label).then_some(score))
    }

    /// The contestants with their scores, in the requested order.
    pub fn entries(&self) -> impl Iterator<Item = (&Contestant, &Score)> {
        self.field.contestants.iter().zip(&self.outcome.scores)
    }

    /// The same by increasing f; NaN comes last.
    #[must_use]
    pub fn ranked(&self) -> Vec<(&Contestant, &Score)> {
        let mut entries: Vec<_> = self.entries().collect();
        entries.sort_by(|(_, a), (_, b)| a.f.mean.total_cmp(&b.f.mean));
        entries
    }

    /// The problem with its settings: `two-state (epsilon = 0.1)`.
    #[must_use]
    pub fn problem_words(&self) -> String {
        let words: Vec<String> = self
            .settings
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        match words.is_empty() {
            true => self.name.clone(),
            false => format!("{} ({})", self.name, words.join(", ")),
        }
    }
}

/// An input in words: `omega = 0.01 (oracle)`.
#[must_use]
pub fn input_words(input: &Input) -> String {
    let source = match input.source {
        Source::Given => " (given)",
        Source::Known => "",
        Source::Oracle => " (oracle)",
    };
    format!("{} = {}{source}", input.name, number::short(input.value))
}

/// The quantity of a bound, as the key of the measured value.
pub fn quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::F => "f",
        Quantity::DNormSq => "d_norm_sq",
        Quantity::ThetaErrorSq => "theta_error_sq",
    }
}

/// The quantity of a bound, in symbols.
#[must_use]
pub fn quantity_words(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::F => "E f",
        Quantity::DNormSq => "E|V-V*|_D^2",
        Quantity::ThetaErrorSq => "E|theta-theta*|^2",
    }
}

/// A rate in percent; `-` when it is 0.
#[must_use]
pub fn share(rate: f64) -> String {
    match rate {
        0.0 => "-".into(),
        rate => format!("{:.0} %", (100.0 * rate).ceil()),
    }
}
