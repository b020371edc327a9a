//! Learns values from a stream of transitions by least squares, with nothing to tune.

use std::sync::OnceLock;

use robust_td_core::fixed_point::FixedPoint;
use robust_td_core::influence::Influence;
use robust_td_core::online::{Average, Online, Rows};
use robust_td_core::spread::Spread;
use robust_td_core::{Error as CoreError, Features, Transition};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Values `V(s) = phi(s) . theta` from a stream of transitions, with confidence intervals and without a step size.
///
/// The estimate is the TD fixed point of the transitions seen so far:
/// ```text
/// theta = A^{-1} b,     A = sum phi (phi - gamma phi')',     b = sum r phi,
/// ```
/// found by least squares (LSTD; Bradtke & Barto 1996). It needs no step size, no bound on the features and no horizon, and does not depend on the
/// units of the features.
///
/// The intervals measure the sampling error around the TD fixed point, not how well the features can represent the values. Episodes are
/// taken to be independent of each other: one ends with a terminated or truncated transition, or before [`Estimator::start_episode`]. If
/// larger units depend on each other, such as all episodes of a user, name them with [`Estimator::learn_from`]. Within an episode, and in a stream without
/// episodes, transitions may be correlated over any time that is short against the stream.
///
/// ```
/// use robust_td::{Estimator, Transition};
///
/// // Two states that swap, reward 1 for leaving state 0: V(0) = 1 / (1 - 0.9^2), V(1) = 0.9 V(0).
/// let states = [[1.0, 0.0], [0.0, 1.0]];
/// let log: Vec<_> = (0..1000)
///     .map(|t| (states[t % 2], if t % 2 == 0 { 1.0 } else { 0.0 }, states[(t + 1) % 2]))
///     .collect();
///
/// let mut estimator = Estimator::new(0.9, 2)?;
/// for (phi, reward, next) in &log {
///     estimator.learn(&Transition::new(phi, *reward, next));
/// }
/// let value = estimator.value(&states[0]);
/// let interval = estimator.interval(&states[0], 0.95)?;
/// assert!((value - 1.0 / (1.0 - 0.81)).abs() < 1e-6);
/// assert!(interval.lower <= value && value <= interval.upper);
/// # Ok::<(), robust_td::Error>(())
/// ```
///
/// # Performance
/// `learn` takes O(d^2) time; memory is O(d^2). A d x d system is solved for the first value after a step, and each time the number of transitions has
/// grown by a quarter; further values cost O(d) until the next step. The dimension is at most 4000. The learners of [`crate::learner`] take O(d) per step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Estimator {
    online: Online,
    /// The number of episodes before the current one.
    episode: u64,
    /// Whether the next transition starts an episode.
    starts: bool,
    /// Whether an episode has ended.
    episodic: bool,
    #[serde(skip)]
    solution: OnceLock<Solution>,
}

/// The answer for the transitions so far, computed when a value is asked for.
#[derive(Debug, Clone)]
struct Solution {
    theta: Vec<f64>,
    /// Missing if the sums overflowed.
    found: Option<FixedPoint>,
    /// Missing while there are too few transitions to know the error.
    influence: Option<Influence>,
    starts: Average,
}

