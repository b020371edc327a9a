//! Writes the files of an experiment.

use std::path::Path;

use robust_td_data::files::FileSet;

use super::{ExperimentResults, figure, page, rows};
use crate::contest::figure::DPI;
use crate::error::{Error, Result};

/// Writes all files of an experiment into `directory`.
pub fn write(results: &ExperimentResults, directory: &Path) -> Result<()> {
    let mut set = FileSet::new(directory)?;
    set.add("results.csv", rows::results_csv(results).as_bytes())?;
    let mut drawings = Vec::new();
    if results.plan.varies() {
        drawings.push(("figure", figure::results(results)));
    }
    if !results.splits.is_empty() {
        set.add("agents.csv", rows::agents_csv(results).as_bytes())?;
        drawings.push(("agents", figure::agents(results)));
    }
    // Those of an earlier experiment that these files do not replace.
    for name in ["figure.svg", "figure.png"] {
        if !results.plan.varies() {
            set.remove(name);
        }
    }
    for name in ["agents.csv", "agents.svg", "agents.png"] {
        if results.splits.is_empty() {
            set.remove(name);
        }
    }
    let mut figures = Vec::new();
    for (name, figure) in drawings {
        let drawing = figure.draw()?;
        set.add(&format!("{name}.svg"), drawing.to_svg().as_bytes())?;
        set.add(&format!("{name}.png"), &drawing.to_png(DPI)?)?;
        figures.push((name, drawing));
    }
    let page = page::page(results, figures).to_html()?;
    set.add("report.html", page.as_bytes())?;
    let manifest =
        serde_json::to_string_pretty(&page::manifest(results)).map_err(Error::Manifest)?;
    set.add("manifest.json", (manifest + "\n").as_bytes())?;
    set.commit()?;
    results.kept.remove();
    Ok(())
}
