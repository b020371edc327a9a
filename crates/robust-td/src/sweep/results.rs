//! Holds the results of a sweep.

use std::path::PathBuf;

use robust_td_engine::{Kernel, Options};

use super::agreement::{self, Agreement};
use super::execute::Execution;
use super::near_threshold;
use super::row::{self, SweepRow};
use super::stability;
use super::study::Study;
use crate::error::Result;

/// The results of a [`Sweep`](super::Sweep); [`write`](Self::write) makes tables, figures and a page of them.
#[derive(Debug, Clone)]
pub struct SweepResults {
    pub(super) study: Study,
    pub(super) rows: Vec<SweepRow>,
    pub(super) execution: Execution,
    pub(super) kernel: Kernel,
    pub(super) command: Option<String>,
    pub(super) checkpoint: Option<PathBuf>,
}

impl SweepResults {
    /// One row per schedule, feature scaling and c: schedule by schedule, scaling by scaling, by increasing c.
    #[must_use]
    pub fn rows(&self) -> &[SweepRow] {
        &self.rows
    }

    /// Time, threads and updates.
    #[must_use]
    pub fn execution(&self) -> &Execution {
        &self.execution
    }

    /// The text of `results.csv`.
    #[must_use]
    pub fn to_csv(&self) -> String {
        row::results_csv(&self.study, &self.rows)
    }

    /// The text of `curves.csv`: the learning curves of all rows.
    #[must_use]
    pub fn curves_to_csv(&self) -> String {
        row::curves_csv(&self.rows)
    }

    /// The c above which every step size is mean-square stable, by schedule and feature scaling; `None` where the problem is too
    /// large.
    ///
    /// A constant step below the largest mean-square stable one keeps `E|theta_t|^2` bounded.
    #[must_use]
    pub fn thresholds(&self) -> Vec<Vec<Option<f64>>> {
        stability::thresholds(&self.study, self.execution.threads)
    }

    /// The rows next to the threshold of divergence with exact expectations instead of sampled means, where 48 runs
    /// underestimate by orders of magnitude. Empty in exact mode and on large problems.
    ///
    /// # Errors
    /// None for a sweep that ran, unless threads cannot be started.
    pub fn exact_near_threshold(&self) -> Result<Vec<SweepRow>> {
        let options = Options {
            threads: self.execution.threads,
            kernel: self.kernel,
            ..Options::default()
        };
        near_threshold::exact_near_threshold(&self.study, &self.rows, &options)
    }

    /// The comparison with the points printed in the paper, when this is the published experiment at full size.
    #[must_use]
    pub fn agreement(&self) -> Option<Agreement> {
        agreement::agreement(&self.study, &self.rows)
    }
}
