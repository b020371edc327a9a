//! Sweeps the step size constant c: where iterates stay bounded, where runs diverge, how good the averaged iterate is.
//!
//! ```
//! use robust_td::sweep::{Sweep, logspace};
//!
//! let problem = robust_td::problem("two-state", &[("epsilon", 0.1)])?;
//! let sweep = Sweep::new(&problem).constants(logspace(1e-4, 1e2, 6)).runs(48).horizon(10_000).run()?;
//! let best = sweep.rows().iter().min_by(|a, b| a.gap().total_cmp(&b.gap()));
//! assert!(best.is_some_and(|row| row.gap() < problem.f_zero()));
//! # let out = tempfile::tempdir()?;
//! # let out = out.path();
//! sweep.write(out)?; // results.csv, curves.csv, figure1.svg, figure1.png, report.html, manifest.json
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agreement;
mod collection;
mod error;
mod execute;
mod figure;
mod grid;
mod near_threshold;
mod page;
mod results;
mod row;
mod spec;
mod split;
mod stability;
mod study;
mod tables;
mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use robust_td_core::Problem;
use robust_td_data::files;

pub use agreement::{Agreement, AgreementPoint, Diagnostic};
pub use collection::{Best, CollectionResults, MethodSummary, Slope, SweepCollection};
pub use error::SweepError;
pub use execute::Execution;
pub use grid::{logspace, paper_constants};
pub use results::SweepResults;
pub use robust_td_engine::{
    CurvePoint, Family, Job, Kernel, LaneResult, Options, Progress, Projection, Quantiles, Sampled,
};
pub use row::SweepRow;
pub use spec::{Indexing, Mode, projection, schedule};
pub use split::SplitSweep;

use spec::Spec;
use study::{Figure, Request, Study};

use crate::error::{Error, Result};
use crate::{problem_beside, spec_file};

/// The file that an interrupted sweep leaves in its checkpoint directory.
pub const CHECKPOINT: &str = "checkpoint";

/// A sweep to run. Without settings: decaying step sizes, unscaled features, Algorithm 1 with seed 1, 48 runs.
#[must_use = "a sweep does nothing until `run`"]
pub struct Sweep<'a> {
    request: Request,
    /// The spec file, for messages.
    file: Option<PathBuf>,
    command: Option<String>,
    threads: usize,
    kernel: Kernel,
    checkpoint: Option<PathBuf>,
    resume: bool,
    progress: Option<Box<dyn Fn(Progress) + Send + Sync + 'a>>,
    cancel: Option<&'a AtomicBool>,
}

impl<'a> Sweep<'a> {
    /// A sweep on a problem; it also needs [`constants`](Self::constants) and a [`horizon`](Self::horizon).
    pub fn new(problem: &Problem) -> Self {
        Self::of(Request {
            problem: problem.clone(),
            name: "problem".into(),
            figures: vec![Figure::new(1, None, Family::Decaying)],
            scales: vec![1.0],
            constants: Vec::new(),
            mode: Mode::Algorithm,
            indexing: None,
            horizon: None,
            simulate: None,
            runs: spec::RUNS,
            seed: None,
            curve_points_per_decade: spec::CURVE_POINTS,
        })
    }

    fn of(request: Request) -> Self {
        Self {
            request,
            file: None,
            command: None,
            threads: 0,
            kernel: Kernel::best(),
            checkpoint: None,
            resume: false,
            progress: None,
            cancel: None,
        }
    }

