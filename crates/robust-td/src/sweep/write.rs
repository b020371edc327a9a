//! Writes the files of a sweep: tables, figures, page and manifest.

use std::path::Path;

use robust_td_core::Constants;
use robust_td_data::files::FileSet;
use robust_td_engine::{Family, Projection};
use robust_td_report::Drawing;
use serde::Serialize;

use super::figure;
use super::page::Findings;
use super::results::SweepResults;
use super::row::{curves_csv, results_csv};
use super::spec::Mode;
use super::study::Study;
use crate::error::{Error, Result};

/// Resolution of the PNG figures.
const DPI: f64 = 300.0;

/// The contents of `manifest.json`.
#[derive(Debug, Serialize)]
struct Manifest<'a> {
    version: &'static str,
    command: Option<&'a str>,
    mode: &'static str,
    problem: &'a str,
    steps: u64,
    simulate: u64,
    runs: Option<usize>,
    seeds: Seeds,
    problem_constants: Vec<ScaledConstants>,
    lane_steps: u64,
    seconds: f64,
    threads: usize,
    kernel: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Seeds {
    /// Derived from the bits of c and the run, as the authors did.
    Published,
    /// One stream per run.
    Seed(u64),
    /// Nothing is sampled.
    None,
}

/// The constants of one scaled problem.
#[derive(Debug, Serialize)]
struct ScaledConstants {
    scale: f64,
    #[serde(flatten)]
    constants: Constants,
}

impl SweepResults {
    /// Writes `results.csv`, `curves.csv`, `figure1.svg` and `.png` (one per schedule), `report.html` and `manifest.json` into
    /// `directory`, and removes the checkpoint of the sweep.
    ///
    /// All files are replaced together, or none. The directory is locked against other processes meanwhile.
    ///
    /// The page adds mean-square thresholds, exact expectations near the threshold and, after a sweep of the whole horizon,
    /// certificates.
    ///
    /// # Errors
    /// A file that cannot be written, and a directory that another process writes to.
    pub fn write(&self, directory: impl AsRef<Path>) -> Result<()> {
        let directory = directory.as_ref();
        let mut set = FileSet::new(directory)?;
        set.add(
            "results.csv",
            results_csv(&self.study, &self.rows).as_bytes(),
        )?;
        set.add("curves.csv", curves_csv(&self.rows).as_bytes())?;
        let findings = Findings::new(self)?;
        let mut drawings: Vec<Drawing> = Vec::new();
        for (place, figure) in self.study.figures.iter().enumerate() {
            let drawing = figure::figure(&findings, place).draw()?;
            let name = format!("figure{}", figure.number);
            set.add(&format!("{name}.svg"), drawing.to_svg().as_bytes())?;
            set.add(&format!("{name}.png"), &drawing.to_png(DPI)?)?;
            drawings.push(drawing);
        }
        let page = findings.page(drawings).to_html()?;
        set.add("report.html", page.as_bytes())?;
        let manifest =
            serde_json::to_string_pretty(&manifest(&findings)).map_err(Error::Manifest)?;
        set.add("manifest.json", (manifest + "\n").as_bytes())?;
        remove_other_figures(&self.study, &mut set);
        set.commit()?;
        if let Some(checkpoint) = &self.checkpoint {
            // The results are on disk; a checkpoint that is already gone is fine.
            let _ = std::fs::remove_file(checkpoint);
        }
        Ok(())
    }
}

/// The number of figures of the largest sweep: every schedule with every projection.
const MOST_FIGURES: usize = Family::ALL.len() * Projection::ALL.len();

/// Removes the figures of an earlier sweep that these results do not replace.
fn remove_other_figures(study: &Study, set: &mut FileSet) {
    let ours = |number: usize| study.figures.iter().any(|figure| figure.number == number);
    for number in (1..=MOST_FIGURES).filter(|&number| !ours(number)) {
        for kind in ["svg", "png"] {
            set.remove(format!("figure{number}.{kind}"));
        }
    }
}

fn manifest<'a>(findings: &Findings<'a>) -> Manifest<'a> {
    let (study, execution) = (findings.study, findings.execution);
    Manifest {
        version: env!("CARGO_PKG_VERSION"),
        command: findings.command,
        mode: study.mode.name(),
        problem: &study.problem_name,
        steps: study.steps,
        simulate: study.simulate,
        runs: (study.mode != Mode::Exact).then_some(study.runs),
        seeds: match study.mode {
            Mode::Published | Mode::Tdx => Seeds::Published,
            Mode::Algorithm => Seeds::Seed(study.seed),
            Mode::Exact => Seeds::None,
        },
        problem_constants: findings
            .constants()
            .map(|(scale, constants)| ScaledConstants { scale, constants })
            .collect(),
        lane_steps: execution.lane_steps,
        seconds: execution.seconds,
        threads: execution.threads,
        kernel: execution.kernel,
    }
}
