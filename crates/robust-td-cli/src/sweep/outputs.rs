//! Writes what a study found: tables, figures, report and manifest.

use std::path::Path;

use serde::Serialize;

use super::execute::{CHECKPOINT, Execution};
use super::page::{DPI, Findings};
use super::row::{Row, curves_csv, results_csv};
use super::spec::Mode;
use super::study::Study;
use crate::failure::Failure;
use crate::files;

/// What `manifest.json` says.
#[derive(Debug, Serialize)]
struct Manifest<'a> {
    version: &'static str,
    command: &'a str,
    mode: &'static str,
    problem: &'a str,
    steps: u64,
    simulate: u64,
    runs: Option<usize>,
    seeds: Seeds,
    problem_constants: Vec<Variant>,
    lane_steps: u64,
    seconds: f64,
    threads: usize,
    kernel: &'a str,
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

/// The constants of one problem of the study.
#[derive(Debug, Serialize)]
struct Variant {
    scale: f64,
    #[serde(flatten)]
    constants: robust_td_core::Constants,
}

/// Writes all files of a study into `directory` and removes its checkpoint.
pub fn write(
    study: &Study,
    rows: &[Row],
    exact: &[Row],
    execution: &Execution,
    command: &str,
    directory: &Path,
) -> Result<(), Failure> {
    files::write(
        directory,
        "results.csv",
        results_csv(study, rows).as_bytes(),
    )?;
    files::write(directory, "curves.csv", curves_csv(study, rows).as_bytes())?;
    let findings = Findings::new(study, rows, exact, execution, command);
    for (place, figure) in study.figures.iter().enumerate() {
        let drawing = findings.figure(place).draw().map_err(run_failure)?;
        let name = format!("figure{}", figure.number);
        files::write(
            directory,
            &format!("{name}.svg"),
            drawing.to_svg().as_bytes(),
        )?;
        let png = drawing.to_png(DPI).map_err(run_failure)?;
        files::write(directory, &format!("{name}.png"), &png)?;
    }
    let page = findings.report()?.to_html().map_err(run_failure)?;
    files::write(directory, "report.html", page.as_bytes())?;
    let mut manifest = serde_json::to_string_pretty(&manifest(&findings)).map_err(run_failure)?;
    manifest.push('\n');
    files::write(directory, "manifest.json", manifest.as_bytes())?;
    remove_other_figures(study, directory);
    // The results are on disk: the checkpoint has done its duty. One that is gone already is as good.
    let _ = std::fs::remove_file(directory.join(CHECKPOINT));
    Ok(())
}

/// Removes figures that an earlier study left behind and that these results do not belong to.
fn remove_other_figures(study: &Study, directory: &Path) {
    let ours = |number: usize| study.figures.iter().any(|figure| figure.number == number);
    for number in (1..=3).filter(|&number| !ours(number)) {
        for kind in ["svg", "png"] {
            // Most often there is none.
            let _ = std::fs::remove_file(directory.join(format!("figure{number}.{kind}")));
        }
    }
}

fn run_failure(error: impl std::fmt::Display) -> Failure {
    Failure::Run(error.to_string())
}

fn manifest<'a>(findings: &Findings<'a>) -> Manifest<'a> {
    let (study, execution, command) = (findings.study, findings.execution, findings.command);
    Manifest {
        version: env!("CARGO_PKG_VERSION"),
        command,
        mode: study.mode.name(),
        problem: &study.problem_name,
        steps: study.steps,
        simulate: study.simulate,
        runs: (study.mode != Mode::Exact).then_some(study.runs),
        seeds: match study.mode {
            Mode::Published => Seeds::Published,
            Mode::Algorithm => Seeds::Seed(study.seed),
            Mode::Exact => Seeds::None,
        },
        problem_constants: study
            .variants
            .iter()
            .enumerate()
            .map(|(place, variant)| Variant {
                scale: variant.scale,
                constants: findings.constants(place),
            })
            .collect(),
        lane_steps: execution.lane_steps,
        seconds: execution.seconds,
        threads: execution.threads,
        kernel: &execution.kernel,
    }
}
