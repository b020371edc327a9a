//! Evaluates a log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use robust_td_data::{
    ColumnMap, Engine, Evaluation, Format, Log, Model, Monitor, Preset, Progress, Storage, Tasks,
};

use crate::error::{raised, refused};
use crate::fit::Fit;
use crate::job::{self, Watch};
use crate::table::Table;

/// What the package passes for a log: paths and patterns, or a table.
#[derive(FromPyObject)]
pub enum LogArgument<'py> {
    Table(PyRef<'py, Table>),
    Paths(Vec<String>),
}

impl LogArgument<'_> {
    /// The log with its column names.
    pub fn log(&self, options: &Options<'_>) -> PyResult<Log> {
        let mut log = match self {
            Self::Table(table) => Log::table(table.inside.clone()),
            Self::Paths(paths) => Log::files(paths.iter().cloned()),
        };
        if log.is_stream() {
            return Err(refused(
                "standard input (\"-\"), pipes and devices can be read only once; only the command reads them",
            ));
        }
        if let Some(columns) = options.get::<Vec<String>>("columns")? {
            log = log.columns(ColumnMap::parse(columns).map_err(raised)?);
        }
        if let Some(layout) = options.get::<String>("layout")? {
            log = log.layout(layout.parse::<Preset>().map_err(raised)?);
        }
        if let Some(format) = options.get::<String>("format")? {
            log = log.format(format.parse::<Format>().map_err(raised)?);
        }
        if let Some(sign) = options.get::<char>("decimal")? {
            log = log.decimal(sign);
        }
        if let Some(sign) = options.get::<char>("thousands")? {
            log = log.thousands(sign);
        }
        if let Some(rows) = options.get("skip_bad_rows")? {
            log = log.skip_bad_rows(rows);
        }
        if let Some(column) = options.get::<String>("cluster")? {
            log = log.cluster(column);
        }
        Ok(log)
    }
}

/// Options by name; absent and `None` are the same.
pub struct Options<'py>(pub Bound<'py, PyDict>);

impl<'py> Options<'py> {
    /// The value of an option, if it is set.
    pub fn get<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        match self.0.get_item(name)? {
            Some(value) if !value.is_none() => value.extract::<T>().map(Some).map_err(|error| {
                let error: PyErr = error.into();
                refused(format!("{name}: {}", error.value(self.0.py())))
            }),
            _ => Ok(None),
        }
    }
}

/// Evaluates the policy of a log, for each of several discounts.
#[pyfunction]
pub fn evaluate_each(
    py: Python<'_>,
    log: LogArgument<'_>,
    discounts: Vec<f64>,
    options: Bound<'_, PyDict>,
    parameters: Vec<(String, f64)>,
    tell: Option<Py<PyAny>>,
) -> PyResult<Vec<Fit>> {
    let evaluation = evaluation(&log, &Options(options), parameters)?;
    let fits = job::run(py, tell.as_ref(), |watch| {
        Ok(watched(evaluation, watch).run_each(&discounts)?)
    })?;
    Ok(fits.into_iter().map(Fit::new).collect())
}

/// Evaluates the policy of a log.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    log: LogArgument<'_>,
    options: Bound<'_, PyDict>,
    parameters: Vec<(String, f64)>,
    tell: Option<Py<PyAny>>,
) -> PyResult<Fit> {
    let evaluation = evaluation(&log, &Options(options), parameters)?;
    let fit = job::run(py, tell.as_ref(), |watch| {
        Ok(watched(evaluation, watch).run()?)
    })?;
    if fit.steps() == 0 {
        return Err(raised(robust_td_data::Error::NoTransitions));
    }
    Ok(Fit::new(fit))
}

/// Whether the caller was interrupted.
#[pyclass(frozen, module = "robust_td._native")]
pub struct Stopped(Monitor);

