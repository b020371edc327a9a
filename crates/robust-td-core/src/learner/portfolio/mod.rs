//! Selects the constant c of Algorithm 1 while learning, from sixteen candidates that run on the same stream.
//!
//! # Update rule
//! Every lane is Algorithm 1's recursion with its own c (see [`CONSTANTS`]),
//! ```text
//! theta_{t+1} = theta_t + eta_t delta_t phi(s_t),     eta_t = 1 / ( c phi_inf^2 ln(T) ln(t+3) sqrt(t+1) ),
//! ```
//! and its answer is the plain mean of the iterates after the first eighth of the run.
//!
//! *Retired*: a lane is retired when, over 64 steps, the root mean square of its TD errors exceeds 20 r_inf / (1 - gamma), with r_inf
//! the largest reward so far. At the TD fixed point it is at most 2 r_inf / (1 - gamma). (During the first 64 steps the check runs after
//! each step, over all steps so far. An iterate that is not finite also retires the lane.) The rule is independent of the units of
//! rewards and features.
//!
//! *Reported*: the lane with the smallest residual, measured on samples before they are learned from (file `judge.rs`).
//!
//! If the number of samples is not known, the whole portfolio runs in phases of doubling length, and the answer is that
//! of the last complete phase, as in [`doubling`](crate::learner::doubling).
//!
//! # Why not Algorithm 1's own average
//! It weights theta_t by eta_t, which makes the theorem hold for any c. The noise of step t then enters with eta_t^2, whose sum
//! converges: the first samples dominate, and the variance is about ln(T)^2 / 2 times that of the plain mean. With a well-chosen c
//! the plain mean is better by one to three orders of magnitude, and comparable to least squares
//! (docs/findings.md).
//!
//! # Intervals
//! Replicates of the leader's error run alongside the lanes (file `replicates.rs`). They measure the sampling error around the TD
//! fixed point. They measure neither the approximation error of the features, nor the remaining influence of the start if the
//! leader has not converged.
//!
//! # Performance
//! The sixteen constants are one line of lanes, which takes a step with two AVX-512 registers. Up to fifteen features the replicates
//! are propagated by the linear map of their block (file `errors.rs`). Memory is allocated only when a block, a phase or
//! a measurement ends.

mod answer;
mod bootstrap;
mod errors;
mod judge;
mod params;
mod replicates;
mod run;

use serde::{Deserialize, Serialize};

pub use answer::{Answer, LaneReport};
pub use bootstrap::Bootstrap;
pub use params::RobustTdParams;
pub use run::CONSTANTS;

use self::run::Run;
use crate::check::check_dimension;
use crate::error::{Error, Result};
use crate::iterate::Health;
use crate::learner::Learner;
use crate::method::{Abilities, Approach, IntervalSource, Method, Standing};
use crate::phi::Transition;
use crate::schedule::upcoming::Upcoming;
use crate::schedule::{Phase, RobustDecay};

/// The growth factor of the phases.
const GROWTH: f64 = 2.0;

/// Algorithm 1 with an automatically selected constant: the learner `alg1-auto`.
///
/// ```
/// use robust_td_core::portfolio::{RobustTd, RobustTdParams};
/// use robust_td_core::{Learner, Transition};
///
/// // Two states that swap, reward 1 for leaving state 0; V(0) = 1 / (1 - 0.25), V(1) = 0.5 V(0).
/// let table = [[1.0, 0.0], [0.0, 1.0]];
/// let params = RobustTdParams { horizon: Some(10_000), replicates: 64, ..RobustTdParams::new(0.5, 1.0) };
/// let mut learner = RobustTd::new(params, 2)?;
/// for t in 0..10_000 {
///     let reward = if t % 2 == 0 { 1.0 } else { 0.0 };
///     learner.step(&Transition::new(&table[t % 2], reward, &table[(t + 1) % 2]));
/// }
/// let answer = learner.answer();
/// assert!((answer.output[0] - 4.0 / 3.0).abs() < 1e-3 && (answer.output[1] - 2.0 / 3.0).abs() < 1e-3);
/// assert!(answer.lanes.iter().any(|lane| lane.c == answer.c && lane.retired_at.is_none()));
/// # Ok::<(), robust_td_core::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedRobustTd", into = "SavedRobustTd")]
pub struct RobustTd {
    params: RobustTdParams,
    steps: u64,
    /// The largest |reward|.
    largest_reward: f64,
    run: Box<Run>,
    /// The answer of the previous phase.
    completed: Option<Box<Answer>>,
    // The phase and its step sizes for c = 1 are derived from the parameters and the number of steps.
    phase: Phase,
    unit: RobustDecay,
    upcoming: Upcoming,
}

impl Learner for RobustTd {
    #[inline]
    fn step(&mut self, transition: &Transition<'_>) {
        self.learn(transition);
    }

    #[inline]
    fn learn(&mut self, transition: &Transition<'_>) -> f64 {
        if self.steps == self.phase.end() && self.params.horizon.is_none() {
            self.open_next_phase();
        }
        let discount = self.params.discount;
        if transition.reward.abs() > self.largest_reward {
            self.largest_reward = transition.reward.abs();
        }
        let t = self.steps - self.phase.start;
        let unit = self.upcoming.step_size(&self.unit, t);
        self.steps += 1;
        (self.run).step(transition, unit, self.largest_reward, discount)
    }

