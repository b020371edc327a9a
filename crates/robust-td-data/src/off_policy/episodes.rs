//! Collects the episodes of a log with their importance ratios and predicted values.

use std::collections::BTreeMap;

use robust_td_core::learner::{Features, LinearValue, Outcome};

use crate::chunks::{Chunk, Placed, for_each_chunk};
use crate::error::Result;
use crate::hash::mix;
use crate::replay::Replay;
use crate::solved::gather::Plan;

/// Rows that are discounted by less than this do not matter.
const VANISHES: f64 = 1e-12;
/// An episode that is cut counts as complete when what would follow is discounted by less than this.
const NEGLIGIBLE: f64 = 1e-3;
/// The maximum number of rows of an episode.
const LONGEST: usize = 1 << 22;
/// The maximum number of rows of episodes that are open beside the current one; beyond, the oldest counts as cut.
const MOST_ROWS: usize = 1 << 23;

/// The values of a policy: one value function, or one per part of the episodes, fitted without it.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub of_parts: &'a [LinearValue],
}

impl Values<'_> {
    fn of(&self, unit: u64) -> &LinearValue {
        &self.of_parts[part(unit, self.of_parts.len())]
    }
}

/// The part of a unit.
pub(super) fn part(unit: u64, parts: usize) -> usize {
    // Not the bits that choose what is held out.
    (mix(unit ^ 0x5bd1_e995) % parts.max(1) as u64) as usize
}

/// A row of an episode.
#[derive(Debug, Clone, Copy)]
pub(super) struct EpisodeStep {
    pub reward: f64,
    pub ratio: f64,
    /// Q(s, a); V(s) where there are no actions.
    pub action_value: f64,
    /// V(s).
    pub value: f64,
    /// V(s'), 0 after the end.
    pub next_value: f64,
}

/// An episode from its first row.
pub(super) struct Episode<'a> {
    pub steps: &'a [EpisodeStep],
    /// Whether it terminated, or what would follow is discounted away.
    pub complete: bool,
    pub unit: u64,
}

struct Row {
    /// The number of its episode.
    run: u64,
    step: EpisodeStep,
    restarts: bool,
    starts: bool,
    terminated: bool,
    ends: bool,
    unit: u64,
}

/// Visits the episodes in the order of the log.
///
/// # Errors
/// Those of reading.
pub(super) fn for_each_episode(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    values: Values<'_>,
    mut visit: impl FnMut(&Episode<'_>),
) -> Result<()> {
    let mut open = Open {
        discount: plan.discount,
        interleaved: plan.interleaved,
        ..Open::default()
    };
    for_each_chunk(
        replay,
        plan,
        |chunk| rows(chunk, plan, values),
        |rows| {
            rows.iter().for_each(|row| open.add(row, &mut visit));
            Ok(())
        },
    )?;
    open.finish(&mut visit);
    Ok(())
}

fn rows(chunk: &Chunk, plan: &Plan<'_>, values: Values<'_>) -> Vec<Row> {
    let mut rows = Vec::with_capacity(chunk.transitions as usize);
    chunk.for_each(plan.map, |placed| {
        let unit = plan.unit.key(placed);
        let value = values.of(unit);
        let outcome = placed.transition.outcome;
        let next = outcome.next_features();
        rows.push(Row {
            run: placed.run,
            step: EpisodeStep {
                reward: placed.transition.reward,
                ratio: ratio(placed),
                action_value: value.value(placed.transition.features),
                value: value.value(*placed.own()),
                next_value: next.map_or(0.0, |next: &Features<'_>| value.value(*next)),
            },
            restarts: placed.restarts,
            starts: placed.starts,
            terminated: matches!(outcome, Outcome::Terminated),
            ends: outcome.ends_episode(),
            unit,
        });
    });
    rows
}

/// The importance ratio of a row: that of the log, or that of its probabilities; 1 if it has neither.
pub(super) fn ratio(placed: &Placed<'_>) -> f64 {
    let found = placed.choice.and_then(|choice| choice.ratio());
    found.unwrap_or(placed.ratio)
}

/// The episodes under way: that of the last row, and others where rows are interleaved.
#[derive(Default)]
struct Open {
    discount: f64,
    interleaved: bool,
    run: u64,
    now: Part,
    others: BTreeMap<u64, Part>,
    /// The rows of the others.
    rows: usize,
}

/// An episode so far.
#[derive(Default)]
struct Part {
    steps: Vec<EpisodeStep>,
    started: bool,
    /// gamma^t of the next row.
    weight: f64,
    unit: u64,
}

impl Open {
    fn add(&mut self, row: &Row, visit: &mut impl FnMut(&Episode<'_>)) {
        if row.run != self.run {
            self.turn(row.run, visit);
        }
        if row.restarts {
            self.now.close(false, visit);
            self.now.started = row.starts;
            self.now.weight = 1.0;
        }
        self.now.add(row, self.discount);
        if row.ends {
            self.now.close(row.terminated, visit);
        }
    }

    /// Turns to another episode; the one before may resume where rows are interleaved.
    fn turn(&mut self, run: u64, visit: &mut impl FnMut(&Episode<'_>)) {
        if !self.interleaved {
            self.now.close(false, visit);
        } else if self.now.started {
            let before = std::mem::take(&mut self.now);
            self.rows += before.steps.len();
            self.others.insert(self.run, before);
        }
        if let Some(part) = self.others.remove(&run) {
            self.rows -= part.steps.len();
            self.now = part;
        }
        while self.rows > MOST_ROWS
            && let Some((_, mut oldest)) = self.others.pop_first()
        {
            self.rows -= oldest.steps.len();
            oldest.close(false, visit);
        }
        self.run = run;
    }

    fn finish(mut self, visit: &mut impl FnMut(&Episode<'_>)) {
        self.now.close(false, visit);
        self.others
            .values_mut()
            .for_each(|part| part.close(false, visit));
    }
}

impl Part {
    fn add(&mut self, row: &Row, discount: f64) {
        self.unit = row.unit;
        if self.started && self.weight >= VANISHES && self.steps.len() < LONGEST {
            self.steps.push(row.step);
        }
        self.weight *= discount;
    }

    fn close(&mut self, terminated: bool, visit: &mut impl FnMut(&Episode<'_>)) {
        if std::mem::take(&mut self.started) && !self.steps.is_empty() {
            let whole = self.steps.len() < LONGEST;
            visit(&Episode {
                steps: &self.steps,
                complete: whole && (terminated || self.weight < NEGLIGIBLE),
                unit: self.unit,
            });
        }
        self.steps.clear();
    }
}
