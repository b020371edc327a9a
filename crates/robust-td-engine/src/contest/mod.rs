//! Runs many methods on the same sampled trajectories.
//!
//! Run i of every entrant follows the trajectory of the stream (seed, i), as in sweeps with
//! [`Mode::Algorithm`](crate::Mode), so differences between entrants are not due to chance. Time advances
//! in blocks: all trajectories are sampled for a block, then every entrant follows them, with the runs in
//! fixed groups of eight. Results are the same bytes for every [`Kernel`] and thread count, and memory
//! does not grow with the horizon.
//!
//! Methods of TD(0) type, those with a [`Recipe`](robust_td_core::learner::Recipe), are vector lanes driven by one
//! trajectory; all others run individually.
//!
//! ```
//! use robust_td_core::catalog;
//! use robust_td_core::registry::Setting;
//! use robust_td_core::registry;
//! use robust_td_engine::{Contest, ContestOptions, Entrant, contest};
//!
//! let problem = catalog::problem("two-state", &[])?;
//! let setting = Setting::of_problem(&problem, None, 1000);
//! let mut entrants = Vec::new();
//! for id in ["alg1", "alg1-doubling"] {
//!     let learner = registry::find(id)?.prepare(&setting, &[] as &[(&str, f64)])?.learner;
//!     entrants.push(Entrant { label: id.into(), learner });
//! }
//! let horizon = setting.horizon;
//! let race = Contest { problem, entrants, horizon, runs: 4, seed: 1, points_per_decade: 5 };
//! let scores = contest(&race, &ContestOptions::default())?;
//! assert!(scores.iter().all(|score| score.f.mean < race.problem.f_zero()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dispatch;
mod judge;
mod pack;
mod race;
mod saved;
mod scalar;
mod score;
mod series;
mod solo;
mod step;
mod team;
mod trajectories;

use std::sync::atomic::AtomicBool;

use robust_td_core::Problem;
use robust_td_core::learner::Learner;
use robust_td_core::registry::AnyLearner;
use robust_td_core::schedule::SHORTEST_HORIZON;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::run::Progress;

pub use crate::diagnostics::Estimate;
pub use score::{CurvePoint, Score};
pub use series::Series;

/// A participating method.
#[derive(Debug, Clone)]
pub struct Entrant {
    /// Its name in the results.
    pub label: String,
    /// The learner at theta_0; every run gets its own copy.
    pub learner: AnyLearner,
}

/// Methods to run on the same trajectories of a problem.
#[derive(Debug, Clone)]
pub struct Contest {
    /// The problem.
    pub problem: Problem,
    /// The methods.
    pub entrants: Vec<Entrant>,
    /// T, the number of samples of each run.
    pub horizon: u64,
    /// The number of independent runs of each method.
    pub runs: usize,
    /// Seed of the trajectories.
    pub seed: u64,
    /// Points of the learning curves per decade of samples.
    pub points_per_decade: u32,
}

impl Contest {
    /// Checks the sizes, and that every entrant fits the problem and has made no steps.
    ///
    /// # Errors
    /// The first violation found.
    pub fn check(&self) -> Result<()> {
        if self.entrants.is_empty() {
            return Err(Error::NoEntrants);
        }
        if self.runs == 0 {
            return Err(Error::NoRuns);
        }
        if self.horizon < SHORTEST_HORIZON {
            return Err(Error::Horizon {
                horizon: self.horizon,
            });
        }
        for Entrant { label, learner } in &self.entrants {
            let refuse = |what: String| {
                Err(Error::Entrant {
                    label: label.clone(),
                    what,
                })
            };
            let (own, expected) = (learner.dimension(), self.problem.dimension());
            if own != expected {
                return refuse(format!(
                    "its dimension is {own}, but the problem's is {expected}"
                ));
            }
            let (own, expected) = (learner.discount(), self.problem.discount());
            if own != expected {
                return refuse(format!(
                    "its discount is {own}, but the problem's is {expected}"
                ));
            }
            if learner.steps() != 0 {
                return refuse(format!("it has already made {} steps", learner.steps()));
            }
        }
        Ok(())
    }
}

/// Options for running a contest. None of them changes the results.
pub struct ContestOptions<'a> {
    /// Number of threads; 0 means one per CPU.
    pub threads: usize,
    /// The kernel of the methods that run on vector lanes.
    pub kernel: Kernel,
    /// Called at the start and after each block with the total number of samples processed by all entrants in all runs.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// Stops the contest after the current block once this is true.
    pub cancel: Option<&'a AtomicBool>,
    /// The bytes that the contest may take; `None` for no limit.
    pub max_memory: Option<u64>,
}

impl Default for ContestOptions<'_> {
    fn default() -> Self {
        Self {
            threads: 0,
            kernel: Kernel::best(),
            progress: None,
            cancel: None,
            max_memory: None,
        }
    }
}

/// Runs a contest without a checkpoint; one score per entrant, in order. [`Series`] has one.
///
/// # Errors
/// When the contest fails [`Contest::check`], this CPU does not support the kernel, or the contest is cancelled.
pub fn contest(contest: &Contest, options: &ContestOptions<'_>) -> Result<Vec<Score>> {
    Series::unsaved(1).run(0, contest, options)
}
