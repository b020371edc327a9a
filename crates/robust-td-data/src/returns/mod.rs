//! Compares the discounted returns of a log with the values that a model predicts, by tenths of the predictions.
//!
//! The return of a row is the discounted sum of the rewards that follow, up to the end of its episode. Where an episode is cut, what
//! would have followed is replaced by the predicted value there. A run without an end is cut every 20 / (1 - gamma)
//! rows, so that these replacements matter in few rows. The sum of the returns G_i = r_i + gamma r_(i+1) + ... of a
//! group's rows in an episode is computed forwards:
//! ```text
//! sum over rows i of the group of G_i = sum over t of r_t e_t + gamma e_T V(cut),   e_t = gamma e_(t-1) + [row t is of the group]
//! ```
//!
//! The difference D of a group is the ratio of two sums over episodes, s = sum of (prediction - return) and n = rows. Its
//! standard error assumes that episodes are independent, and nothing about the rows within an episode:
//! ```text
//! stderr^2 = m/(m-1) sum over the m episodes of (s - D n)^2 / (sum of n)^2
//! ```

mod sums;

use robust_td_core::learner::{LinearValue, Outcome};
use serde::{Deserialize, Serialize};

use crate::chunks::{Chunk, for_each_chunk};
use crate::error::Result;
use crate::replay::Replay;
use crate::solved::gather::Plan;
use sums::{Row, Sums};

/// Groups of rows, by predicted value.
const GROUPS: usize = 10;
/// Differences beyond this number of standard errors are not chance, even among ten.
const MANY: f64 = 4.0;
/// Differences below this share of the range of values do not matter.
const SMALL: f64 = 0.02;

/// Returns against predictions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReturnCheck {
    /// Whether the predictions were made without the rows that they are compared with.
    pub held_out: bool,
    /// The number of episodes, or of parts of a run without an end.
    pub episodes: u64,
    /// Their rows.
    pub rows: u64,
    /// The number of those that were cut.
    pub cut: u64,
    /// The rows by predicted value, smallest first.
    pub tenths: Vec<Tenth>,
}

/// About a tenth of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tenth {
    /// The number of rows.
    pub rows: u64,
    /// The number of episodes that they belong to.
    pub episodes: u64,
    /// The mean predicted value.
    pub predicted: f64,
    /// The mean discounted return.
    #[serde(rename = "return")]
    pub discounted_return: f64,
    /// The mean prediction minus the mean return.
    pub difference: f64,
    /// The standard error of the difference, by episodes; `None` for a single episode.
    pub stderr: Option<f64>,
}

impl Tenth {
    /// The difference in standard errors; `None` if the standard error is not known.
    #[must_use]
    pub fn standard_errors(&self) -> Option<f64> {
        let scale = self.predicted.abs().max(self.discounted_return.abs());
        match self.stderr {
            Some(_) if self.difference.abs() <= 1e-9 * scale => Some(0.0),
            stderr => stderr.map(|stderr| self.difference.abs() / stderr),
        }
    }

    fn is_not_chance(&self) -> bool {
        self.standard_errors().is_some_and(|errors| errors > MANY)
    }
}

/// Whether the features can express the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No difference is too large to be chance, or to matter.
    Fits,
    /// Some difference is.
    DoesNotFit,
    /// All predictions are equal, so the check cannot show whether values differ.
    AllEqual,
    /// There is too little data.
    Unknown,
}

impl ReturnCheck {
    /// Whether the predictions of a tenth differ from its returns by more than chance, and by an amount that matters.
    #[must_use]
    pub fn is_far_off(&self, tenth: &Tenth) -> bool {
        let values = || self.tenths.iter().map(|tenth| tenth.discounted_return);
        let (low, high) = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        // With one group there is no range.
        let range = if high > low { high - low } else { high.abs() };
        tenth.is_not_chance() && tenth.difference.abs() > SMALL * range
    }

