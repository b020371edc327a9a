//! Compares the discounted returns of complete episodes with the values that a model predicts.
//!
//! An episode is complete when it ends with `terminated`: only then are all later rewards known. Rows are grouped
//! by predicted value, into ten groups of about the same size unless many rows have the same value. This takes two passes
//! over the log, in memory that grows neither with the log nor with an episode: the first finds the edges of the groups from
//! a sample of the predictions, the second accumulates the sums. The sum of the returns G_i = r_i + gamma r_(i+1) + ... of a
//! group's rows in an episode can be computed forwards:
//! ```text
//! sum over rows i of the group of G_i = sum over t of r_t e_t,   e_t = gamma e_(t-1) + [row t is of the group]
//! ```
//!
//! The difference D of a group is the ratio of two sums over episodes, s = sum of (prediction - return) and n = rows. Its
//! standard error assumes that episodes are independent, and nothing about the rows within an episode:
//! ```text
//! stderr^2 = m/(m-1) sum over the m episodes of (s - D n)^2 / (sum of n)^2
//! ```

use std::ops::ControlFlow;

use robust_td_core::features::Row;
use robust_td_core::learner::{Learner, Outcome};
use serde::Serialize;

use crate::error::Result;
use crate::model::Model;
use crate::pairing::Pairing;
use crate::reader::Reader;
use crate::transitions::Transitions;

/// Groups of rows, by predicted value.
const GROUPS: usize = 10;
/// The maximum number of predictions in a sample.
const SAMPLE: usize = 1 << 16;

/// Returns against predictions, over all complete episodes of a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReturnCheck {
    /// Complete episodes.
    pub episodes: u64,
    /// Their rows.
    pub rows: u64,
    /// Episodes, or parts of them, that do not end with `terminated`.
    pub left_out_episodes: u64,
    /// Their rows.
    pub left_out_rows: u64,
    /// The rows of complete episodes by predicted value, smallest first; empty if there is no complete episode.
    pub deciles: Vec<Decile>,
}

/// About a tenth of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Decile {
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

impl Decile {
    /// The difference in standard errors; `None` if it is rounding error, or its standard error is not known.
    #[must_use]
    pub fn standard_errors(&self) -> Option<f64> {
        let scale = self.predicted.abs().max(self.discounted_return.abs());
        match self.stderr {
            Some(_) if self.difference.abs() <= 1e-9 * scale => Some(0.0),
            stderr => stderr.map(|stderr| self.difference.abs() / stderr),
        }
    }
}

impl ReturnCheck {
    /// Makes two passes over the log that `open` opens; `None` if a predicted value is not finite.
    ///
    /// # Errors
    /// Those of reading.
    pub fn take(open: &mut dyn FnMut() -> Result<Reader>, model: &Model) -> Result<Option<Self>> {
        let mut sample = Sample::default();
        if pass(open()?, model, &mut sample)?.is_break() {
            return Ok(None);
        }
        let mut sums = Sums::new(sample.edges(), model.learner().discount());
        if pass(open()?, model, &mut sums)?.is_break() {
            return Ok(None);
        }
        Ok(Some(sums.check()))
    }
}

/// Visits rows with their predicted values, episode by episode.
trait Visitor {
    fn row(&mut self, value: f64, reward: f64);
    /// The rows since the last end are an episode, or a part of one with an unknown end.
    fn end(&mut self, complete: bool);
}

/// Feeds a log to a visitor; stops at a predicted value that is not finite.
fn pass(reader: Reader, model: &Model, visitor: &mut impl Visitor) -> Result<ControlFlow<()>> {
    let (features, learner) = (model.features(), model.learner());
    let values = learner.value_function();
    let mut row = Row::for_map(features);
    let flow = Transitions::new(reader, Pairing::default()).for_each(|step| {
        if step.restart {
            visitor.end(false);
        }
        features.write(step.obs, &mut row);
        let value = values.value(row.features());
        if !value.is_finite() {
            return ControlFlow::Break(());
        }
        visitor.row(value, step.reward);
        if step.outcome.ends_episode() {
            visitor.end(matches!(step.outcome, Outcome::Terminated));
        }
        ControlFlow::Continue(())
    })?;
    visitor.end(false);
    Ok(flow)
}

/// A sample of the predictions of complete episodes: about one row in 2^level, selected by the hash of its number,
/// so that periodic logs do not bias the sample.
#[derive(Debug, Default)]
struct Sample {
    rows: u64,
    level: u32,
    kept: Vec<(u64, f64)>,
    /// The same for the current episode, which may turn out to be incomplete.
    rows_here: u64,
    level_here: u32,
    kept_here: Vec<(u64, f64)>,
}

