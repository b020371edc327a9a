//! Compares methods on the same samples of a problem.

mod figure;
mod json;
mod markdown;
mod page;
mod results;
mod rows;
mod write;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use robust_td_core::catalog::Setting;
use robust_td_core::{Mixing, Problem};
use robust_td_engine::contest::ContestOptions;
use robust_td_engine::{Kernel, Progress};

use crate::contest::choice::{Choice, Override};
use crate::contest::kept::Kept;
use crate::contest::run::{Length, Outcome, race};
use crate::contest::{ContestError, field};
use crate::error::Result;

pub use json::ComparisonReport;
pub use results::{ComparisonResults, input_words, quantity_words, share};

/// Starts a comparison of methods on a problem; see [`Comparison`].
pub fn compare(problem: &Problem) -> Comparison<'_> {
    Comparison::new(problem)
}

/// Methods to run side by side: run `i` of every method follows the same trajectory.
///
/// Inputs that are not set are computed from the exact model; a method is marked as an oracle if one of them cannot be known
/// in practice. Dropped samples still count. Divergence is a result, not an error.
///
/// ```
/// use robust_td::{catalog, compare};
///
/// let problem = catalog::problem("two-state", &[])?;
/// let results = compare(&problem)
///     .algorithms(["alg1:c=0.05", "bhandari-a"])
///     .horizon(1000)
///     .runs(8)
///     .seed(1)
///     .run()?;
/// for (contestant, score) in results.ranked() {
///     println!("{}: f = {}", contestant.label, score.f.mean);
/// }
/// let alg1 = results.score("alg1:c=0.05").expect("it took part");
/// assert!(alg1.f.mean < problem.f_zero());
/// # Ok::<(), robust_td::Error>(())
/// ```
#[must_use = "a comparison does nothing until `run`"]
pub struct Comparison<'a> {
    problem: &'a Problem,
    name: String,
    settings: Vec<(String, Setting)>,
    algorithms: Option<Vec<String>>,
    parameters: Vec<(String, f64)>,
    length: Length,
    threads: usize,
    kernel: Kernel,
    progress: Option<Box<dyn Fn(Progress) + Send + Sync + 'a>>,
    cancel: Option<&'a AtomicBool>,
    command: String,
    kept: Kept,
}

impl<'a> Comparison<'a> {
    /// A comparison of all methods that apply, with 48 runs; [`Comparison::horizon`] is required.
    pub fn new(problem: &'a Problem) -> Self {
        Self {
            problem,
            name: "problem".into(),
            settings: Vec::new(),
            algorithms: None,
            parameters: Vec::new(),
            length: Length {
                horizon: 0,
                runs: 48,
                seed: 1,
                points_per_decade: 10,
            },
            threads: 0,
            kernel: Kernel::best(),
            progress: None,
            cancel: None,
            command: String::new(),
            kept: Kept::default(),
        }
    }

    /// What to call the problem in the results, and the settings that made it.
    pub fn name<V>(mut self, name: impl Into<String>, settings: &[(String, V)]) -> Self
    where
        for<'s> &'s V: Into<Setting>,
    {
        self.name = name.into();
        let settings = settings.iter();
        self.settings = settings
            .map(|(name, value)| (name.clone(), value.into()))
            .collect();
        self
    }

    /// The methods, each optionally with settings: `alg1`, `alg1:c=0.05`. The default is all that apply.
    pub fn algorithms<S: Into<String>>(mut self, algorithms: impl IntoIterator<Item = S>) -> Self {
        self.algorithms = Some(algorithms.into_iter().map(Into::into).collect());
        self
    }

    /// Sets a parameter of all methods that have it (`c`) or of one (`alg1.c`); a method's own settings win.
    pub fn parameter(mut self, key: impl Into<String>, value: f64) -> Self {
        self.parameters.push((key.into(), value));
        self
    }

    /// The horizon T, samples per run, at least 3.
    pub fn horizon(mut self, horizon: u64) -> Self {
        self.length.horizon = horizon;
        self
    }

    /// Independent runs of each method.
    pub fn runs(mut self, runs: u64) -> Self {
        self.length.runs = runs;
        self
    }

