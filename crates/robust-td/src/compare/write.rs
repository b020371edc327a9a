//! Writes the files of a comparison.

use std::path::Path;

use robust_td_core::Constants;
use robust_td_core::catalog::Setting;
use robust_td_data::files::FileSet;
use serde::Serialize;

use super::results::ComparisonResults;
use super::{figure, json, page, rows};
use crate::contest::field::Skipped;
use crate::contest::figure::DPI;
use crate::error::{Error, Result};

/// The contents of `manifest.json`.
#[derive(Debug, Serialize)]
struct Manifest<'a> {
    version: &'static str,
    command: &'a str,
    problem: &'a str,
    #[serde(serialize_with = "json::settings")]
    set: &'a [(String, Setting)],
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
pub fn write(comparison: &ComparisonResults, directory: &Path) -> Result<()> {
    let mut set = FileSet::new(directory)?;
    set.add("compare.csv", rows::compare_csv(comparison).as_bytes())?;
    set.add("curves.csv", rows::curves_csv(comparison).as_bytes())?;
    let drawing = figure::figure(comparison).draw()?;
    set.add("compare.svg", drawing.to_svg().as_bytes())?;
    set.add("compare.png", &drawing.to_png(DPI)?)?;
    let page = page::page(comparison, drawing).to_html()?;
    set.add("report.html", page.as_bytes())?;
    let manifest = serde_json::to_string_pretty(&manifest(comparison)).map_err(Error::Manifest)?;
    set.add("manifest.json", (manifest + "\n").as_bytes())?;
    set.commit()?;
    comparison.kept.remove();
    Ok(())
}

fn manifest(comparison: &ComparisonResults) -> Manifest<'_> {
    let labels = comparison.field.contestants.iter();
    Manifest {
        version: env!("CARGO_PKG_VERSION"),
        command: &comparison.command,
        problem: &comparison.name,
        set: &comparison.settings,
        horizon: comparison.length.horizon,
        runs: comparison.length.runs,
        seed: comparison.length.seed,
        algorithms: labels.map(|contestant| contestant.label.as_str()).collect(),
        skipped: &comparison.field.skipped,
        problem_constants: Constants::new(&comparison.problem, comparison.mixing.as_ref()),
        seconds: comparison.outcome.seconds,
        threads: comparison.threads,
        kernel: comparison.kernel,
    }
}
