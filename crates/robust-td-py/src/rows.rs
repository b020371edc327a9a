//! Holds transitions between feature vectors in arrays, and learns from them block by block.

use std::ops::Range;

use pyo3::PyResult;
use robust_td::{Features, Learner, Outcome, Transition};

use crate::error::refused;

/// The numbers of a block, so that what was checked is still in the cache when it is learned from.
const BLOCK: usize = 16_384;
/// The longest block, in rows: signals are looked for after each.
const LONGEST: usize = 4096;

/// Transitions in arrays. Empty flags and ratios are those of plain rows.
pub struct Rows<'a> {
    pub width: usize,
    pub x: &'a [f64],
    pub reward: &'a [f64],
    pub next: &'a [f64],
    pub terminated: &'a [bool],
    pub truncated: &'a [bool],
    pub rho: &'a [f64],
}

/// What follows a transition.
pub fn outcome(next: &[f64], terminated: bool, truncated: bool) -> Outcome<'_> {
    let next = Features::Dense(next);
    match (terminated, truncated) {
        (true, _) => Outcome::Terminated,
        (false, true) => Outcome::Truncated(next),
        (false, false) => Outcome::Continues(next),
    }
}

/// Whether all numbers are finite; without a branch per number, so that it is computed on vectors.
fn all_finite(values: &[f64]) -> bool {
    let finite = |part: &[f64]| part.iter().fold(true, |all, x| all & x.is_finite());
    values.chunks(1024).all(finite)
}

/// Checks that all numbers are finite; a message names the place.
///
/// # Errors
/// When one is not.
pub fn finite(values: &[f64], place: impl Fn(usize) -> String) -> PyResult<()> {
    if all_finite(values) {
        return Ok(());
    }
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(at) => Err(refused(format!(
            "{} is {}, but must be finite",
            place(at),
            values[at]
        ))),
    }
}

impl Rows<'_> {
    /// The blocks to check and learn from, in order.
    pub fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let rows = self.reward.len();
        let size = (BLOCK / self.width).clamp(16, LONGEST);
        (0..rows)
            .step_by(size)
            .map(move |from| from..(from + size).min(rows))
    }

    fn terminates(&self, i: usize) -> bool {
        self.terminated.get(i).copied().unwrap_or(false)
    }

    fn part<'b>(&self, values: &'b [f64], rows: &Range<usize>) -> &'b [f64] {
        &values[rows.start * self.width..rows.end * self.width]
    }

    /// Checks every number of a block.
    ///
    /// # Errors
    /// Names the first that cannot be learned from. What follows a terminated row is not looked at.
    pub fn check(&self, rows: &Range<usize>) -> PyResult<()> {
        let (width, from) = (self.width, rows.start);
        let cell = |name: &str, row: usize, at: usize| format!("{name}[{row}, {at}]");
        finite(self.part(self.x, rows), |at| {
            cell("X", from + at / width, at % width)
        })?;
        finite(&self.reward[rows.clone()], |at| {
            format!("reward[{}]", from + at)
        })?;
        if !all_finite(self.part(self.next, rows)) {
            for row in rows.clone().filter(|&row| !self.terminates(row)) {
                let next = &self.next[row * width..][..width];
                finite(next, |at| cell("X_next", row, at))?;
            }
        }
        let rho = self.rho.get(rows.clone()).unwrap_or(&[]);
        match rho.iter().position(|x| !(*x >= 0.0 && x.is_finite())) {
            None => Ok(()),
            Some(at) => Err(refused(format!(
                "rho[{}] is {}, but must be finite and at least 0",
                from + at,
                rho[at]
            ))),
        }
    }

    /// Learns from a block.
    pub fn learn(&self, rows: &Range<usize>, learner: &mut impl Learner) {
        for i in rows.clone() {
            let at = i * self.width..(i + 1) * self.width;
            let (x, next) = (&self.x[at.clone()], &self.next[at]);
            let cut = self.truncated.get(i).copied().unwrap_or(false);
            let outcome = outcome(next, self.terminates(i), cut);
            let transition = Transition::new(x, self.reward[i], outcome);
            let ratio = self.rho.get(i).copied().unwrap_or(1.0);
            learner.step(&transition.with_ratio(ratio));
        }
    }
}
