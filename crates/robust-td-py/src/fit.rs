//! Shows a learned value function to Python.

use std::path::Path;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use robust_td_data::{Model, Predictions};

use crate::error::{raised, refused};
use crate::evaluate::{LogArgument, Options};
use crate::job;

/// A learned value function.
#[pyclass(frozen, module = "robust_td._native")]
pub struct Fit {
    inside: robust_td_data::Fit,
}

impl Fit {
    /// The fit of an evaluation.
    pub fn new(inside: robust_td_data::Fit) -> Self {
        Self { inside }
    }
}

/// Values, lower and upper ends, and a warning; the ends are empty where there are no intervals.
type Columns<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Option<String>,
);

#[pymethods]
impl Fit {
    #[staticmethod]
    fn load(py: Python<'_>, path: String) -> PyResult<Self> {
        let inside = py.detach(|| robust_td_data::Fit::load(path));
        Ok(Self::new(inside.map_err(raised)?))
    }

    fn save(&self, py: Python<'_>, path: String) -> PyResult<()> {
        py.detach(|| self.inside.save(path)).map_err(raised)
    }

    /// Restores what `__reduce__` saved.
    #[staticmethod]
    fn restore(model: &[u8], confidence: f64) -> PyResult<Self> {
        let text = std::str::from_utf8(model).map_err(|error| refused(error.to_string()))?;
        let model = Model::from_json(text).map_err(raised)?;
        let inside = robust_td_data::Fit::new(model, confidence).map_err(raised)?;
        Ok(Self::new(inside))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let text = self.inside.model().to_json().map_err(raised)?;
        let model = PyBytes::new(py, text.as_bytes());
        let state = (model, self.inside.confidence()).into_pyobject(py)?;
        Ok((py.get_type::<Self>().getattr("restore")?, state))
    }

    #[getter]
    fn algorithm(&self) -> &'static str {
        self.inside.algorithm()
    }

    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.inside.theta_bar())
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.inside.steps()
    }

    #[getter]
    fn converged(&self) -> Option<bool> {
        self.inside.converged()
    }

    #[getter]
    fn diverged(&self) -> bool {
        self.inside.diverged()
    }

    #[getter]
    fn confidence(&self) -> f64 {
        self.inside.confidence()
    }

    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.inside.feature_names()
    }

    /// The length of observations.
    #[getter]
    fn inputs(&self) -> usize {
        self.inside.model().features().inputs()
    }

    /// The names of the columns of an observation; empty if they have none.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let columns = self.inside.model().features().columns().iter();
        columns.map(|input| input.name.clone()).collect()
    }

    /// The actions, for a policy that was not followed; their weights follow the observation.
    #[getter]
    fn actions(&self) -> Vec<String> {
        self.inside.model().features().actions().to_vec()
    }

    /// Value, lower and upper end, number of starts.
    #[getter]
    fn start_value(&self) -> Option<(f64, f64, f64, u64)> {
        let found = self.inside.start_value()?;
        Some((found.value, found.lower, found.upper, found.starts))
    }

    /// Value, lower and upper end, number of episodes.
    #[getter]
    fn monte_carlo(&self) -> Option<(f64, f64, f64, u64)> {
        let found = self.inside.monte_carlo()?;
        Some((found.value, found.lower, found.upper, found.episodes))
    }

    #[getter]
    fn discount(&self) -> f64 {
        self.inside.model().discount()
    }

    /// Standard deviation of the return, lower and upper end, number of starts.
    #[getter]
    fn return_deviation(&self) -> Option<(f64, f64, f64, u64)> {
        let found = self.inside.return_variance()?;
        Some((
            found.standard_deviation,
            found.lower,
            found.upper,
            found.starts,
        ))
    }

    /// What `evaluate --json` prints.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.inside.report()).map_err(|error| refused(error.to_string()))
    }

    /// The page that `evaluate --report` writes.
    fn report(&self, py: Python<'_>, path: String) -> PyResult<()> {
        py.detach(|| {
            let page = robust_td::report::evaluation(&self.inside, None)?;
            robust_td::report::write(Path::new(&path), &page)
        })
        .map_err(raised)
    }

    /// The values of observations in an array.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        observations: PyReadonlyArray2<'py, f64>,
        intervals: bool,
    ) -> PyResult<Columns<'py>> {
        let rows = observations.as_slice()?;
        let found = job::run(py, None, |watch| {
            Ok(self.inside.predict_rows(rows, intervals, &watch.monitor)?)
        })?;
        Ok(columns(py, found))
    }

    /// The values of the rows of a log.
    fn predict_log<'py>(
        &self,
        py: Python<'py>,
        log: LogArgument<'py>,
        options: Bound<'py, PyDict>,
    ) -> PyResult<Columns<'py>> {
        let log = log.log(&Options(options))?;
        let found = job::run(py, None, |watch| {
            let log = log.monitor(watch.monitor.clone());
            Ok(self.inside.predict_log(log)?)
        })?;
        Ok(columns(py, found))
    }
}

/// What `evaluate --json` prints for several discounts.
#[pyfunction]
pub fn fits_json(fits: Vec<PyRef<'_, Fit>>) -> PyResult<String> {
    let reports: Vec<_> = fits.iter().map(|fit| fit.inside.report()).collect();
    let report = robust_td_data::DiscountsReport::new(reports);
    serde_json::to_string(&report).map_err(|error| refused(error.to_string()))
}

fn columns(py: Python<'_>, found: Predictions) -> Columns<'_> {
    (
        found.values.into_pyarray(py),
        found.lower.into_pyarray(py),
        found.upper.into_pyarray(py),
        found.unseen.map(|unseen| unseen.to_string()),
    )
}
