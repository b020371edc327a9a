//! Learns values from a stream of transitions by least squares, with nothing to tune.

use std::sync::OnceLock;

use robust_td_core::sandwich::{Estimate, Sandwich};
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
/// units of the features. The intervals come from the sandwich covariance of the estimate, which allows for correlated samples. They
/// measure the sampling error around the TD fixed point, not how well the features can represent the values.
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
/// `learn` takes O(d^2) time and does not allocate; memory is O(d^2). The first value after a step solves a d x d system; further values cost
/// O(d) until the next step. The dimension is at most 500. The learners of [`crate::learner`] take O(d) per step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Estimator {
    sums: Sandwich,
    #[serde(skip)]
    solution: OnceLock<Solution>,
}

/// What the sums say, computed when a value is asked for.
#[derive(Debug, Clone)]
struct Solution {
    theta: Vec<f64>,
    /// Missing while there are too few transitions to know the error.
    estimate: Option<Estimate>,
}

/// A confidence interval of a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end; minus infinity where the stream says nothing.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Estimator {
    /// An estimator for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When the discount is outside [0, 1), or the dimension is 0 or above 500.
    pub fn new(discount: f64, dimension: usize) -> Result<Self> {
        Ok(Self {
            sums: Sandwich::new(dimension, discount)?,
            solution: OnceLock::new(),
        })
    }

    /// Learns from one transition.
    ///
    /// # Panics
    /// When the features do not have the estimator's dimension. A reward or feature that is not finite makes every later value NaN;
    /// [`Estimator::try_learn`] refuses both.
    pub fn learn(&mut self, transition: &Transition<'_>) {
        self.solution.take();
        self.sums.step(transition);
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

    /// The confidence interval of a state's value, unbounded where it depends on a feature that was always 0.
    ///
    /// # Errors
    /// When the confidence is outside (0, 1), or there are too few transitions to estimate the error.
    ///
    /// # Panics
    /// When the features do not have the estimator's dimension.
    pub fn interval<'a>(&self, phi: impl Into<Features<'a>>, confidence: f64) -> Result<Interval> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(refused("confidence", confidence, "above 0 and below 1"));
        }
        let phi = phi.into();
        let solution = self.solution();
        let estimate = solution.estimate.as_ref();
        let estimate = estimate.ok_or(Error::TooFewTransitions {
            seen: self.transitions(),
        })?;
        let value = phi.dot(&solution.theta);
        let half = estimate.half_width(phi, confidence);
        Ok(Interval {
            lower: value - half,
            upper: value + half,
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
        self.sums.count()
    }

    /// d, the length of the feature vectors.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.sums.dimension()
    }

    /// The discount gamma.
    #[must_use]
    pub fn discount(&self) -> f64 {
        self.sums.discount()
    }

    fn solution(&self) -> &Solution {
        self.solution.get_or_init(|| {
            let estimate = self.sums.estimate();
            Solution {
                theta: match &estimate {
                    Some(estimate) => estimate.theta.clone(),
                    None => self.sums.solution(),
                },
                estimate,
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
