//! Sweeps the step size constant.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use robust_td::sweep::{Indexing, Job, Mode, SplitSweep, Sweep};
use robust_td::{Figures, Kernel};

use crate::error::{raised, refused};
use crate::evaluate::Options;
use crate::job;
use crate::problem::Problem;

/// The results of a sweep.
#[pyclass(frozen, module = "robust_td._native")]
pub struct SweepResults {
    inside: robust_td::SweepResults,
}

#[pymethods]
impl SweepResults {
    /// The text of `results.csv`.
    fn csv(&self) -> String {
        self.inside.to_csv()
    }

    /// The text of `curves.csv`.
    fn curves_csv(&self) -> String {
        self.inside.curves_to_csv()
    }

    /// The c above which every step size is mean-square stable, by schedule and scale.
    fn thresholds(&self, py: Python<'_>) -> Vec<Vec<Option<f64>>> {
        py.detach(|| self.inside.thresholds())
    }

    /// Writes what the command writes into its directory.
    fn write(&self, py: Python<'_>, directory: String) -> PyResult<()> {
        py.detach(|| self.inside.write(directory)).map_err(raised)
    }

    /// Kernel, threads, seconds, updates.
    #[getter]
    fn execution(&self) -> (&'static str, usize, f64, u64) {
        let found = self.inside.execution();
        (found.kernel, found.threads, found.seconds, found.lane_steps)
    }
}

/// Each of the names, or the refusal of the first that is unknown.
fn each<T>(
    names: &[String],
    named: fn(&str) -> Result<T, robust_td::sweep::SweepError>,
) -> PyResult<Vec<T>> {
    let found = names.iter().map(|name| named(name));
    let found: Result<_, _> = found.collect();
    found.map_err(|error| refused(error.to_string()))
}

/// The settings that sweeps and the reproduction share.
fn configured<'a>(mut sweep: Sweep<'a>, options: &Options<'_>) -> PyResult<Sweep<'a>> {
    if let Some(values) = options.get::<Vec<f64>>("c")? {
        sweep = sweep.constants(values);
    }
    if let Some(scales) = options.get::<Vec<f64>>("scales")? {
        sweep = sweep.scales(scales);
    }
    if let Some(mode) = options.get::<String>("mode")? {
        sweep = sweep.mode(match mode.as_str() {
            "published" => Mode::Published,
            "algorithm" => Mode::Algorithm,
            "exact" => Mode::Exact,
            "tdx" => Mode::Tdx,
            other => {
                return Err(refused(format!(
                    "mode is {other:?}, but must be \"published\", \"algorithm\", \"exact\" or \"tdx\""
                )));
            }
        });
    }
    if let Some(indexing) = options.get::<String>("indexing")? {
        sweep = sweep.indexing(match indexing.as_str() {
            "algorithm" => Indexing::Algorithm,
            "published" => Indexing::Published,
            other => {
                return Err(refused(format!(
                    "indexing is {other:?}, but must be \"algorithm\" or \"published\""
                )));
            }
        });
    }
    if let Some(horizon) = options.get("horizon")? {
        sweep = sweep.horizon(horizon);
    }
    if let Some(steps) = options.get("simulate")? {
        sweep = sweep.simulate(steps);
    }
    if let Some(runs) = options.get("runs")? {
        sweep = sweep.runs(runs);
    }
    if let Some(seed) = options.get("seed")? {
        sweep = sweep.seed(seed);
    }
    if let Some(points) = options.get("curve_points_per_decade")? {
        sweep = sweep.curve_points_per_decade(points);
    }
    if let Some(threads) = options.get("threads")? {
        sweep = sweep.threads(threads);
    }
    if let Some(kernel) = options.get::<String>("kernel")? {
        sweep = sweep.kernel(self::kernel(&kernel)?);
    }
    Ok(sweep)
}

/// The kernel of a name.
pub fn kernel(name: &str) -> PyResult<Kernel> {
    name.parse()
        .map_err(|error: <Kernel as std::str::FromStr>::Err| refused(error.to_string()))
}

fn run(py: Python<'_>, sweep: Sweep<'_>, tell: Option<Py<PyAny>>) -> PyResult<SweepResults> {
    let inside = job::run(py, tell.as_ref(), |watch| {
        let sweep = sweep.progress(|progress| watch.progress(progress));
        sweep.cancel(watch.monitor.flag()).run()
    })?;
    Ok(SweepResults { inside })
}