#[pymethods]
impl Stopped {
    fn __call__(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// The tasks of a pass, made when they are asked for.
#[pyclass(frozen, sequence, module = "robust_td._native")]
pub struct LogTasks(Tasks);

#[pymethods]
impl LogTasks {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let task = self.0.get(index);
        let task = task.ok_or_else(|| PyIndexError::new_err("there is no such task"))?;
        Ok(PyBytes::new(py, &task))
    }
}

/// The sizes of files by their names, and a function of Python: `read(file, from, length)` returns bytes.
type StorageArgument = (HashMap<String, u64>, Py<PyAny>);

/// Files that a function of Python reads.
struct Ranges {
    sizes: HashMap<String, u64>,
    read: Py<PyAny>,
}

impl Storage for Ranges {
    fn length(&self, file: &str) -> Option<u64> {
        self.sizes.get(file).copied()
    }

    fn read(&self, file: &str, from: u64, length: u64) -> std::io::Result<Vec<u8>> {
        let called = Python::attach(|py| {
            let bytes = self.read.call1(py, (file, from, length))?;
            let bytes: PyBackedBytes = bytes.extract(py)?;
            PyResult::Ok(bytes.to_vec())
        });
        called.map_err(|error| {
            Python::attach(|py| std::io::Error::other(error.value(py).to_string()))
        })
    }
}

/// A function of Python that computes jobs: `run(name, description, tasks, stopped)` returns the merged state.
struct Calls<'a> {
    run: &'a Py<PyAny>,
    monitor: Monitor,
    /// What it raised.
    raised: Option<PyErr>,
}

impl Engine for Calls<'_> {
    fn run(
        &mut self,
        name: &'static str,
        description: Vec<u8>,
        tasks: Tasks,
    ) -> Result<Vec<u8>, robust_td_data::Error> {
        let called = Python::attach(|py| {
            let tasks = LogTasks(tasks);
            let description = PyBytes::new(py, &description);
            let stopped = Stopped(self.monitor.clone());
            let state = self.run.call1(py, (name, description, tasks, stopped))?;
            let state: PyBackedBytes = state.extract(py)?;
            PyResult::Ok(state.to_vec())
        });
        called.map_err(|error| self.failed(error))
    }
}

impl Calls<'_> {
    /// Remembers what Python raised.
    fn failed(&mut self, error: PyErr) -> robust_td_data::Error {
        let message = error.to_string();
        self.raised = Some(error);
        robust_td_data::Error::Executor { message }
    }
}

/// Evaluates the policy of a log in parts that a function computes.
#[pyfunction]
pub fn evaluate_in_parts(
    py: Python<'_>,
    log: LogArgument<'_>,
    options: Bound<'_, PyDict>,
    parameters: Vec<(String, f64)>,
    run: Py<PyAny>,
    storage: Option<StorageArgument>,
    known: Vec<(String, u64, u64)>,
) -> PyResult<Fit> {
    let mut evaluation = evaluation(&log, &Options(options), parameters)?.known_files(known);
    if let Some((sizes, read)) = storage {
        evaluation = evaluation.storage(Arc::new(Ranges { sizes, read }));
    }
    let failure = Mutex::new(None);
    let fit = job::run(py, None, |watch| {
        let mut engine = Calls {
            run: &run,
            monitor: watch.monitor.clone(),
            raised: None,
        };
        let fit = watched(evaluation, watch).run_in_parts(&mut engine);
        *failure.lock().unwrap_or_else(PoisonError::into_inner) = engine.raised;
        Ok(fit?)
    });
    let failure = failure.into_inner();
    match failure.unwrap_or_else(PoisonError::into_inner) {
        Some(error) if fit.is_err() => Err(error),
        _ => Ok(Fit::new(fit?)),
    }
}

/// The state of a task of an evaluation.
#[pyfunction]
#[pyo3(signature = (description, task, threads, storage = None))]
pub fn log_part<'py>(
    py: Python<'py>,
    description: PyBackedBytes,
    task: PyBackedBytes,
    threads: usize,
    storage: Option<StorageArgument>,
) -> PyResult<Bound<'py, PyBytes>> {
    let state = py.detach(|| match storage {
        None => robust_td_data::compute_task(&description, &task, threads),
        Some((sizes, read)) => {
            let storage = Arc::new(Ranges { sizes, read });
            robust_td_data::compute_stored(&description, &task, threads, storage)
        }
    });
    let state = state.map_err(raised)?;
    Ok(PyBytes::new(py, &state))
}

