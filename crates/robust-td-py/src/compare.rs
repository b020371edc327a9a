//! Compares methods on a problem.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use robust_td::ComparisonResults;

use crate::error::{raised, refused};
use crate::evaluate::Options;
use crate::job;
use crate::problem::Problem;
use crate::sweep::kernel;

/// A finished comparison.
#[pyclass(frozen, module = "robust_td._native")]
pub struct Comparison {
    inside: ComparisonResults,
}

#[pymethods]
impl Comparison {
    /// The text of `compare.csv`.
    fn csv(&self) -> String {
        self.inside.to_csv()
    }

    /// The text of `curves.csv`.
    fn curves_csv(&self) -> String {
        self.inside.curves_to_csv()
    }

    /// What `compare --json` prints.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.inside.report()).map_err(|error| refused(error.to_string()))
    }

    /// A Markdown table.
    fn markdown(&self) -> String {
        self.inside.to_markdown()
    }

    /// Writes what the command writes into its directory.
    fn write(&self, py: Python<'_>, directory: String) -> PyResult<()> {
        py.detach(|| self.inside.write(directory)).map_err(raised)
    }
}

/// Runs methods side by side.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    problem: &Problem,
    algorithms: Option<Vec<String>>,
    parameters: Vec<(String, f64)>,
    options: Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<Comparison> {
    let options = Options(options);
    let inside = problem.inside.clone();
    let mut comparison = robust_td::compare(&inside).name(&problem.name, &problem.settings);
    if let Some(algorithms) = algorithms {
        comparison = comparison.algorithms(algorithms);
    }
    for (key, value) in parameters {
        comparison = comparison.parameter(key, value);
    }
    if let Some(horizon) = options.get("horizon")? {
        comparison = comparison.horizon(horizon);
    }
    if let Some(runs) = options.get("runs")? {
        comparison = comparison.runs(runs);
    }
    if let Some(seed) = options.get("seed")? {
        comparison = comparison.seed(seed);
    }
    if let Some(points) = options.get("curve_points_per_decade")? {
        comparison = comparison.curve_points_per_decade(points);
    }
    if let Some(threads) = options.get("threads")? {
        comparison = comparison.threads(threads);
    }
    if let Some(name) = options.get::<String>("kernel")? {
        comparison = comparison.kernel(kernel(&name)?);
    }
    let inside = job::run(py, tell.as_ref(), |watch| {
        let comparison = comparison.progress(|progress| watch.progress(progress));
        comparison.cancel(watch.monitor.flag()).run()
    })?;
    Ok(Comparison { inside })
}
