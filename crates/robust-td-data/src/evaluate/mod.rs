//! Evaluates the policy of a log: solves for the TD fixed point, or steps through the log with a learner; returns a [`Fit`].

mod averaging;
mod following;
mod learner_choice;
mod learning;
mod online;
pub(crate) mod request;
mod resume;

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use crate::assess::assess;
use crate::choice::Wanted;
use crate::columns::ColumnMap;
use crate::elsewhere::Engine;
use crate::elsewhere::threads::Threads;
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::inspect::DataReport;
use crate::learned::Learned;
use crate::log::Log;
use crate::model::Model;
use crate::monitor::Monitor;
use crate::option_error::{OptionError, OptionName};
use crate::options::ReadAs;
use crate::preset::Preset;
use crate::replay::Replay;
use crate::solved::gather::Plan;
use crate::solved::{self, Stage, Unit};
use crate::source::Format;
use crate::start_value::StartValue;
use crate::stored::Storage;
use crate::warning::Warning;
use learning::Learning;
use request::{Constant, Request, check_confidence, threads};
use robust_td_core::learner::Learner;
use robust_td_core::registry;

/// Starts the evaluation of files or patterns such as `logs/*.parquet`.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir(folder.path().join("logs"))?;
/// # let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text);
/// # let rows: String = (0..4000).map(|t| format!("{},{}\n", t % 2, 1 - t % 2)).collect();
/// # write("logs/a.csv", format!("obs_0,reward\n{rows}"))?;
/// # write("logs/b.csv", format!("obs_0,reward\n{rows}"))?;
/// # write("new.csv", "obs_0\n0\n1\n".into())?;
/// # let path = |name: &str| folder.path().join(name).display().to_string();
/// # let logs = path("logs/*.csv");
/// # let new = path("new.csv");
/// use robust_td_data::evaluate;
///
/// // Two states that alternate, reward 1 in the first: V(0) = 1 / (1 - 0.9^2), V(1) = 0.9 V(0).
/// let fit = evaluate([logs]).discount(0.9).features("standardise + bias").run()?;
/// let values = fit.predict(new)?;
/// for (i, exact) in [1.0 / 0.19, 0.9 / 0.19].into_iter().enumerate() {
///     assert!((values.values[i] - exact).abs() < 0.1);
///     assert!(values.lower[i] < exact && exact < values.upper[i]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate<I>(files: I) -> Evaluation
where
    I: IntoIterator,
    I::Item: Into<String>,
{
    Evaluation::new(Log::files(files))
}

/// The progress of an evaluation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// The files were read once to measure the features and count the transitions.
    Surveyed(&'a DataReport),
    /// One of several feature maps is fitted to parts of the log, to be compared with the others.
    Comparing {
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// The map.
        features: &'a str,
    },
    /// An iterative solution made another pass over the log.
    Product {
        /// The number of passes so far.
        passes: u64,
        /// The relative residual of the log's equations.
        residual: f64,
    },
    /// A warning that is known before learning starts.
    Warning(&'a Warning),
    /// The model of a learner so far, at the steps that [`Evaluation::report_at`] sets.
    SoFar(&'a Learned),
    /// The answer of a stream so far, at the same steps.
    Following {
        /// Transitions so far.
        steps: u64,
        /// The solution of their equations.
        theta: &'a [f64],
        /// The value of the policy, with its interval as far as it is known.
        start_value: Option<StartValue>,
    },
    /// A pass over the log has ended.
    PassDone {
        /// Transitions learned from so far.
        steps: u64,
    },
}

impl<'a> From<Stage<'a>> for Progress<'a> {
    fn from(stage: Stage<'a>) -> Self {
        match stage {
            Stage::Surveyed(report) => Self::Surveyed(report),
            Stage::Compared(number, of, features) => Self::Comparing {
                number,
                of,
                features,
            },
            Stage::Product(state) => Self::Product {
                passes: state.products as u64,
                residual: state.residual,
            },
        }
    }
}

/// When the model so far is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportAt {
    /// After 1, 2, 4, 8, ... transitions.
    PowersOfTwo,
    /// After every N transitions.
    Every(u64),
}

/// The maximum number of discounts at once.
const MOST_DISCOUNTS: usize = 64;

