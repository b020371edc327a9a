//! Holds what a comparison was about, who took part and what was found.

use robust_td_core::registry::{Input, Quantity, Source};
use robust_td_core::{Mixing, Problem};
use robust_td_engine::contest::Score;

use crate::contest::field::{Contestant, Field};
use crate::contest::run::{Length, Outcome};
use crate::text;

/// A finished comparison.
pub struct Comparison<'a> {
    /// The problem as the user named it.
    pub name: &'a str,
    /// Its settings.
    pub settings: &'a [(String, f64)],
    /// The problem.
    pub problem: &'a Problem,
    /// How fast it mixes, unless it is too large to say.
    pub mixing: Option<&'a Mixing>,
    /// Horizon, runs and seed.
    pub length: Length,
    /// Who took part.
    pub field: Field,
    /// What was found.
    pub outcome: Outcome,
    /// The threads that ran.
    pub threads: usize,
    /// The kernel that ran.
    pub kernel: &'static str,
}

impl Comparison<'_> {
    /// The contestants with their scores, in the order in which they were asked for.
    pub fn entries(&self) -> impl Iterator<Item = (&Contestant, &Score)> {
        self.field.contestants.iter().zip(&self.outcome.scores)
    }

    /// The same by increasing f; what is not a number comes last.
    pub fn ranked(&self) -> Vec<(&Contestant, &Score)> {
        let mut entries: Vec<_> = self.entries().collect();
        entries.sort_by(|(_, a), (_, b)| a.f.mean.total_cmp(&b.f.mean));
        entries
    }

    /// The problem with its settings: `two-state (epsilon = 0.1)`.
    pub fn problem_words(&self) -> String {
        let words: Vec<String> = self
            .settings
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        match words.is_empty() {
            true => self.name.into(),
            false => format!("{} ({})", self.name, words.join(", ")),
        }
    }
}

/// An input in words: `omega = 0.01 (oracle)`.
pub fn input_words(input: &Input) -> String {
    let source = match input.source {
        Source::Given => " (given)",
        Source::Known => "",
        Source::Oracle => " (oracle)",
    };
    format!("{} = {}{source}", input.name, text::number(input.value))
}

/// What a bound is about, as the key that holds the measured value.
pub fn quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::F => "f",
        Quantity::DNormSq => "d_norm_sq",
        Quantity::ThetaErrorSq => "theta_error_sq",
    }
}
