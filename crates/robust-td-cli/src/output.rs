//! Writes to standard output and stops quietly when the pipe is closed.

use std::io::{self, Write};
use std::path::Path;

use robust_td_data::files;
use serde::Serialize;

use crate::failure::Failure;
use crate::message;

/// Prints a page; control characters of names in it are escaped.
pub fn print(text: &str) -> Result<(), Failure> {
    write(&message::escaped(text))
}

/// Writes a text; a closed pipe (`robust-td ... | head`) is not an error.
fn write(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    checked(stdout.write_all(text.as_bytes())).and_then(|()| checked(stdout.flush()))
}

/// Prints help or the version.
pub fn print_help(help: &clap::Error) -> Result<(), Failure> {
    checked(help.print().and_then(|()| io::stdout().flush()))
}

/// The failure to write to standard output, unless the pipe was closed.
fn checked(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Run(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Prints one JSON value on one line: floats in their shortest form that reads back, non-finite ones as null.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string(value)
        .map_err(|error| Failure::Run(format!("cannot write JSON: {error}")))?;
    text.push('\n');
    write(&text)
}

/// Checks up front that a file can be written; a name that cannot be is a usage error, whatever the system's reason.
pub fn check_file(path: &Path) -> Result<(), Failure> {
    files::check_writable(path).map_err(|error| Failure::Usage(error.to_string()))
}