    /// Seed of the trajectories.
    pub fn seed(mut self, seed: u64) -> Self {
        self.length.seed = seed;
        self
    }

    /// Points per decade of samples in the learning curves.
    pub fn curve_points_per_decade(mut self, points: u32) -> Self {
        self.length.points_per_decade = points;
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

    /// Keeps a checkpoint in this directory, which is created; [`ComparisonResults::write`] removes it.
    pub fn checkpoint(mut self, directory: impl AsRef<Path>) -> Self {
        self.kept.keep_in(directory.as_ref());
        self
    }

    /// Whether to continue from the checkpoint if there is one, to the same bits.
    pub fn resume(mut self, resume: bool) -> Self {
        self.kept.resume = resume;
        self
    }

    /// Called at the start and after each block of samples.
    pub fn progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Stops the comparison soon after this becomes true, with the checkpoint, if any, up to date.
    pub fn cancel(mut self, cancel: &'a AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// The command line to show on the page and in the manifest.
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = command.into();
        self
    }

    /// Runs the methods.
    ///
    /// # Errors
    /// An invalid method, parameter or size ([`ContestError`]), and a named method that does not
    /// apply. When no methods are named, those that do not apply are skipped, with the reason. A checkpoint that is damaged or belongs
    /// to another comparison, or whose directory another process writes to. A cancelled comparison returns [`robust_td_engine::Error::Cancelled`].
    pub fn run(self) -> Result<ComparisonResults> {
        if self.length.horizon == 0 {
            return Err(ContestError::NoHorizon.into());
        }
        self.length.check()?;
        let kernel = self.kernel.check().map_err(robust_td_engine::Error::from)?;
        let choices = match &self.algorithms {
            Some(texts) => {
                let choices = texts.iter().map(|text| Choice::parse(text));
                Some(choices.collect::<Result<Vec<_>, _>>()?)
            }
            None => None,
        };
        let overrides = self.parameters.iter();
        let overrides = overrides.map(|(key, value)| Override::new(key, *value));
        let overrides = overrides.collect::<Result<Vec<_>, _>>()?;
        let mixing = Mixing::of(self.problem.chain())?.ok();
        let field = field::gather(
            self.problem,
            mixing.as_ref(),
            self.length.horizon,
            choices.as_deref(),
            &overrides,
        )?;
        let options = ContestOptions {
            threads: self.threads,
            kernel,
            progress: self
                .progress
                .as_ref()
                .map(|progress| progress.as_ref() as _),
            cancel: self.cancel,
            max_memory: robust_td_data::memory::limit(),
        };
        let contest = race(self.problem, &field.contestants, self.length);
        let (_lock, mut series) = self.kept.open(std::iter::once_with(|| contest.clone()))?;
        let start = Instant::now();
        let scores = series.run(0, &contest, &options)?;
        let outcome = Outcome {
            scores,
            seconds: start.elapsed().as_secs_f64(),
        };
        Ok(ComparisonResults {
            name: self.name,
            settings: self.settings,
            problem: self.problem.clone(),
            mixing,
            length: self.length,
            field,
            outcome,
            threads: robust_td_engine::threads(self.threads),
            kernel: kernel.name(),
            command: self.command,
            kept: self.kept,
        })
    }
}

impl ComparisonResults {
    /// The object that `compare --json` prints, for `serde_json` and the like.
    #[must_use]
    pub fn report(&self) -> ComparisonReport<'_> {
        ComparisonReport::new(self)
    }

    /// The text of `compare.csv`: one row per method.
    #[must_use]
    pub fn to_csv(&self) -> String {
        rows::compare_csv(self)
    }

    /// The text of `curves.csv`: the learning curves.
    #[must_use]
    pub fn curves_to_csv(&self) -> String {
        rows::curves_csv(self)
    }

    /// A Markdown table: the paper's Table 1 with a measured column.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        markdown::table(self)
    }

    /// Writes `compare.csv`, `curves.csv`, `compare.svg`, `compare.png`, `report.html` and `manifest.json` into a directory, which
    /// is created, and removes the checkpoint of the comparison.
    pub fn write(&self, directory: impl AsRef<Path>) -> Result<()> {
        write::write(self, directory.as_ref())
    }
}