    /// Whether the features can express the values.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.tenths.iter().any(|tenth| self.is_far_off(tenth)) {
            return Verdict::DoesNotFit;
        }
        if self.tenths.iter().all(|tenth| tenth.stderr.is_none()) {
            return Verdict::Unknown;
        }
        match self.tenths.len() {
            1 => Verdict::AllEqual,
            _ => Verdict::Fits,
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
    pub episodes: u64,
    pub mean: f64,
    /// The sum of squared deviations from the mean.
    pub spread: f64,
    /// The number of episodes left out, because they were cut.
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

/// Makes a pass over the log.
///
/// # Errors
/// Those of reading.
pub(crate) fn check(
    replay: &mut Replay<'_>,
    plan: &Plan<'_>,
    value: &LinearValue,
    edges: Vec<f64>,
) -> Result<(ReturnCheck, Option<CompleteReturns>)> {
    let mut sums = Sums::new(edges, plan.discount);
    for_each_chunk(
        replay,
        plan.threads,
        plan.limit,
        |chunk| rows(chunk, plan, value),
        |rows| {
            rows.into_iter().for_each(|row| sums.row(row));
            Ok(())
        },
    )?;
    Ok(sums.finish(plan.holds_out))
}

<<<<<<< HEAD:crates/robust-td-data/src/returns/mod.rs
=======
/// What the check needs of a transition.
struct Row {
    value: f64,
    reward: f64,
    /// The value after it, if the episode is cut there.
    next: f64,
    restarts: bool,
    starts: bool,
    terminated: bool,
    ends: bool,
    /// Whether it is compared.
    compared: bool,
}

>>>>>>> i15-tests:crates/robust-td-data/src/returns.rs
fn rows(chunk: &Chunk, plan: &Plan<'_>, value: &LinearValue) -> Vec<Row> {
    let mut rows = Vec::with_capacity(chunk.transitions as usize);
    chunk.for_each(plan.map, |placed| {
        let outcome = placed.transition.outcome;
        rows.push(Row {
            value: value.value(placed.transition.features),
            reward: placed.transition.reward,
            next: outcome
                .next_features()
                .map_or(0.0, |next| value.value(*next)),
            restarts: placed.restarts,
            starts: placed.starts,
            terminated: matches!(outcome, Outcome::Terminated),
            ends: outcome.ends_episode(),
            compared: !plan.holds_out || plan.unit.is_held_out(placed, plan.transitions),
        });
    });
    rows
}
<<<<<<< HEAD:crates/robust-td-data/src/returns/mod.rs
=======

/// The sums of all groups.
struct Sums {
    discount: f64,
    edges: Vec<f64>,
    groups: Vec<Group>,
    /// The rows of the current part of an episode, and the rows after which it is cut.
    rows_here: u64,
    longest: u64,
    /// The value after the last row.
    next: f64,
    compared: bool,
    episodes: u64,
    rows: u64,
    cut: u64,
    whole: Whole,
}

/// The return of the current episode from its first row, and the moments of the complete ones.
#[derive(Default)]
struct Whole {
    started: bool,
    weight: f64,
    sum: f64,
    episodes: u64,
    cut: u64,
    mean: f64,
    spread: f64,
}

impl Whole {
    fn end(&mut self, complete: bool) {
        if !std::mem::take(&mut self.started) {
            return;
        }
        if complete || self.weight < NEGLIGIBLE {
            self.episodes += 1;
            let away = self.sum - self.mean;
            self.mean += away / self.episodes as f64;
            self.spread += away * (self.sum - self.mean);
        } else {
            self.cut += 1;
        }
    }
}

/// The sums of one group: of the current episode, and over all.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    here: Episode,
    episodes: u64,
    all: Episode,
    /// Sums over episodes of s^2, s n and n^2.
    squares: [f64; 3],
}

#[derive(Debug, Clone, Copy, Default)]
struct Episode {
    rows: f64,
    predicted: f64,
    returned: f64,
    /// e_t, the rows so far, discounted by their age.
    trace: f64,
}