    /// The sweep that a TOML file describes:
    ///
    /// ```toml
    /// problem = "two-state"          # a catalog name, or a problem file relative to the spec
    /// set = { epsilon = 0.1 }        # parameters of a catalog problem (optional)
    /// schedule = ["decaying", "constant"]   # or "plain": c is the step size itself; or one of the authors' (see Family)
    /// projection = ["none", "oracle", "upper"]   # none by default
    /// scales = [0.0625, 1, 16]       # feature scalings (optional)
    /// c = { from = 1e-4, to = 1e2, per_decade = 6 }   # or a list, or "paper"
    /// mode = "algorithm"             # or "exact", "published" or "tdx"
    /// steps = 1_000_000              # the horizon T
    /// simulate = 100_000             # stop earlier (optional)
    /// runs = 48
    /// seed = 1
    /// ```
    ///
    /// # Errors
    /// A file that cannot be read, with the line, key and value that are wrong, or a problem that cannot be loaded.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let file = path.as_ref();
        let directory = file.parent().unwrap_or(Path::new(""));
        let mut sweep = Self::of_spec(spec_file::read(file)?, directory)
            .map_err(|error| in_file(file, error))?;
        sweep.file = Some(file.into());
        Ok(sweep)
    }

    /// The sweep that a TOML text describes; problem files are relative to `directory`. The keys are those of [`load`](Self::load).
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn from_toml(text: &str, directory: impl AsRef<Path>) -> Result<Self> {
        let spec = spec_file::parse(text).map_err(|message| SweepError::Spec { message })?;
        Self::of_spec(spec, directory.as_ref())
    }

    fn of_spec(spec: Spec, directory: &Path) -> Result<Self> {
        let wrong = |message| SweepError::Spec { message };
        let settings = spec.set.iter();
        let settings: Vec<_> = settings.map(|(key, value)| (key, value.clone())).collect();
        let families = spec.families().map_err(wrong)?;
        let projections = spec.projections().map_err(wrong)?;
        if projections.is_empty() {
            return Err(SweepError::NoProjections.into());
        }
        if let Some(name) = twice(&projections) {
            return Err(SweepError::ProjectionTwice { name }.into());
        }
        // One title for several figures would not tell them apart.
        let title = spec.title.as_ref();
        let title = title.filter(|_| projections.len() == 1);
        Ok(Self::of(Request {
            problem: problem_beside(&spec.problem, &settings, directory)?,
            figures: Figure::all(title, &families, &projections),
            constants: spec.constants().map_err(wrong)?,
            scales: spec.scales,
            mode: spec.mode,
            indexing: spec.indexing,
            horizon: Some(spec.steps),
            simulate: spec.simulate,
            runs: spec.runs,
            seed: spec.seed,
            curve_points_per_decade: spec.curve_points_per_decade,
            name: spec.problem,
        }))
    }

    /// What to call the problem on the page and in the manifest.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.request.name = name.into();
        self
    }

    /// The values of c; see [`logspace`] and [`paper_constants`].
    pub fn constants(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.request.constants = values.into_iter().collect();
        self
    }

    /// The step size schedules, one figure each.
    pub fn schedules(mut self, schedules: impl IntoIterator<Item = Family>) -> Self {
        let families: Vec<Family> = schedules.into_iter().collect();
        let figures = self.request.figures.iter();
        let projections = distinct(figures.map(|figure| figure.projection));
        self.request.figures = Figure::all(None, &families, &projections);
        self
    }

    /// The projections, one figure each per schedule; without this, none.
    pub fn projections(mut self, projections: impl IntoIterator<Item = Projection>) -> Self {
        let projections = distinct(projections.into_iter());
        let families = distinct(self.request.figures.iter().map(|figure| figure.family));
        self.request.figures = Figure::all(None, &families, &projections);
        self
    }

    /// Feature scalings, one row of a figure each; values <= 1 scale only feature 0, values > 1 all features.
    pub fn scales(mut self, scales: impl IntoIterator<Item = f64>) -> Self {
        self.request.scales = scales.into_iter().collect();
        self
    }

    /// How expectations are computed.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.request.mode = mode;
        self
    }

    /// How [`Mode::Exact`] counts steps and averages.
    pub fn indexing(mut self, indexing: Indexing) -> Self {
        self.request.indexing = Some(indexing);
        self
    }

    /// The horizon T in the step sizes, at least 3.
    pub fn horizon(mut self, horizon: u64) -> Self {
        self.request.horizon = Some(horizon);
        self
    }

    /// Stops after this number of steps, at most the horizon.
    pub fn simulate(mut self, steps: u64) -> Self {
        self.request.simulate = Some(steps);
        self
    }

    /// Runs per value of c.
    pub fn runs(mut self, runs: u64) -> Self {
        self.request.runs = runs;
        self
    }

    /// Seed of the random streams of [`Mode::Algorithm`].
    pub fn seed(mut self, seed: u64) -> Self {
        self.request.seed = Some(seed);
        self
    }

    /// Points per decade of steps in the learning curves.
    pub fn curve_points_per_decade(mut self, points: u32) -> Self {
        self.request.curve_points_per_decade = points;
        self
    }

    /// The command line to show on the page and in the manifest.
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
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

    /// Keeps a checkpoint in this directory, which is created; [`SweepResults::write`] removes it.
    pub fn checkpoint(mut self, directory: impl AsRef<Path>) -> Self {
        self.checkpoint = Some(directory.as_ref().join(CHECKPOINT));
        self
    }

    /// Whether to continue from the checkpoint if there is one, to the same bits.
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Called at the start, then every few milliseconds from the working threads.
    pub fn progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Stops the sweep soon after this becomes true, with the checkpoint, if any, up to date.
    pub fn cancel(mut self, cancel: &'a AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Numbers the figures from `first`.
    pub(crate) fn numbered_from(mut self, first: usize) -> Self {
        for (figure, number) in self.request.figures.iter_mut().zip(first..) {
            figure.number = number;
        }
        self
    }

    /// Adds the figures of a sweep that is otherwise identical.
    pub(crate) fn with_figures_of(mut self, other: Self) -> Self {
        self.request.figures.extend(other.request.figures);
        self
    }

    /// The checked sweep.
    fn study(&self) -> Result<Study> {
        Study::new(&self.request).map_err(|error| match &self.file {
            Some(file) => in_file(file, error.into()),
            None => error.into(),
        })
    }

    /// Runs the sweep.
    ///
    /// # Errors
    /// Invalid settings ([`SweepError`]), a kernel that this CPU lacks, and a checkpoint that is damaged or belongs to another
    /// sweep, or whose directory another process writes to; all are checked before anything is written. A cancelled sweep returns [`robust_td_engine::Error::Cancelled`].
    pub fn run(self) -> Result<SweepResults> {
        let study = self.study()?;
        let kernel = self.kernel.check().map_err(robust_td_engine::Error::from)?;
        let directory = self.checkpoint.as_deref().and_then(Path::parent);
        let _lock = directory.map(files::open).transpose()?;
        let options = robust_td_engine::Options {
            threads: self.threads,
            kernel,
            checkpoint: self.checkpoint.clone(),
            resume: self.resume,
            progress: self
                .progress
                .as_ref()
                .map(|progress| progress.as_ref() as _),
            cancel: self.cancel,
            max_memory: robust_td_data::memory::limit(),
            ..robust_td_engine::Options::default()
        };
        let (rows, execution) = execute::execute(&study, options)?;
        Ok(SweepResults {
            study,
            rows,
            execution,
            kernel,
            command: self.command,
            checkpoint: self.checkpoint,
        })
    }
}

/// The distinct values in order of first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// The name of a projection that is given twice.
fn twice(projections: &[Projection]) -> Option<&'static str> {
    let repeated = (1..projections.len()).find(|&k| projections[..k].contains(&projections[k]));
    repeated.map(|k| projections[k].name())
}

/// An error with the spec file that caused it.
fn in_file(file: &Path, error: Error) -> Error {
    Error::Spec {
        file: file.into(),
        message: error.to_string(),
    }
}
