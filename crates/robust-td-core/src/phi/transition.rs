//! Describes one observed transition (phi(s), r, outcome) and its temporal-difference error.
//!
//! Episodes end in two different ways. A *terminated* episode is over: the next value is 0.
//! A *truncated* episode was cut off while the process continued: its next value is bootstrapped
//! as usual. A new episode starts after both, so eligibility traces restart after both.

use crate::check::check_length;
use crate::error::Result;
use crate::model::problem::Problem;
use crate::phi::Features;

/// What follows the current state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome<'a> {
    /// The next state of the same episode.
    Continues(Features<'a>),
    /// The next state, where stopping for a reward is also possible: the next value is the larger of the two.
    Stoppable {
        /// The features of the next state.
        next: Features<'a>,
        /// U(s'), the reward for stopping there.
        stop_reward: f64,
    },
    /// The next state as the features of its actions, row by row: the next value is the largest over the actions.
    Choices(&'a [f64]),
    /// The end of the episode: the next value is 0.
    Terminated,
    /// The next state, after which observation stops and a new episode starts.
    Truncated(Features<'a>),
}

impl<'a> Outcome<'a> {
    /// The features to bootstrap from, if anything follows; for a stoppable state, those of continuing.
    ///
    /// # Panics
    /// For a choice of actions: methods that are linear in the next features cannot learn from it.
    ///
    /// # Performance
    /// Returns a reference, because the CPU can copy a pair of numbers at once only after both have reached the cache.
    #[inline]
    #[must_use]
    pub fn next_features(&self) -> Option<&Features<'a>> {
        match self {
            Self::Continues(next) | Self::Truncated(next) | Self::Stoppable { next, .. } => {
                Some(next)
            }
            Self::Terminated => None,
            Self::Choices(_) => panic!("a choice of actions has no next features of its own"),
        }
    }

    /// The next value: phi(s').theta, max(U(s'), phi(s').theta), max_a phi(s', a).theta, or 0.
    #[inline]
    #[must_use]
    pub fn next_value(&self, theta: &[f64]) -> f64 {
        match self {
            Self::Continues(next) | Self::Truncated(next) => next.dot(theta),
            Self::Stoppable { next, stop_reward } => greater(*stop_reward, next.dot(theta)),
            Self::Choices(rows) => rows
                .chunks_exact(theta.len())
                .map(|row| Features::Dense(row).dot(theta))
                .fold(f64::NEG_INFINITY, greater),
            Self::Terminated => 0.0,
        }
    }

    /// Whether the next transition belongs to a new episode, where traces restart from zero.
    #[inline]
    #[must_use]
    pub fn ends_episode(&self) -> bool {
        matches!(self, Self::Terminated | Self::Truncated(_))
    }
}

impl<'a, F: Into<Features<'a>>> From<F> for Outcome<'a> {
    fn from(next: F) -> Self {
        Self::Continues(next.into())
    }
}

/// One observed transition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition<'a> {
    /// phi(s), the features of the current state.
    pub features: Features<'a>,
    /// r(s, s').
    pub reward: f64,
    /// What came next.
    pub outcome: Outcome<'a>,
    /// rho = target(a|s) / behaviour(a|s), the importance ratio of the action taken; 1 on-policy.
    pub ratio: f64,
}

/// The larger of two values; NaN if either is NaN.
#[inline]
fn greater(x: f64, y: f64) -> f64 {
    if x > y || x.is_nan() { x } else { y }
}

impl<'a> Transition<'a> {
    /// An on-policy transition. Next features, or a slice of them, mean a step within an episode; any other
    /// [`Outcome`] is also accepted.
    ///
    /// ```
    /// use robust_td_core::{Outcome, Transition};
    ///
    /// let (phi, next) = ([1.0, 0.0], vec![0.0, 1.0]);
    /// assert_eq!(Transition::new(&phi, 1.0, &next).td_error(&[0.5, 2.0], 0.5), 1.5);
    /// assert_eq!(Transition::new(&phi, 1.0, Outcome::Terminated), Transition::terminated(&phi, 1.0));
    /// ```
    #[inline]
    #[must_use]
    pub fn new(
        features: impl Into<Features<'a>>,
        reward: f64,
        outcome: impl Into<Outcome<'a>>,
    ) -> Self {
        Self {
            features: features.into(),
            reward,
            outcome: outcome.into(),
            ratio: 1.0,
        }
    }

