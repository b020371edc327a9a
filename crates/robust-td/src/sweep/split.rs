//! Runs a sweep in parts, on whatever machines there are.

use std::time::Duration;

use robust_td_engine::{Job, Kernel};

use super::execute::Execution;
use super::row;
use super::spec::Mode;
use super::study::Study;
use super::{Sweep, SweepResults};
use crate::error::Result;

/// A checked sweep that is computed in parts; the results are those of [`Sweep::run`], to the bit.
///
/// ```
/// use robust_td::sweep::{Job, Options, Sweep};
///
/// let problem = robust_td::problem("two-state", &[("epsilon", 0.1)])?;
/// let sweep = || Sweep::new(&problem).constants([0.01, 1.0, 100.0]).runs(8).horizon(1000);
/// let split = sweep().split()?;
/// // On other machines, in any order, as often as it takes:
/// let job = Job::read(split.job().description())?;
/// let parts = job.parts().into_iter();
/// let states: Vec<Vec<u8>> = parts.map(|part| job.run(part, &Options::default())).collect::<Result<_, _>>()?;
/// // And back:
/// let results = split.finish(states.iter().map(Vec::as_slice), 1, std::time::Duration::ZERO)?;
/// assert_eq!(results.to_csv(), sweep().run()?.to_csv());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SplitSweep {
    study: Study,
    job: Job,
    kernel: Kernel,
    command: Option<String>,
}

impl Sweep<'_> {
    /// Checks the sweep and splits it into parts. Threads, checkpoint, progress and cancellation are those of the parts.
    ///
    /// # Errors
    /// As [`Sweep::run`] before it starts.
    pub fn split(self) -> Result<SplitSweep> {
        let study = self.study()?;
        let job = Job::new(study.plan(), study.mode == Mode::Exact)?;
        Ok(SplitSweep {
            kernel: self.kernel.check().map_err(robust_td_engine::Error::from)?,
            command: self.command,
            study,
            job,
        })
    }
}

impl SplitSweep {
    /// The job, whose parts can be computed anywhere.
    #[must_use]
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The results from the states of all parts, in order, joined or not; with the number of workers and the time that it took.
    ///
    /// # Errors
    /// When a state is damaged, of another job or missing.
    pub fn finish<'a>(
        self,
        states: impl IntoIterator<Item = &'a [u8]>,
        workers: usize,
        elapsed: Duration,
    ) -> Result<SweepResults> {
        let results = self.job.finish(states)?;
        Ok(SweepResults {
            execution: Execution {
                kernel: self.kernel.name(),
                threads: workers,
                seconds: elapsed.as_secs_f64(),
                lane_steps: results.lane_steps,
                computed: results.lane_steps,
            },
            rows: row::rows(&self.study, results.lanes),
            study: self.study,
            kernel: self.kernel,
            command: self.command,
            checkpoint: None,
        })
    }
}
