//! Makes self-contained HTML pages: of an evaluation, and of a log.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("log.csv");
//! # let rows: String = (0..400).map(|t| format!("{},{}\n", t % 2, 1 - t % 2)).collect();
//! # std::fs::write(&file, format!("obs_0,reward\n{rows}"))?;
//! # let file = file.display().to_string();
//! # let page = folder.path().join("report.html");
//! let fit = robust_td::evaluate([file]).discount(0.9).run()?;
//! robust_td::report::write(&page, &robust_td::report::evaluation(&fit, None)?)?;
//! assert!(std::fs::read_to_string(&page)?.contains("Value of the policy"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advice;
mod answers;
mod data;
mod evaluation;
mod facts;
mod features;
mod histogram;
mod parts;
mod pictures;
mod policy;
mod weights;

use std::path::Path;

use robust_td_data::{DataReport, Fit, files};

use crate::error::Result;

#[doc(hidden)]
pub use parts::quoted;

/// The page of an evaluation: the value of the policy, what it rests on, and pictures.
///
/// `command` is the command line that made it, if there was one. A restored model and a stream have no pictures of values.
///
/// # Errors
/// When the page cannot be drawn, which would be a bug.
pub fn evaluation(fit: &Fit, command: Option<&str>) -> Result<String> {
    Ok(evaluation::document(fit, command)?.to_html()?)
}

/// The page of a log: its contents, and what looks wrong.
///
/// # Errors
/// As [`evaluation`].
pub fn data(report: &DataReport, command: Option<&str>) -> Result<String> {
    Ok(data::document(report, command)?.to_html()?)
}

/// Writes a page through a temporary file, so that no reader sees an incomplete one.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, page: &str) -> Result<()> {
    Ok(files::write_file(path, page.as_bytes())?)
}