    fn id(&self) -> &'static str {
        METHOD.id
    }

    fn dimension(&self) -> usize {
        self.run.dimension()
    }

    fn discount(&self) -> f64 {
        self.params.discount
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    /// The reported lane's iterate; in phases, that of the running phase.
    fn theta(&self) -> &[f64] {
        self.run.theta()
    }

    fn choice(&self) -> Option<Answer> {
        Some(self.answer())
    }

    fn replicates(&self) -> usize {
        self.params.replicates
    }

    fn output(&self) -> Vec<f64> {
        match self.reported() {
            Some(answer) => answer.output.clone(),
            None => self.run.output(),
        }
    }

    /// The norms of the reported lane's iterates, and whether they diverged.
    fn health(&self) -> &Health {
        match self.reported() {
            Some(answer) => &answer.health,
            None => self.run.health(),
        }
    }
}

impl RobustTd {
    /// All constants at theta_0 = 0, for feature vectors of the given dimension.
    ///
    /// # Errors
    /// When a parameter is out of range or the dimension is 0.
    pub fn new(params: RobustTdParams, dimension: usize) -> Result<Self> {
        params.check()?;
        check_dimension(dimension)?;
        let phase = params.first_phase();
        let RobustTdParams {
            replicates, seed, ..
        } = params;
        Ok(Self {
            params,
            steps: 0,
            largest_reward: 0.0,
            run: Box::new(Run::new(dimension, phase.length, replicates, seed)),
            completed: None,
            phase,
            unit: RobustDecay::new(phase.length, 1.0, params.phi_inf)?,
            upcoming: Upcoming::default(),
        })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &RobustTdParams {
        &self.params
    }

    /// The answer of the previous phase, if that is the one to report.
    fn reported(&self) -> Option<&Answer> {
        let open = self.steps < self.phase.end();
        self.completed.as_deref().filter(|_| open)
    }

    /// The answer so far, with its evidence.
    #[must_use]
    pub fn answer(&self) -> Answer {
        match self.reported() {
            Some(answer) => answer.clone(),
            None => self.run.answer(),
        }
    }

    /// Stores the answer of the complete phase and starts the next one.
    #[cold]
    fn open_next_phase(&mut self) {
        self.completed = Some(Box::new(self.run.answer()));
        self.phase = self.phase.next(GROWTH);
        self.unit = self.unit.with_horizon(self.phase.length);
        self.upcoming = Upcoming::default();
        let RobustTdParams {
            replicates, seed, ..
        } = self.params;
        let seed = seed.wrapping_add(self.phase.index << 32);
        *self.run = Run::new(self.run.dimension(), self.phase.length, replicates, seed);
    }
}

/// Algorithm 1 with the constant selected from the data.
pub const METHOD: Method<RobustTd> = Method {
    id: "alg1-auto",
    title: "Algorithm 1 with c selected from the data, plain average",
    reference: "a portfolio over Lee & Orabona 2025, arXiv:2506.01052, Algorithm 1",
    standing: Standing::Experimental,
    needs: &["phi_inf", "T"],
    parameters: &[],
    abilities: Abilities {
        approach: Approach::Portfolio,
        intervals: IntervalSource::Replicates,
        advice: "every constant diverged: check that phi_inf is large enough and the data are on-policy (gtd2, tdc, etd and lstd take ratios)",
        ..Abilities::PLAIN
    },
    build: |inputs| {
        let params = RobustTdParams::new(inputs.discount(), inputs.phi_inf());
        let params = RobustTdParams {
            horizon: Some(inputs.horizon()),
            ..params
        };
        RobustTd::new(params, inputs.dimension())
    },
};

/// The saved form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedRobustTd {
    params: RobustTdParams,
    #[serde(deserialize_with = "crate::count::read")]
    steps: u64,
    #[serde(with = "crate::exact_float")]
    largest_reward: f64,
    run: Box<Run>,
    completed: Option<Box<Answer>>,
}

impl From<RobustTd> for SavedRobustTd {
    fn from(learner: RobustTd) -> Self {
        Self {
            params: learner.params,
            steps: learner.steps,
            largest_reward: learner.largest_reward,
            run: learner.run,
            completed: learner.completed,
        }
    }
}

impl TryFrom<SavedRobustTd> for RobustTd {
    type Error = Error;

    fn try_from(saved: SavedRobustTd) -> Result<Self> {
        let params = saved.params;
        params.check()?;
        let mut phase = saved.params.first_phase();
        while params.horizon.is_none() && phase.end() < saved.steps {
            phase = phase.next(GROWTH);
        }
        let contradiction = if !saved.run.is_at(phase.length, saved.steps - phase.start) {
            Some(format!("a portfolio that is not at step {}", saved.steps))
        } else if !saved.run.is_whole(params.replicates) {
            Some("a portfolio whose parts do not fit each other".into())
        } else {
            None
        };
        if let Some(contradiction) = contradiction {
            return Err(Error::Saved { contradiction });
        }
        Ok(Self {
            params: saved.params,
            steps: saved.steps,
            largest_reward: saved.largest_reward,
            run: saved.run,
            completed: saved.completed,
            phase,
            unit: RobustDecay::new(phase.length, 1.0, params.phi_inf)?,
            upcoming: Upcoming::default(),
        })
    }
}