/// The sweep of a problem with its options.
fn requested(
    problem: &Problem,
    schedules: &[String],
    projections: &[String],
    options: Bound<'_, PyDict>,
) -> PyResult<Sweep<'static>> {
    let families = each(schedules, robust_td::sweep::schedule)?;
    let projections = each(projections, robust_td::sweep::projection)?;
    let sweep = Sweep::new(&problem.inside).name(&problem.name);
    let sweep = sweep.projections(projections).schedules(families);
    configured(sweep, &Options(options))
}

/// A description, and ranges of units.
type Described<'py> = (Bound<'py, PyBytes>, Vec<(usize, usize)>);

/// A sweep that is computed in parts.
#[pyclass(frozen, module = "robust_td._native")]
pub struct SweepJob {
    split: Mutex<Option<SplitSweep>>,
}

#[pymethods]
impl SweepJob {
    #[new]
    fn new(
        py: Python<'_>,
        problem: &Problem,
        schedules: Vec<String>,
        projections: Vec<String>,
        options: Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let sweep = requested(problem, &schedules, &projections, options)?;
        let split = py.detach(|| sweep.split()).map_err(raised)?;
        Ok(Self {
            split: Mutex::new(Some(split)),
        })
    }

    /// The description, to be sent to other machines, and the ranges of units that are the parts.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Described<'py>> {
        let split = self.split.lock().unwrap_or_else(PoisonError::into_inner);
        let job = split.as_ref().ok_or_else(finished)?.job();
        let parts = job.parts().into_iter();
        let parts = parts.map(|part| (part.start, part.end)).collect();
        Ok((PyBytes::new(py, job.description()), parts))
    }

    /// The results from the states of all parts, in order.
    fn finish(
        &self,
        py: Python<'_>,
        states: Vec<PyBackedBytes>,
        workers: usize,
        seconds: f64,
    ) -> PyResult<SweepResults> {
        let mut split = self.split.lock().unwrap_or_else(PoisonError::into_inner);
        let split = split.take().ok_or_else(finished)?;
        let elapsed = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let inside = py
            .detach(|| split.finish(states.iter().map(|state| &**state), workers, elapsed))
            .map_err(raised)?;
        Ok(SweepResults { inside })
    }
}

fn finished() -> PyErr {
    refused("the sweep is finished already")
}

/// The units of a sweep, on any machine.
#[pyclass(frozen, module = "robust_td._native")]
pub struct SweepUnits {
    inside: Job,
}

#[pymethods]
impl SweepUnits {
    #[new]
    fn new(py: Python<'_>, description: &[u8]) -> PyResult<Self> {
        let inside = py.detach(|| Job::read(description)).map_err(raised)?;
        Ok(Self { inside })
    }

    /// Computes a part on this number of threads.
    fn run<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        end: usize,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let state = job::run(py, None, |watch| {
            let options = robust_td::sweep::Options {
                threads,
                cancel: Some(watch.monitor.flag()),
                ..robust_td::sweep::Options::default()
            };
            Ok(self.inside.run(first..end, &options)?)
        })?;
        Ok(PyBytes::new(py, &state))
    }

    /// Joins the states of consecutive parts.
    fn join<'py>(
        &self,
        py: Python<'py>,
        states: Vec<PyBackedBytes>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let joined = py
            .detach(|| self.inside.join(states.iter().map(|state| &**state)))
            .map_err(raised)?;
        Ok(PyBytes::new(py, &joined))
    }
}

/// Sweeps c on a problem.
#[pyfunction]
pub fn sweep(
    py: Python<'_>,
    problem: &Problem,
    schedules: Vec<String>,
    projections: Vec<String>,
    options: Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<SweepResults> {
    let sweep = requested(problem, &schedules, &projections, options)?;
    run(py, sweep, tell)
}

/// Recomputes the paper's figures.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    which: &str,
    options: Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<SweepResults> {
    let figures = match which {
        "fig1" => Figures::First,
        "fig2" => Figures::Second,
        "all" => Figures::All,
        other => {
            return Err(refused(format!(
                "{other:?} is not a figure: use \"fig1\", \"fig2\" or \"all\""
            )));
        }
    };
    let sweep = robust_td::reproduce(figures).map_err(raised)?;
    run(py, configured(sweep, &Options(options))?, tell)
}

/// The paper's grid of c.
#[pyfunction]
pub fn paper_constants() -> Vec<f64> {
    robust_td::sweep::paper_constants()
}