/// The files that a task of an evaluation reads.
#[pyfunction]
pub fn log_files(description: PyBackedBytes, task: PyBackedBytes) -> PyResult<Vec<String>> {
    robust_td_data::task_files(&description, &task).map_err(raised)
}

/// The merged state of consecutive tasks.
#[pyfunction]
pub fn log_merge<'py>(
    py: Python<'py>,
    description: PyBackedBytes,
    states: Vec<PyBackedBytes>,
) -> PyResult<Bound<'py, PyBytes>> {
    let states = states.iter().map(|state| &**state);
    let merged = py
        .detach(|| robust_td_data::merge_states(&description, states))
        .map_err(raised)?;
    Ok(PyBytes::new(py, &merged))
}

/// The evaluation with its options.
fn evaluation(
    log: &LogArgument<'_>,
    options: &Options<'_>,
    parameters: Vec<(String, f64)>,
) -> PyResult<Evaluation> {
    let mut evaluation = Evaluation::new(log.log(options)?);
    if let Some(discount) = options.get("discount")? {
        evaluation = evaluation.discount(discount);
    }
    evaluation = with_learner(evaluation, options, parameters)?;
    if let Some(specs) = options.get::<Vec<String>>("features")? {
        evaluation = evaluation.compare_features(specs);
    }
    if let Some(confidence) = options.get("confidence")? {
        evaluation = evaluation.confidence(confidence);
    }
    if let Some(passes) = options.get("passes")? {
        evaluation = evaluation.passes(passes);
    }
    if let Some(learners) = options.get("learners")? {
        evaluation = evaluation.learners(learners);
    }
    if let Some(replicates) = options.get("replicates")? {
        evaluation = evaluation.replicates(replicates);
    }
    if options.get("sandwich")? == Some(true) {
        evaluation = evaluation.sandwich();
    }
    if options.get("check")? == Some(false) {
        evaluation = evaluation.no_check();
    }
    if let Some(threads) = options.get("threads")? {
        evaluation = evaluation.threads(threads);
    }
    if let Some(model) = options.get::<String>("resume")? {
        evaluation = evaluation.resume(Model::load(model).map_err(raised)?);
    }
    if options.get("return_variance")? == Some(true) {
        evaluation = evaluation.return_variance();
    }
    Ok(evaluation)
}

/// The evaluation under watch.
fn watched(evaluation: Evaluation, watch: &Watch) -> Evaluation {
    let inside = watch.clone();
    evaluation
        .monitor(watch.monitor.clone())
        .on_progress(move |progress| {
            if let Some(message) = message(&progress) {
                inside.say(message);
            }
        })
}

/// The options that choose a learner, for logs and for streams.
pub fn with_learner(
    mut evaluation: Evaluation,
    options: &Options<'_>,
    parameters: Vec<(String, f64)>,
) -> PyResult<Evaluation> {
    if let Some(id) = options.get::<String>("algorithm")? {
        evaluation = evaluation.algorithm(id);
    }
    if options.get("c_auto")? == Some(true) {
        evaluation = evaluation.c_auto();
    } else if let Some(c) = options.get("c")? {
        evaluation = evaluation.c(c);
    }
    if let Some(horizon) = options.get("horizon")? {
        evaluation = evaluation.horizon(horizon);
    }
    if let Some(phi_inf) = options.get("phi_inf")? {
        evaluation = evaluation.phi_inf(phi_inf);
    }
    for (name, value) in parameters {
        evaluation = evaluation.parameter(name, value);
    }
    Ok(evaluation)
}

/// Progress in words, for the log.
fn message(progress: &Progress<'_>) -> Option<String> {
    match progress {
        Progress::Surveyed(report) => Some(format!(
            "{} rows, {} transitions, {} findings",
            report.rows,
            report.transitions,
            report.findings.len()
        )),
        Progress::Warning(warning) => Some(format!("warning: {warning}")),
        Progress::Product { passes, residual } => {
            Some(format!("pass {passes}: relative residual {residual:.1e}"))
        }
        Progress::Comparing {
            number,
            of,
            features,
        } => Some(format!("features {number} of {of}: {features}")),
        Progress::PassDone { steps } => Some(format!("{steps} transitions")),
        _ => None,
    }
}
