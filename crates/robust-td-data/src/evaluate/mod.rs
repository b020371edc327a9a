//! Evaluates the policy of a log: solves for the TD fixed point, or steps through the log with a learner; returns a [`Fit`].

mod averaging;
mod checks;
mod following;
mod learner_choice;
mod learning;
mod online;
pub(crate) mod request;
mod resume;
mod setup;

use std::fmt;
use std::time::Instant;

use crate::assess::assess;
use crate::elsewhere::Engine;
use crate::elsewhere::threads::Threads;
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::inspect::DataReport;
use crate::learned::Learned;
use crate::log::Log;
use crate::model::Model;
use crate::option_error::{OptionError, OptionName};
use crate::options::ReadAs;
use crate::replay::Replay;
use crate::solved::gather::Plan;
use crate::solved::{self, Stage, Unit};
use crate::start_value::StartValue;
use crate::warning::Warning;
use learning::Learning;
use request::{Request, check_confidence, threads};
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
