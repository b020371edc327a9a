//! The native part of the Python package `robust_td`: turns Python objects into those of the library, calls, and hands back.
//!
//! Long calls run on a thread of their own, without the interpreter's lock, while the calling thread watches for Ctrl-C
//! ([`job`]). Raw pointers are handled only in [`foreign`].

#![deny(unsafe_code)]

mod command;
mod compare;
mod error;
mod evaluate;
mod fit;
#[allow(unsafe_code)]
mod foreign;
mod inspect;
mod job;
mod online;
mod problem;
mod rows;
mod sweep;
mod table;
mod theory;

use pyo3::prelude::*;

/// The native part of `robust_td`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<table::Table>()?;
    module.add_class::<fit::Fit>()?;
    module.add_class::<problem::Problem>()?;
    module.add_class::<sweep::SweepJob>()?;
    module.add_class::<sweep::SweepResults>()?;
    module.add_class::<sweep::SweepUnits>()?;
    module.add_class::<compare::Comparison>()?;
    module.add_class::<online::OnlineTD>()?;
    module.add_function(wrap_pyfunction!(command::main, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::evaluate_each, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::evaluate_in_parts, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::log_part, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::log_files, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::log_merge, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fits_json, module)?)?;
    module.add_function(wrap_pyfunction!(inspect::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(problem::problem, module)?)?;
    module.add_function(wrap_pyfunction!(problem::catalog, module)?)?;
    module.add_function(wrap_pyfunction!(theory::certify, module)?)?;
    module.add_function(wrap_pyfunction!(theory::expectation, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::reproduce, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::paper_constants, module)?)?;
    module.add_function(wrap_pyfunction!(compare::compare, module)?)?;
    module.add_function(wrap_pyfunction!(online::algorithms, module)?)?;
    Ok(())
}
