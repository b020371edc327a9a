//! Writes the files of a comparison.

use std::path::Path;

use serde::Serialize;

use super::comparison::Comparison;
use super::{figure, json, page, rows};
use crate::contest::field::Skipped;
use crate::contest::figure::DPI;
use crate::failure::Failure;
use crate::files;
use robust_td_core::Constants;

/// What `manifest.json` says.
#[derive(Debug, Serialize)]
struct Manifest<'a> {
    version: &'static str,
    command: &'a str,
    problem: &'a str,
    #[serde(serialize_with = "json::settings")]
    set: &'a [(String, f64)],
    horizon: u64,
    runs: u64,
    seed: u64,
    algorithms: Vec<&'a str>,
    skipped: &'a [Skipped],
    problem_constants: Constants,
    seconds: f64,
    threads: usize,
    kernel: &'static str,
}

/// Writes all files of a comparison into `directory`.
pub fn write(comparison: &Comparison<'_>, command: &str, directory: &Path) -> Result<(), Failure> {
    files::create_directory(directory)?;
    let text = |name: &str, text: String| files::write(directory, name, text.as_bytes());
    text("compare.csv", rows::compare_csv(comparison))?;
    text("curves.csv", rows::curves_csv(comparison))?;
    let drawing = figure::figure(comparison).draw().map_err(run_failure)?;
    text("compare.svg", drawing.to_svg())?;
    let png = drawing.to_png(DPI).map_err(run_failure)?;
    files::write(directory, "compare.png", &png)?;
    let page = page::report(comparison, command, drawing);
    text("report.html", page.to_html().map_err(run_failure)?)?;
    let manifest = serde_json::to_string_pretty(&manifest(comparison, command));
    Ok(text(
        "manifest.json",
        manifest.map_err(run_failure)? + "\n",
    )?)
}

fn run_failure(error: impl std::fmt::Display) -> Failure {
    Failure::Run(error.to_string())
}

fn manifest<'a>(comparison: &'a Comparison<'a>, command: &'a str) -> Manifest<'a> {
    let labels = comparison.field.contestants.iter();
    Manifest {
        version: env!("CARGO_PKG_VERSION"),
        command,
        problem: comparison.name,
        set: comparison.settings,
        horizon: comparison.length.horizon,
        runs: comparison.length.runs,
        seed: comparison.length.seed,
        algorithms: labels.map(|contestant| contestant.label.as_str()).collect(),
        skipped: &comparison.field.skipped,
        problem_constants: Constants::new(comparison.problem, comparison.mixing),
        seconds: comparison.outcome.seconds,
        threads: comparison.threads,
        kernel: comparison.kernel,
    }
}
