//! Runs the command `robust-td` inside the interpreter, for the package's console script.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with the arguments after its name; returns the exit code.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| robust_td_cli::main(arguments))
}
