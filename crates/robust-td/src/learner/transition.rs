//! Describes one observed transition (phi(s), r, what came next) and its temporal-difference error.
//!
//! Episodes end in two ways that must not be confused. After a *terminated* episode nothing follows:
//! the next value is 0. A *truncated* one was cut by the clock while the process went on: its next value
//! is bootstrapped as usual, and only then a new episode starts, so eligibility traces restart after both.

use crate::error::Result;
use crate::learner::features::Features;
use crate::problem::Problem;

/// What follows the state that was left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome<'a> {
    /// The next state of the same episode.
    Continues(Features<'a>),
    /// The end: the value after it is 0.
    Terminated,
    /// The next state, after which the observation stops and a new episode starts.
    Truncated(Features<'a>),
}

impl<'a> Outcome<'a> {
    /// The features to bootstrap from, if anything follows.
    #[inline]
    #[must_use]
    pub fn next_features(&self) -> Option<Features<'a>> {
        match *self {
            Self::Continues(next) | Self::Truncated(next) => Some(next),
            Self::Terminated => None,
        }
    }

    /// Whether the next transition belongs to a new episode, where traces start from zero.
    #[inline]
    #[must_use]
    pub fn ends_episode(&self) -> bool {
        !matches!(self, Self::Continues(_))
    }
}

/// One observed transition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition<'a> {
    /// phi(s), the features of the state that was left.
    pub features: Features<'a>,
    /// r(s, s').
    pub reward: f64,
    /// What came next.
    pub outcome: Outcome<'a>,
}

impl<'a> Transition<'a> {
    /// A step within an episode, from phi(s) to phi(s').
    #[must_use]
    pub fn continues(features: Features<'a>, reward: f64, next: Features<'a>) -> Self {
        Self {
            features,
            reward,
            outcome: Outcome::Continues(next),
        }
    }

    /// The last step of an episode that came to its end.
    #[must_use]
    pub fn terminated(features: Features<'a>, reward: f64) -> Self {
        Self {
            features,
            reward,
            outcome: Outcome::Terminated,
        }
    }

    /// The last observed step of an episode that was cut.
    #[must_use]
    pub fn truncated(features: Features<'a>, reward: f64, next: Features<'a>) -> Self {
        Self {
            features,
            reward,
            outcome: Outcome::Truncated(next),
        }
    }

    /// The step from one state of a problem to another, with the rows of its feature table.
    #[must_use]
    pub fn of_problem(problem: &'a Problem, from: usize, to: usize) -> Self {
        let phi = |state| Features::Dense(problem.phi(state));
        Self::continues(phi(from), problem.reward(from, to), phi(to))
    }

    /// Checks that all features are well-formed vectors of the given dimension.
    ///
    /// # Errors
    /// Those of [`Features::check`].
    pub fn check(&self, dimension: usize) -> Result<()> {
        self.features.check(dimension)?;
        self.outcome
            .next_features()
            .map_or(Ok(()), |next| next.check(dimension))
    }

    /// The temporal-difference error delta = r + gamma phi(s').theta - phi(s).theta.
    ///
    /// Evaluated as `(r + gamma * next) - value`, with `next` = 0 after a terminated episode.
    #[inline]
    #[must_use]
    pub fn td_error(&self, theta: &[f64], discount: f64) -> f64 {
        let value = self.features.dot(theta);
        match self.outcome.next_features() {
            Some(next) => self.reward + discount * next.dot(theta) - value,
            None => self.reward - value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_terminated_episode_has_no_next_value() {
        let (phi, next, theta) = ([1.0, 2.0], [3.0, -1.0], [0.5, 0.25]);
        let (phi, next) = (Features::Dense(&phi), Features::Dense(&next));
        let continues = Transition::continues(phi, 2.0, next);
        let truncated = Transition::truncated(phi, 2.0, next);
        let terminated = Transition::terminated(phi, 2.0);
        assert_eq!(continues.td_error(&theta, 0.5), 2.0 + 0.5 * 1.25 - 1.0);
        assert_eq!(truncated.td_error(&theta, 0.5), 2.0 + 0.5 * 1.25 - 1.0);
        assert_eq!(terminated.td_error(&theta, 0.5), 2.0 - 1.0);
        let ends = [continues, truncated, terminated].map(|t| t.outcome.ends_episode());
        assert_eq!(ends, [false, true, true]);
    }

    #[test]
    fn both_feature_vectors_are_checked() {
        let (good, bad) = (Features::Dense(&[1.0, 2.0]), Features::Dense(&[1.0]));
        assert!(Transition::continues(good, 0.0, good).check(2).is_ok());
        assert!(Transition::continues(good, 0.0, bad).check(2).is_err());
        assert!(Transition::truncated(good, 0.0, bad).check(2).is_err());
        assert!(Transition::terminated(bad, 0.0).check(2).is_err());
    }
}