    /// The same transition with the importance ratio of its action.
    #[inline]
    #[must_use]
    pub fn with_ratio(self, ratio: f64) -> Self {
        Self { ratio, ..self }
    }

    /// The last step of an episode that terminated.
    #[inline]
    #[must_use]
    pub fn terminated(features: impl Into<Features<'a>>, reward: f64) -> Self {
        Self::new(features, reward, Outcome::Terminated)
    }

    /// The last observed step of a truncated episode, whose process continues unobserved.
    #[inline]
    #[must_use]
    pub fn truncated(
        features: impl Into<Features<'a>>,
        reward: f64,
        next: impl Into<Features<'a>>,
    ) -> Self {
        Self::new(features, reward, Outcome::Truncated(next.into()))
    }

    /// The step from one state of a problem to another, with the rows of its feature table.
    #[must_use]
    pub fn of_problem(problem: &'a Problem, from: usize, to: usize) -> Self {
        let phi = |state| Features::Dense(problem.phi(state));
        Self::new(phi(from), problem.reward(from, to), phi(to))
    }

    /// Checks that all features are well-formed vectors of the given dimension.
    ///
    /// # Errors
    /// Those of [`Features::check`].
    pub fn check(&self, dimension: usize) -> Result<()> {
        self.features.check(dimension)?;
        match self.outcome {
            Outcome::Choices(rows) => {
                let actions = rows.len().div_ceil(dimension).max(1);
                check_length("features of the actions", actions * dimension, rows.len())
            }
            _ => match self.outcome.next_features() {
                Some(next) => next.check(dimension),
                None => Ok(()),
            },
        }
    }

    /// The temporal-difference error delta = r + gamma v(s') - phi(s).theta, v(s') as [`Outcome::next_value`].
    ///
    /// Evaluated as `(r + gamma * next) - value`, with `next` = 0 after a terminated episode.
    #[inline]
    #[must_use]
    pub fn td_error(&self, theta: &[f64], discount: f64) -> f64 {
        let value = self.features.dot(theta);
        self.reward + discount * self.outcome.next_value(theta) - value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_terminated_episode_has_no_next_value() {
        let (phi, next, theta) = ([1.0, 2.0], [3.0, -1.0], [0.5, 0.25]);
        let (phi, next) = (Features::Dense(&phi), Features::Dense(&next));
        let continues = Transition::new(phi, 2.0, next);
        let truncated = Transition::truncated(phi, 2.0, next);
        let terminated = Transition::terminated(phi, 2.0);
        assert_eq!(continues.td_error(&theta, 0.5), 2.0 + 0.5 * 1.25 - 1.0);
        assert_eq!(truncated.td_error(&theta, 0.5), 2.0 + 0.5 * 1.25 - 1.0);
        assert_eq!(terminated.td_error(&theta, 0.5), 2.0 - 1.0);
        let ends = [continues, truncated, terminated].map(|t| t.outcome.ends_episode());
        assert_eq!(ends, [false, true, true]);
    }

    #[test]
    fn where_there_is_a_choice_the_best_one_counts() {
        let (phi, theta) = (Features::Dense(&[1.0, 2.0]), [0.5, 0.25]);
        let stop = |stop_reward| Outcome::Stoppable {
            next: Features::Dense(&[3.0, -1.0]),
            stop_reward,
        };
        let error = |outcome| Transition::new(phi, 2.0, outcome).td_error(&theta, 0.5);
        assert_eq!(error(stop(1.0)), 2.0 + 0.5 * 1.25 - 1.0);
        assert_eq!(error(stop(7.0)), 2.0 + 0.5 * 7.0 - 1.0);
        let rows = [0.0, 1.0, 3.0, -1.0, -4.0, 0.0];
        assert_eq!(error(Outcome::Choices(&rows)), 2.0 + 0.5 * 1.25 - 1.0);
        let choice = Transition::new(phi, 2.0, Outcome::Choices(&rows[..5]));
        assert!(choice.check(2).is_err() && choice.td_error(&[f64::NAN; 2], 0.5).is_nan());
    }

    #[test]
    fn both_feature_vectors_are_checked() {
        let (good, bad) = (Features::Dense(&[1.0, 2.0]), Features::Dense(&[1.0]));
        assert!(Transition::new(good, 0.0, good).check(2).is_ok());
        assert!(Transition::new(good, 0.0, bad).check(2).is_err());
        assert!(Transition::truncated(good, 0.0, bad).check(2).is_err());
        assert!(Transition::terminated(bad, 0.0).check(2).is_err());
    }
}