impl Sample {
    /// The largest predictions of all groups but the last; fewer where many predictions are equal.
    fn edges(mut self) -> Vec<f64> {
        self.kept.sort_by(|a, b| a.1.total_cmp(&b.1));
        let count = self.kept.len();
        let place = |k: usize| (k * count).div_ceil(GROUPS).checked_sub(1);
        let mut edges: Vec<f64> = (1..GROUPS)
            .filter_map(|k| self.kept.get(place(k)?).map(|kept| kept.1))
            .collect();
        edges.dedup();
        edges
    }
}

impl Visitor for Sample {
    fn row(&mut self, value: f64, _: f64) {
        let number = self.rows + self.rows_here;
        self.rows_here += 1;
        if is_kept(number, self.level_here) {
            self.kept_here.push((number, value));
            thin(&mut self.kept_here, &mut self.level_here);
        }
    }

    fn end(&mut self, complete: bool) {
        if complete {
            self.rows += self.rows_here;
            if self.level < self.level_here {
                self.level = self.level_here;
                self.kept.retain(|(number, _)| is_kept(*number, self.level));
            }
            self.kept.append(&mut self.kept_here);
            thin(&mut self.kept, &mut self.level);
        }
        self.rows_here = 0;
        self.level_here = self.level;
        self.kept_here.clear();
    }
}

/// Whether the sample of a level contains the row of this number.
fn is_kept(number: u64, level: u32) -> bool {
    // The finaliser of SplitMix64, so that every bit depends on all of the number.
    let mut hash = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (hash ^ (hash >> 31)).trailing_zeros() >= level
}

/// Halves a sample until it is small enough.
fn thin(kept: &mut Vec<(u64, f64)>, level: &mut u32) {
    while kept.len() > SAMPLE {
        *level += 1;
        kept.retain(|(number, _)| is_kept(*number, *level));
    }
}

/// The sums of all groups.
#[derive(Debug, Default)]
struct Sums {
    discount: f64,
    edges: Vec<f64>,
    groups: Vec<Group>,
    rows_here: u64,
    /// Episodes and rows: complete, and left out.
    counts: [(u64, u64); 2],
}

/// The sums of one group: of the current episode, and over complete episodes.
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
        Self {
            discount,
            groups: vec![Group::default(); edges.len() + 1],
            edges,
            ..Self::default()
        }
    }

    fn check(&self) -> ReturnCheck {
        let [(episodes, rows), (left_out_episodes, left_out_rows)] = self.counts;
        ReturnCheck {
            episodes,
            rows,
            left_out_episodes,
            left_out_rows,
            deciles: self.groups.iter().filter_map(Group::decile).collect(),
        }
    }
}

impl Visitor for Sums {
    fn row(&mut self, value: f64, reward: f64) {
        self.rows_here += 1;
        let own = self.edges.partition_point(|&edge| edge < value);
        self.groups[own].here.rows += 1.0;
        self.groups[own].here.predicted += value;
        for (k, group) in self.groups.iter_mut().enumerate() {
            let here = &mut group.here;
            here.trace = self.discount * here.trace + f64::from(u8::from(k == own));
            here.returned += reward * here.trace;
        }
    }

    fn end(&mut self, complete: bool) {
        let (episodes, rows) = &mut self.counts[usize::from(!complete)];
        *episodes += u64::from(self.rows_here > 0);
        *rows += self.rows_here;
        self.rows_here = 0;
        for group in &mut self.groups {
            let here = std::mem::take(&mut group.here);
            if complete && here.rows > 0.0 {
                group.add(&here);
            }
        }
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

    fn decile(&self) -> Option<Decile> {
        let (m, n) = (self.episodes as f64, self.all.rows);
        let (predicted, discounted_return) = (self.all.predicted / n, self.all.returned / n);
        let difference = predicted - discounted_return;
        let [ss, sn, nn] = self.squares;
        // Rounding may make a sum of squares that is 0 negative.
        let spread = (ss - 2.0 * difference * sn + difference * difference * nn).max(0.0);
        (self.episodes > 0).then(|| Decile {
            rows: n as u64,
            episodes: self.episodes,
            predicted,
            discounted_return,
            difference,
            stderr: (self.episodes > 1).then(|| (m / (m - 1.0) * spread).sqrt() / n),
        })
    }
}