impl Sums {
    fn new(edges: Vec<f64>, discount: f64) -> Self {
        let horizons = (HORIZONS / (1.0 - discount)).ceil();
        Self {
            discount,
            groups: vec![Group::default(); edges.len() + 1],
            edges,
            rows_here: 0,
            // At discount 1, the cast saturates: nothing is cut.
            longest: horizons as u64,
            next: 0.0,
            compared: false,
            episodes: 0,
            rows: 0,
            cut: 0,
            whole: Whole::default(),
        }
    }

    fn row(&mut self, row: Row) {
        if row.restarts {
            self.end(false);
            self.whole.end(false);
            self.whole = Whole {
                // An episode whose first rows are missing is not complete.
                started: row.starts,
                weight: 1.0,
                sum: 0.0,
                ..self.whole
            };
        } else if self.compared != row.compared {
            self.end(false);
        }
        self.whole.sum += self.whole.weight * row.reward;
        self.whole.weight *= self.discount;
        self.compared = row.compared;
        if row.compared {
            self.add(&row);
        }
        if row.ends {
            self.end(row.terminated);
            self.whole.end(row.terminated);
        } else if self.rows_here >= self.longest {
            self.end(false);
        }
    }

    fn add(&mut self, row: &Row) {
        self.rows_here += 1;
        self.next = row.next;
        let own = self.edges.partition_point(|&edge| edge < row.value);
        self.groups[own].here.rows += 1.0;
        self.groups[own].here.predicted += row.value;
        for (k, group) in self.groups.iter_mut().enumerate() {
            let here = &mut group.here;
            here.trace = self.discount * here.trace + f64::from(u8::from(k == own));
            here.returned += row.reward * here.trace;
        }
    }

    /// Ends a part of an episode.
    fn end(&mut self, terminated: bool) {
        if self.rows_here == 0 {
            return;
        }
        self.episodes += 1;
        self.rows += self.rows_here;
        self.rows_here = 0;
        self.cut += u64::from(!terminated);
        let after = match terminated {
            true => 0.0,
            false => self.discount * self.next,
        };
        for group in &mut self.groups {
            let mut here = std::mem::take(&mut group.here);
            if here.rows > 0.0 {
                here.returned += here.trace * after;
                group.add(&here);
            }
        }
    }

    fn finish(mut self, held_out: bool) -> (ReturnCheck, Option<CompleteReturns>) {
        self.end(false);
        self.whole.end(false);
        let check = ReturnCheck {
            held_out,
            episodes: self.episodes,
            rows: self.rows,
            cut: self.cut,
            tenths: self.groups.iter().filter_map(Group::tenth).collect(),
        };
        let whole = self.whole;
        let complete = (whole.episodes > 0).then_some(CompleteReturns {
            episodes: whole.episodes,
            mean: whole.mean,
            spread: whole.spread,
            cut: whole.cut,
        });
        (check, complete)
    }
}

impl Group {
    fn add(&mut self, episode: &Episode) {
        let (s, n) = (episode.predicted - episode.returned, episode.rows);
        self.episodes += 1;
        self.all.rows += n;
        self.all.predicted += episode.predicted;
        self.all.returned += episode.returned;
        for (sum, square) in self.squares.iter_mut().zip([s * s, s * n, n * n]) {
            *sum += square;
        }
    }

    fn tenth(&self) -> Option<Tenth> {
        let (m, n) = (self.episodes as f64, self.all.rows);
        let (predicted, discounted_return) = (self.all.predicted / n, self.all.returned / n);
        let difference = predicted - discounted_return;
        let [ss, sn, nn] = self.squares;
        // Rounding may make a sum of squares that is 0 negative.
        let spread = (ss - 2.0 * difference * sn + difference * difference * nn).max(0.0);
        (self.episodes > 0).then(|| Tenth {
            rows: n as u64,
            episodes: self.episodes,
            predicted,
            discounted_return,
            difference,
            stderr: (self.episodes > 1).then(|| (m / (m - 1.0) * spread).sqrt() / n),
        })
    }
}
>>>>>>> i15-tests:crates/robust-td-data/src/returns.rs
