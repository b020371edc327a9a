//! Reports on a log without learning from it.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::refused;
use crate::evaluate::{LogArgument, Options};
use crate::job;

/// What `inspect --json` prints.
#[pyfunction]
pub fn inspect(
    py: Python<'_>,
    log: LogArgument<'_>,
    options: Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let log = log.log(&Options(options))?;
    let report = job::run(py, tell.as_ref(), |watch| {
        Ok(log.monitor(watch.monitor.clone()).inspect()?)
    })?;
    serde_json::to_string(&report).map_err(|error| refused(error.to_string()))
}