type Listener = Box<dyn FnMut(Progress<'_>) + Send>;

/// An evaluation that is set up step by step and then [run](Evaluation::run).
///
/// | option | default |
/// |---|---|
/// | [`discount`](Self::discount) | none: it must be set, unless a model is resumed |
/// | [`algorithm`](Self::algorithm) | `auto`: least squares; with a constant c, `alg1` |
/// | [`c`](Self::c), [`c_auto`](Self::c_auto) | auto, for `alg1` |
/// | [`horizon`](Self::horizon) | the number of transitions in the files; phases of doubling length on a stream |
/// | [`phi_inf`](Self::phi_inf) | measured; required on a stream by algorithms that use it, unless the feature map has a bound |
/// | [`features`](Self::features), [`compare_features`](Self::compare_features) | `standardise + bias`, on a stream `identity + bias`; `identity` with an algorithm other than `auto` |
/// | [`passes`](Self::passes) | 1 |
/// | [`learners`](Self::learners) | one |
/// | [`replicates`](Self::replicates) | 64 with auto and one pass, otherwise 0 |
/// | [`sandwich`](Self::sandwich) | least squares runs alongside the learner for up to 64 features |
/// | [`confidence`](Self::confidence) | 0.95 |
pub struct Evaluation {
    log: Log,
    request: Request,
    confidence: f64,
    check: bool,
    threads: usize,
    report_at: Option<ReportAt>,
    listener: Option<Listener>,
    resumed: Option<Model>,
    /// The number of learners that are averaged.
    learners: Option<u64>,
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation")
            .field("log", &self.log)
            .field("request", &self.request)
            .field("confidence", &self.confidence)
            .finish_non_exhaustive()
    }
}

impl Evaluation {
    /// The evaluation of a log.
    #[must_use]
    pub fn new(log: Log) -> Self {
        Self {
            log,
            request: Request::default(),
            confidence: crate::fit::CONFIDENCE,
            check: true,
            threads: 0,
            report_at: None,
            listener: None,
            resumed: None,
            learners: None,
        }
    }

    /// The discount factor gamma, from 0 to 1; 1 where every episode terminates.
    #[must_use]
    pub fn discount(mut self, discount: f64) -> Self {
        self.request.discount = Some(discount);
        self
    }

    /// The algorithm's id.
    #[must_use]
    pub fn algorithm(mut self, id: impl Into<String>) -> Self {
        self.request.algorithm = Some(id.into());
        self
    }

    /// The stepsize constant c, for algorithms that have one.
    #[must_use]
    pub fn c(mut self, c: f64) -> Self {
        self.request.c = Some(Constant::Fixed(c));
        self
    }

    /// Lets the data choose the constant c.
    #[must_use]
    pub fn c_auto(mut self) -> Self {
        self.request.c = Some(Constant::Auto);
        self
    }

    /// Learns from the first T transitions, with stepsizes for that horizon.
    #[must_use]
    pub fn horizon(mut self, horizon: u64) -> Self {
        self.request.horizon = Some(horizon);
        self
    }

    /// A bound on the norm of the features.
    #[must_use]
    pub fn phi_inf(mut self, phi_inf: f64) -> Self {
        self.request.phi_inf = Some(phi_inf);
        self
    }

