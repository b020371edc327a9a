//! Runs an experiment: the same methods for each value of a parameter or of the horizon.

mod agents;
mod error;
mod figure;
mod page;
mod plan;
mod rows;
mod spec;
mod write;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use robust_td_engine::contest::{ContestOptions, Score};
use robust_td_engine::{Kernel, Progress};

use crate::contest::kept::Kept;
use crate::contest::run::race;
use crate::error::{Error, Result};
use crate::spec_file;

pub use agents::Split;
pub use error::ExperimentError;
pub use plan::{Plan, Point};
pub use spec::{Against, ExperimentSpec, Show, Shown};

/// A valid experiment.
///
/// ```
/// use robust_td::Experiment;
///
/// let experiment = Experiment::from_toml(
///     r#"
///     problem = "two-state"
///     vary = { epsilon = [0.3, 0.1] }
///     algorithms = ["alg1:c=0.1", "bhandari-c"]
///     horizon = 1000
///     runs = 8
///     "#,
///     ".",
/// )?;
/// let results = experiment.run()?;
/// assert_eq!(results.scores.len(), 2);
/// # Ok::<(), robust_td::Error>(())
/// ```
#[must_use = "an experiment does nothing until `run`"]
pub struct Experiment<'a> {
    plan: Plan,
    threads: usize,
    kernel: Kernel,
    progress: Option<Box<Observer<'a>>>,
    cancel: Option<&'a AtomicBool>,
    command: String,
    kept: Kept,
}

/// A progress callback: the point that runs, and how far it is.
type Observer<'a> = dyn Fn(&Point, Progress) + Sync + 'a;

impl<'a> Experiment<'a> {
    /// An experiment; `directory` is where a problem file is looked up.
    ///
    /// # Errors
    /// An [`ExperimentError`], an invalid problem, or more runs than memory can hold.
    pub fn new(spec: ExperimentSpec, directory: impl AsRef<Path>) -> Result<Self> {
        Ok(Self {
            plan: Plan::new(spec, directory.as_ref())?,
            threads: 0,
            kernel: Kernel::best(),
            progress: None,
            cancel: None,
            command: String::new(),
            kept: Kept::default(),
        })
    }

    /// An experiment from a spec file; a problem file is looked up relative to it.
    ///
    /// # Errors
    /// A file that cannot be read, or an invalid spec; the message names the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::new(spec_file::read(path)?, directory).map_err(|error| match error {
            // Its remedy is not in the file alone.
            error @ Error::Engine(_) => error,
            error => Error::Spec {
                file: path.into(),
                message: error.to_string(),
            },
        })
    }

    /// An experiment from the text of a spec; `directory` is where a problem file is looked up.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn from_toml(text: &str, directory: impl AsRef<Path>) -> Result<Self> {
        let spec = spec_file::parse(text).map_err(|message| Error::Spec {
            file: "spec".into(),
            message,
        })?;
        Self::new(spec, directory)
    }

    /// What will run.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Number of threads; 0, the default, means one per CPU. Results do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The vector code that computes the updates, by default the best of this CPU. Results do not depend on it.
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// Keeps a checkpoint in this directory, which is created; [`ExperimentResults::write`] removes it.
    pub fn checkpoint(mut self, directory: impl AsRef<Path>) -> Self {
        self.kept.keep_in(directory.as_ref());
        self
    }

    /// Whether to continue from the checkpoint if there is one, to the same bits.
    pub fn resume(mut self, resume: bool) -> Self {
        self.kept.resume = resume;
        self
    }

    /// Called at the start of each point and after each of its blocks of samples.
    pub fn progress(mut self, progress: impl Fn(&Point, Progress) + Sync + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Stops the experiment soon after this becomes true, with the checkpoint, if any, up to date.
    pub fn cancel(mut self, cancel: &'a AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// The command line to show on the page and in the manifest.
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = command.into();
        self
    }

    /// Runs all points.
    ///
    /// # Errors
    /// A kernel that this CPU lacks, threads that cannot be started, and a checkpoint that is damaged or belongs to another experiment, or whose
    /// directory another process writes to. A cancelled experiment returns
    /// [`robust_td_engine::Error::Cancelled`].
    pub fn run(self) -> Result<ExperimentResults> {
        let kernel = self.kernel.check().map_err(robust_td_engine::Error::from)?;
        let start = Instant::now();
        let points = &self.plan.points;
        for point in points {
            point.length.check()?;
        }
        let contest = |point: &Point| race(&point.problem, &point.contestants, point.length);
        let (_lock, mut series) = self.kept.open(points.iter().map(contest))?;
        let mut scores = Vec::with_capacity(points.len());
        for (place, point) in points.iter().enumerate() {
            let observe = |progress: Progress| {
                if let Some(observer) = &self.progress {
                    observer(point, progress);
                }
            };
            let options = ContestOptions {
                threads: self.threads,
                kernel,
                progress: Some(&observe),
                cancel: self.cancel,
                max_memory: robust_td_data::memory::limit(),
            };
            scores.push(series.run(place, &contest(point), &options)?);
        }
        Ok(ExperimentResults {
            splits: agents::splits(&self.plan, &scores),
            plan: self.plan,
            scores,
            command: self.command,
            seconds: start.elapsed().as_secs_f64(),
            threads: robust_td_engine::threads(self.threads),
            kernel: kernel.name(),
            kept: self.kept,
        })
    }
}

/// A finished experiment.
pub struct ExperimentResults {
    /// The plan.
    pub plan: Plan,
    /// The scores of each point's contestants.
    pub scores: Vec<Vec<Score>>,
    /// Bias and spread, if the spec has agents.
    pub splits: Vec<Split>,
    /// The command line; empty if there was none.
    pub command: String,
    /// Wall time.
    pub seconds: f64,
    /// The threads that ran.
    pub threads: usize,
    /// The kernel that ran.
    pub kernel: &'static str,
    kept: Kept,
}

impl ExperimentResults {
    /// The text of `results.csv`: one row per value and method.
    #[must_use]
    pub fn to_csv(&self) -> String {
        rows::results_csv(self)
    }

    /// Writes `results.csv`, `report.html`, `manifest.json`, the figures and, if the spec has agents, `agents.csv` into a
    /// directory, which is created, and removes the checkpoint of the experiment.
    pub fn write(&self, directory: impl AsRef<Path>) -> Result<()> {
        write::write(self, directory.as_ref())
    }
}