/// A confidence interval of a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end; minus infinity where the stream does not determine the value, or not how precisely.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Estimator {
    /// An estimator for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When the discount is outside [0, 1), or the dimension is 0 or above 4000.
    pub fn new(discount: f64, dimension: usize) -> Result<Self> {
        Ok(Self {
            online: Online::new(dimension, discount)?,
            episode: 0,
            starts: true,
            episodic: false,
            solution: OnceLock::new(),
        })
    }

    /// Learns from one transition.
    ///
    /// # Panics
    /// When the features do not have the estimator's dimension. A reward or feature that is not finite makes every later value NaN;
    /// [`Estimator::try_learn`] refuses both.
    pub fn learn(&mut self, transition: &Transition<'_>) {
        self.learn_from(self.episode, transition);
    }

    /// As [`Estimator::learn`], for a transition of a numbered unit, such as a user, machine or site. Transitions of different units are independent
    /// of each other; those of one unit need not follow each other, but those of one episode must.
    ///
    /// # Panics
    /// As [`Estimator::learn`].
    pub fn learn_from(&mut self, unit: u64, transition: &Transition<'_>) {
        self.solution.take();
        let starts = std::mem::take(&mut self.starts);
        self.online.add(transition, unit, starts);
        if transition.outcome.ends_episode() {
            self.start_episode();
        }
    }

    /// Marks the next transition as the first of an episode. Needed only where an episode breaks off without a terminated or truncated
    /// transition.
    pub fn start_episode(&mut self) {
        if !self.starts {
            self.starts = true;
            self.episodic = true;
            self.episode += 1;
        }
    }

    /// Learns from one transition after checking it; what is refused leaves the estimator as it was.
    ///
    /// # Errors
    /// When the features do not have the estimator's dimension, or a number is not finite.
    pub fn try_learn(&mut self, transition: &Transition<'_>) -> Result<()> {
        transition.check(self.dimension())?;
        if !transition.reward.is_finite() {
            return Err(refused("reward", transition.reward, "finite"));
        }
        let next = transition.outcome.next_features().copied();
        for features in [Some(transition.features), next].into_iter().flatten() {
            let mut bad = None;
            features.for_each(|_, x| bad = bad.or((!x.is_finite()).then_some(x)));
            if let Some(value) = bad {
                return Err(refused("feature", value, "finite"));
            }
        }
        self.learn(transition);
        Ok(())
    }

    /// The value `phi . theta` of a state; 0 before the first transition.
    ///
    /// # Panics
    /// When the features do not have the estimator's dimension.
    #[must_use]
    pub fn value<'a>(&self, phi: impl Into<Features<'a>>) -> f64 {
        phi.into().dot(&self.solution().theta)
    }

    /// The confidence interval of a state's value, unbounded where the stream does not determine the value, or not how precisely.
    ///
    /// # Errors
    /// When the confidence is outside (0, 1), or there are too few transitions to estimate the error.
    ///
    /// # Panics
    /// When the features do not have the estimator's dimension.
    pub fn interval<'a>(&self, phi: impl Into<Features<'a>>, confidence: f64) -> Result<Interval> {
        self.interval_with(phi.into(), &[], confidence)
    }

    /// The value of the policy: the mean value over the first states of episodes, or over all states if no episode has ended; 0 before
    /// the first transition.
    #[must_use]
    pub fn start_value(&self) -> f64 {
        let Solution { theta, starts, .. } = self.solution();
        Features::Dense(&starts.features).dot(theta)
    }

    /// The confidence interval of [`Estimator::start_value`], which includes the sampling of the states.
    ///
    /// # Errors
    /// As [`Estimator::interval`].
    pub fn start_interval(&self, confidence: f64) -> Result<Interval> {
        let starts = &self.solution().starts;
        let phi = Features::Dense(&starts.features);
        let interval = self.interval_with(phi, &starts.contributions, confidence)?;
        // A single start does not show how starts vary.
        Ok(match starts.count {
            0 | 1 => Interval {
                lower: f64::NEG_INFINITY,
                upper: f64::INFINITY,
            },
            _ => interval,
        })
    }

    fn interval_with(&self, phi: Features<'_>, more: &[f64], confidence: f64) -> Result<Interval> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(refused("confidence", confidence, "above 0 and below 1"));
        }
        let solution = self.solution();
        let known = solution.found.as_ref().zip(solution.influence.as_ref());
        let (found, influence) = known.ok_or(Error::TooFewTransitions {
            seen: self.transitions(),
        })?;
        let spread = match found.identified.covers(phi) {
            true => (influence.spread_with(phi, more)).beside(found.identified.doubt(phi)),
            false => Spread::UNKNOWN,
        };
        let (value, sides) = (phi.dot(&found.theta), spread.trusted_sides(confidence));
        Ok(Interval {
            lower: value - sides.below,
            upper: value + sides.above,
        })
    }

    /// The weights theta; all 0 before the first transition.
    #[must_use]
    pub fn theta(&self) -> &[f64] {
        &self.solution().theta
    }

    /// The number of transitions learned from.
    #[must_use]
    pub fn transitions(&self) -> u64 {
        self.online.count()
    }

    /// d, the length of the feature vectors.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.online.dimension()
    }

    /// The discount gamma.
    #[must_use]
    pub fn discount(&self) -> f64 {
        self.online.discount()
    }

    fn solution(&self) -> &Solution {
        self.solution.get_or_init(|| {
            let found = self.online.fixed_point().ok();
            let theta = match &found {
                Some(found) => found.theta.clone(),
                None => vec![f64::NAN; self.dimension()],
            };
            let rows = match self.episodic {
                true => Rows::Starts,
                false => Rows::All,
            };
            Solution {
                influence: (found.as_ref()).and_then(|found| self.online.influence(found)),
                starts: self.online.average(rows, &theta),
                theta,
                found,
            }
        })
    }
}

fn refused(name: &'static str, value: f64, expected: &'static str) -> Error {
    CoreError::Parameter {
        name,
        value,
        expected,
    }
    .into()
}