    /// A parameter of the algorithm, such as `radius` or `lambda`.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: f64) -> Self {
        self.request.parameters.push((name.into(), value));
        self
    }

    /// The feature map, such as `standardise + bias`; `auto` compares several and takes the simplest of the best.
    #[must_use]
    pub fn features(self, spec: impl Into<String>) -> Self {
        self.compare_features([spec])
    }

    /// Compares these feature maps on rows that they were not fitted to, and takes the simplest of the best; `auto` stands for a list that
    /// depends on the log. A single map is taken as it is.
    ///
    /// Intervals of the answer do not include the choice.
    #[must_use]
    pub fn compare_features<I>(mut self, specs: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let specs = specs.into_iter().map(Into::into);
        let (auto, mut specs): (Vec<String>, _) =
            specs.partition(|spec: &String| spec.trim() == "auto");
        (self.request.features, self.request.wanted) = match (auto.len(), specs.len()) {
            (0, 0) => (None, None),
            (0, 1) => (specs.pop(), None),
            (auto, _) => {
                let auto = auto > 0;
                (None, Some(Wanted { auto, specs }))
            }
        };
        self
    }

    /// The number of passes over the files.
    #[must_use]
    pub fn passes(mut self, passes: u64) -> Self {
        self.request.passes = passes;
        self
    }

    /// Averages this number of independent learners, from 2 to 1,024, each on its own part of the log: another answer than that of one learner on all
    /// of it, but one that is computed in parallel, on whatever machines, to the same bits.
    ///
    /// Where there are episodes, a learner takes whole ones. Every learner has the step sizes for an equal share of the transitions. Intervals show how
    /// learners differ; a bias that they share is not reduced by averaging, and where the average does not solve the equations of the log there are none.
    #[must_use]
    pub fn learners(mut self, learners: u64) -> Self {
        self.learners = Some(learners);
        self
    }

    /// Bootstrap replicates for intervals: 0 for none, or from 8 to 4096.
    #[must_use]
    pub fn replicates(mut self, replicates: usize) -> Self {
        self.request.replicates = Some(replicates);
        self
    }

    /// Runs least squares alongside the learner for up to 500 features, for its sandwich intervals.
    #[must_use]
    pub fn sandwich(mut self) -> Self {
        self.request.sandwich = true;
        self
    }

    /// The confidence level of intervals, above 0 and below 1.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// The format of files; inferred from their names by default.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.log = self.log.format(format);
        self
    }

    /// Names of columns that differ from the layout's.
    #[must_use]
    pub fn columns(mut self, columns: ColumnMap) -> Self {
        self.log = self.log.columns(columns);
        self
    }

    /// The column names of a known tool.
    #[must_use]
    pub fn layout(mut self, preset: Preset) -> Self {
        self.log = self.log.layout(preset);
        self
    }

    /// The decimal sign of numbers in CSV files: a point, the default, or a comma.
    #[must_use]
    pub fn decimal(mut self, sign: char) -> Self {
        self.log = self.log.decimal(sign);
        self
    }

    /// The sign between groups of three digits in CSV files, such as a point or a space; by default there is none.
    #[must_use]
    pub fn thousands(mut self, sign: char) -> Self {
        self.log = self.log.thousands(sign);
        self
    }

    /// Skips up to this many bad rows; by default the first one is an error.
    #[must_use]
    pub fn skip_bad_rows(mut self, rows: u64) -> Self {
        self.log = self.log.skip_bad_rows(rows);
        self
    }

    /// Resumes a model: the result is that of one pass over all rows. A learner and a stream continue where they stopped; a model
    /// solved from files reads these again, which must be unchanged. Options that are set must have the model's values.
    #[must_use]
    pub fn resume(mut self, model: Model) -> Self {
        self.resumed = Some(model);
        self
    }

    /// Leaves out the comparison of returns with predicted values.
    #[must_use]
    pub fn no_check(mut self) -> Self {
        self.check = false;
        self
    }

    /// Also solves for the variance of the return, for up to 4,000 features: [`Fit::return_variance`].
    #[must_use]
    pub fn return_variance(mut self) -> Self {
        self.request.variance = true;
        self
    }

    /// The column that names clusters, such as users or machines, whose rows may depend on each other; the episode by default.
    #[must_use]
    pub fn cluster(mut self, column: impl Into<String>) -> Self {
        self.log = self.log.cluster(column);
        self
    }

    /// The number of threads; 0, the default, means one per CPU. The result does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Counts the rows that are read, in all passes, and stops the evaluation soon after it is cancelled, with
    /// [`Error::Cancelled`].
    #[must_use]
    pub fn monitor(mut self, monitor: Monitor) -> Self {
        self.log = self.log.monitor(monitor);
        self
    }

    /// Sets when the model so far is passed to [`Evaluation::on_progress`].
    #[must_use]
    pub fn report_at(mut self, at: ReportAt) -> Self {
        self.report_at = Some(at);
        self
    }

    /// Sets a callback for progress.
    #[must_use]
    pub fn on_progress(mut self, listener: impl FnMut(Progress<'_>) + Send + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Sets the sizes in bytes and the times of the last change, in nanoseconds, of files that may not be on this machine yet; for
    /// [`run_in_parts`](Self::run_in_parts).
    #[must_use]
    pub fn known_files(mut self, files: impl IntoIterator<Item = (String, u64, u64)>) -> Self {
        self.log = self.log.known_files(files);
        self
    }

    /// Reads the files that a storage has from there, by ranges, instead of from this machine.
    #[must_use]
    pub fn storage(mut self, storage: Arc<dyn Storage>) -> Self {
        self.log = self.log.storage(storage);
        self
    }

    /// Learns from the log.
    ///
    /// # Errors
    /// When an option is out of range, missing, or differs from that of a resumed model; when the log cannot be read, or
    /// yields no transitions (unless a horizon is set for a learner: then it may be the first part of a longer log).
    pub fn run(mut self) -> Result<Fit> {
        let started = Instant::now();
        check_confidence(self.confidence)?;
        self.request.check()?;
        if self.request.passes > 1 && self.log.is_stream() {
            let option = OptionName::Passes;
            return Err(OptionError::ReadOnce { option }.into());
        }
        if let Some(learners) = self.learners {
            self.check_average(learners)?;
            let mut engine = Threads {
                threads: threads(self.threads),
                monitor: self.log.monitored().clone(),
                stores: self.log.stores().clone(),
            };
            return self.averaged(learners, &mut engine, started);
        }
        self.use_columns()?;
        if let Some(wanted) = &self.request.wanted {
            self.check_choice(wanted)?;
        }
        if self.request.variance {
            self.check_variance()?;
        }
        let mut fit = match self.resumed.take() {
            Some(Model::Averaged(_)) => {
                return Err(Error::Model {
                    message: "an average of learners cannot be resumed: no learner has seen all rows; evaluate all files again".into(),
                });
            }
            Some(Model::Solved(mut solved)) if solved.stream.is_some() => {
                resume::streamed(&self.request, &solved, &self.log)?;
                self.log.default_layout(&solved.read_as());
                let stream = solved.stream.take();
                self.follow(stream.map(|stream| *stream))?
            }
            Some(Model::Solved(solved)) if solved.origin.files.is_empty() => {
                return Err(Error::OriginInMemory);
            }
            Some(Model::Solved(_)) if self.log.is_stream() => {
                let option = OptionName::Resume;
                return Err(OptionError::ReadOnce { option }.into());
            }
            Some(Model::Solved(solved)) => {
                resume::solved(&mut self.request, &solved)?;
                self.log.default_layout(&solved.read_as());
                self.log.after(&solved.origin)?;
                self.solve()?
            }
            None if self.request.is_auto() && self.log.is_stream() => self.follow(None)?,
            None if self.request.is_auto() => self.solve()?,
            Some(Model::Learned(learned)) => {
                self.log.default_layout(&learned.read_as());
                self.step(Some(learned))?
            }
            None => self.step(None)?,
        };
        fit.layout = ReadAs {
            inputs: fit.layout.inputs,
            ..self.log.layout_used()
        };
        fit.elapsed = started.elapsed();
        Ok(fit)
    }

    /// As [`run`](Self::run), with the work in parts that an engine computes, on whatever machines; the same bits.
    ///
    /// The first pass over the files, which fits the feature map and inspects the rows, is made in parts, too, unless bad rows may be skipped or
    /// the name of an episode occurs again in a file after rows of others; then it is made here.
    ///
    /// # Errors
    /// As [`run`](Self::run), those of the engine, and [`Error::NotInParts`] for what is not computed in parts: a learner that steps (unless several are averaged), streams and tables,
    /// resumed models, a horizon, a choice among maps, the variance of the return, policies that were not followed, interleaved episodes, and
    /// sparse or more than 4,000 features.
    pub fn run_in_parts(mut self, engine: &mut dyn Engine) -> Result<Fit> {
        let started = Instant::now();
        check_confidence(self.confidence)?;
        self.request.check()?;
        if let Some(learners) = self.learners {
            self.check_average(learners)?;
            return self.averaged(learners, engine, started);
        }
        let refused = match &self.resumed {
            Some(_) => Some("with a resumed model"),
            None if !self.request.is_auto() => Some(
                "with an algorithm that steps through the log, unless the option learners asks for the average of several, which is another answer",
            ),
            None => None,
        };
        if let Some(what) = refused {
            return Err(Error::NotInParts { what: what.into() });
        }
        self.use_columns()?;
        let request = self.request.to_solve(self.check, self.threads)?;
        let Self { log, listener, .. } = &mut self;
        let solved = solved::solve_elsewhere(log, &request, engine, &mut |stage| {
            if let Some(listener) = listener {
                listener(stage.into());
            }
        })?;
        let mut fit = Fit::new(Model::Solved(Box::new(solved)), self.confidence)?;
        fit.layout = ReadAs {
            inputs: fit.layout.inputs,
            ..self.log.layout_used()
        };
        fit.elapsed = started.elapsed();
        Ok(fit)
    }

    /// Reads the columns that the feature maps name.
    fn use_columns(&mut self) -> Result<()> {
        let mut specs: Vec<&str> = self.request.features.iter().map(String::as_str).collect();
        if let Some(wanted) = &self.request.wanted {
            specs.extend(wanted.specs.iter().map(String::as_str));
        }
        match specs.is_empty() {
            true => Ok(()),
            false => self.log.use_columns_of(&specs),
        }
    }

    /// Learns from the log for each of several discounts: the same answers, to the bit, as one evaluation for each, but the log is read,
    /// checked and turned into features for all of them together (with a direct solution, which is that of up to 4,000 features).
    ///
    /// A discount that was set before is ignored.
    ///
    /// # Errors
    /// As [`Evaluation::run`]; and for a stream, a learner, a resumed model, and more than 64 discounts.
    pub fn run_each(mut self, discounts: &[f64]) -> Result<Vec<Fit>> {
        let started = Instant::now();
        check_confidence(self.confidence)?;
        for &discount in discounts {
            self.request.discount = Some(discount);
            self.request.check()?;
        }
        if self.learners.is_some() {
            return Err(Error::NotAveraged {
                what: "for several discounts at once".into(),
            });
        }
        self.check_discounts(discounts)?;
        self.use_columns()?;
        if let Some(wanted) = &self.request.wanted {
            self.check_choice(wanted)?;
        }
        if self.request.variance {
            self.check_variance()?;
        }
        let request = self.request.to_solve(self.check, self.threads)?;
        let Self { log, listener, .. } = &mut self;
        let all = solved::solve_each(log, &request, discounts, &mut |stage| {
            if let Some(listener) = listener {
                listener(stage.into());
            }
        })?;
        let (layout, elapsed) = (self.log.layout_used(), started.elapsed());
        let fits = all.into_iter().map(|solved| {
            let mut fit = Fit::new(Model::Solved(Box::new(solved)), self.confidence)?;
            fit.layout = ReadAs {
                inputs: fit.layout.inputs,
                ..layout.clone()
            };
            fit.elapsed = elapsed;
            Ok(fit)
        });
        fits.collect()
    }

    /// Several discounts need an answer that is solved for from files.
    fn check_discounts(&self, discounts: &[f64]) -> Result<()> {
        let option = OptionName::Discount;
        let value = || {
            let all: Vec<String> = discounts.iter().map(f64::to_string).collect();
            all.join(", ")
        };
        Err(match &self.resumed {
            _ if discounts.is_empty() => OptionError::Missing {
                option,
                why: "gamma, from 0 to 1".into(),
            },
            _ if discounts.len() > MOST_DISCOUNTS => OptionError::Range {
                option,
                value: format!("a list of {}", discounts.len()),
                expected: format!("at most {MOST_DISCOUNTS} values"),
            },
            Some(model) => OptionError::Differs {
                option,
                given: value(),
                own: model.discount().to_string(),
            },
            None if !self.request.is_auto() => OptionError::Range {
                option,
                value: value(),
                expected: "one value for a learner; only the algorithm auto takes several".into(),
            },
            None if self.log.is_stream() => OptionError::ReadOnce { option },
            None => return Ok(()),
        }
        .into())
    }

    /// The variance of the return needs the value first, so that the log is read again.
    fn check_variance(&self) -> Result<()> {
        let option = OptionName::ReturnVariance;
        let learner = match &self.resumed {
            Some(model) => matches!(model, Model::Learned(_)),
            None => !self.request.is_auto(),
        };
        Err(match learner {
            true => OptionError::Needs {
                option,
                other: OptionName::Algorithm,
                value: registry::FOR_LOGS,
                why: "learners estimate values only".into(),
            },
            false if self.log.is_stream() => OptionError::ReadOnce { option },
            false => return Ok(()),
        }
        .into())
    }

    /// Feature maps can be compared only by solving a log that can be read several times.
    fn check_choice(&self, wanted: &Wanted) -> Result<()> {
        let option = OptionName::Features;
        Err(match &self.resumed {
            Some(model) => OptionError::Differs {
                option,
                given: wanted.text(),
                own: model.features().spec().into(),
            },
            None if !self.request.is_auto() => OptionError::Range {
                option,
                value: wanted.text(),
                expected: "one map for a learner; only the algorithm auto compares maps".into(),
            },
            None if self.log.is_stream() => OptionError::ReadOnce { option },
            None => return Ok(()),
        }
        .into())
    }

    /// Solves for the TD fixed point of the files.
    fn solve(&mut self) -> Result<Fit> {
        let request = self.request.to_solve(self.check, self.threads)?;
        let Self { log, listener, .. } = self;
        let solved = solved::solve(log, &request, &mut |stage| {
            if let Some(listener) = listener {
                listener(stage.into());
            }
        })?;
        Fit::new(Model::Solved(Box::new(solved)), self.confidence)
    }

    /// Steps through the log with a learner.
    fn step(&mut self, resumed: Option<Box<Learned>>) -> Result<Fit> {
        if self.log.has_clusters() {
            return Err(OptionError::Needs {
                option: OptionName::Cluster,
                other: OptionName::Algorithm,
                value: registry::FOR_LOGS,
                why: "other algorithms have no intervals by cluster".into(),
            }
            .into());
        }
        let (mut learning, report) = match resumed {
            Some(mut learned) => {
                resume::check(&self.request, &learned)?;
                if !self.log.is_stream() {
                    learned.expect_file();
                }
                (Learning::Under(learned), None)
            }
            None => self.prepare()?,
        };
        let mut warnings = Vec::new();
        let bad_rows = self.learn(&mut learning, &mut warnings)?;
        let Learning::Under(learned) = learning else {
            return Err(Error::NoInput {
                what: "the input contains no usable rows",
            });
        };
        let learned = match &report {
            Some(report) => self.assess(*learned, report)?,
            None => *learned,
        };
        let mut fit = Fit::new(Model::Learned(Box::new(learned)), self.confidence)?;
        fit.bad_rows = bad_rows;
        fit.findings = report.map_or(Vec::new(), |report| report.findings);
        fit.log_warnings = warnings;
        Ok(fit)
    }

    /// Assesses the answer of a learner on the files that it learned from.
    fn assess(&mut self, learned: Learned, report: &DataReport) -> Result<Learned> {
        let map = learned.features();
        // With traces, emphasis or a regulariser the answer solves other equations.
        let learner = learned.learner();
        let method = registry::find(learner.id())?;
        let parameter = |name: &str| learned.parameters().get(name).copied();
        if map.adapts() || !method.solves_td0(parameter) {
            return Ok(learned);
        }
        let plan = Plan {
            map,
            discount: learner.discount(),
            unit: Unit::Time,
            episodic: report.has_episodes(),
            interleaved: report.episodes.resumed > 0,
            transitions: report.transitions,
            holds_out: false,
            checks: self.check,
            threads: threads(self.threads),
            limit: self.request.horizon,
        };
        let mut replay = Replay::new(&mut self.log, plan.threads);
        let weighs = learner.abilities().ratios;
        let checks = self.check && !(report.schema.ratio && weighs);
        let found = assess(
            &mut replay,
            &plan,
            &learner.value_function(),
            checks,
            weighs,
        )?;
        Ok(learned.with_assessment(found))
    }

    fn tell(&mut self, progress: Progress<'_>) {
        if let Some(listener) = &mut self.listener {
            listener(progress);
        }
    }
}
