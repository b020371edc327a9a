//! Writes the files of an experiment.

use std::path::Path;

use robust_td_data::files;

use super::{ExperimentResults, figure, page, rows};
use crate::contest::figure::DPI;
use crate::error::{Error, Result};

/// Writes all files of an experiment into `directory`.
pub fn write(results: &ExperimentResults, directory: &Path) -> Result<()> {
    files::create_directory(directory)?;
    let text = |name: &str, text: String| files::write(directory, name, text.as_bytes());
    text("results.csv", rows::results_csv(results))?;
    let mut drawings = Vec::new();
    if results.plan.varies() {
        drawings.push(("figure", figure::results(results)));
    }
    if !results.splits.is_empty() {
        text("agents.csv", rows::agents_csv(results))?;
        drawings.push(("agents", figure::agents(results)));
    }
    let mut figures = Vec::new();
    for (name, figure) in drawings {
        let drawing = figure.draw()?;
        text(&format!("{name}.svg"), drawing.to_svg())?;
        files::write(directory, &format!("{name}.png"), &drawing.to_png(DPI)?)?;
        figures.push((name, drawing));
    }
    text("report.html", page::page(results, figures).to_html()?)?;
    let manifest =
        serde_json::to_string_pretty(&page::manifest(results)).map_err(Error::Manifest)?;
    Ok(text("manifest.json", manifest + "\n")?)
}
