//! Runs an experiment: the same methods for each value of something that varies.

mod agents;
mod figure;
mod page;
mod plan;
mod rows;
mod spec;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use plan::Plan;
use robust_td_engine::contest::Score;

use crate::contest::{figure::DPI, run};
use crate::failure::Failure;
use crate::machine::Machine;
use crate::{files, output, progress, spec_file, text};

/// Run an experiment: the same methods for each value of a parameter or of the horizon
#[derive(Debug, Args)]
#[command(after_help = "\
A spec is a TOML file:
  title = \"Robust against fast\"        # optional
  question = \"Where do they cross?\"    # a sentence for the report (optional)
  problem = \"two-state\"                # a catalog name, or a problem file relative to the spec
  set = { alpha = 0.9 }                # fixed parameters of a catalog problem (optional)
  vary = { epsilon = [0.3, 0.1] }      # of the problem, or horizon, or of methods (c, \"alg1.c\")
  algorithms = [\"alg1:c=0.1\", \"bhandari-c\"]
  param = { c = 1 }                    # for all methods, or \"alg1.c\" for one (optional)
  horizon = 1_000_000                  # T
  runs = 48                            # (default)
  seed = 1                             # (default)
  show = \"f\"                           # in the figure: f, d_norm_sq, theta_error_sq,
                                       # max_mean_theta_norm_sq or projections
  agents = [1, 4, 16, 64]              # one-shot averaging over so many agents (optional)

Examples:
  robust-td experiment experiments/robust-vs-fast.toml
  robust-td experiment experiments/one-shot.toml --out out/one-shot

DIR gets results.csv, figure.svg, figure.png, report.html and manifest.json; with agents also
agents.csv and agents.svg, the exact split E f(mean of N outputs) = bias + spread / N.")]
pub struct Arguments {
    /// The spec, a TOML file
    #[arg(value_name = "SPEC")]
    spec: PathBuf,

    /// Output directory; by default out/ and the name of the spec
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Check the spec and say what would run, without running it
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    machine: Machine,
}

/// A finished experiment.
pub struct Findings<'a> {
    /// What was asked.
    pub plan: &'a Plan,
    /// The scores of each point's contestants.
    pub scores: Vec<Vec<Score>>,
    /// Bias and spread where agents were asked for.
    pub splits: Vec<agents::Split>,
    /// The command line.
    pub command: String,
    /// Wall time.
    pub seconds: f64,
    /// The threads that ran.
    pub threads: usize,
    /// The kernel that ran.
    pub kernel: &'static str,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.spec;
    let kernel = arguments.machine.kernel()?;
    let spec: spec::Spec =
        spec_file::read(path).map_err(|error| match robust_td::Sweep::load(path) {
            Ok(_) => Failure::Usage(format!(
                "{} describes a sweep: run it with `robust-td sweep`",
                path.display()
            )),
            Err(_) => error.into(),
        })?;
    let plan = Plan::new(spec, path.parent().unwrap_or(Path::new("")))
        .map_err(|message| Failure::Usage(format!("{}: {message}", path.display())))?;
    if arguments.check {
        return output::print(&format!(
            "{}: {} of {}\n",
            path.display(),
            text::count(plan.points.len(), "contest"),
            text::count(plan.spec.algorithms.len(), "method")
        ));
    }
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => Path::new("out").join(path.file_stem().unwrap_or_default()),
    };
    files::create_directory(&out)?;
    let start = Instant::now();
    let mut scores = Vec::with_capacity(plan.points.len());
    for point in &plan.points {
        if let Some(value) = point.value {
            progress::say(&format!("{} = {value}", plan.varied()));
        }
        let outcome = run::run(
            &point.problem,
            &point.contestants,
            point.length,
            &arguments.machine,
        )?;
        scores.push(outcome.scores);
    }
    let findings = Findings {
        splits: agents::splits(&plan, &scores),
        plan: &plan,
        scores,
        command: crate::command_line(),
        seconds: start.elapsed().as_secs_f64(),
        threads: arguments.machine.threads(),
        kernel: kernel.name(),
    };
    write(&findings, &out)?;
    progress::finish(&format!(
        "{:.1} s with {} threads ({}); see {}",
        findings.seconds,
        findings.threads,
        findings.kernel,
        out.join("report.html").display()
    ));
    Ok(())
}

/// Writes all files of an experiment.
fn write(findings: &Findings<'_>, directory: &Path) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Run(error.to_string());
    let text = |name: &str, text: String| files::write(directory, name, text.as_bytes());
    text("results.csv", rows::results_csv(findings))?;
    let mut drawings = Vec::new();
    if !findings.splits.is_empty() {
        text("agents.csv", rows::agents_csv(findings))?;
        drawings.push(("agents", figure::agents(findings)));
    }
    if findings.plan.varies() {
        drawings.insert(0, ("figure", figure::results(findings)));
    }
    let mut figures = Vec::new();
    for (name, figure) in drawings {
        let drawing = figure.draw().map_err(|error| failed(&error))?;
        text(&format!("{name}.svg"), drawing.to_svg())?;
        let png = drawing.to_png(DPI).map_err(|error| failed(&error))?;
        files::write(directory, &format!("{name}.png"), &png)?;
        figures.push((name, drawing));
    }
    let page = page::report(findings, figures).to_html();
    text("report.html", page.map_err(|error| failed(&error))?)?;
    let manifest = serde_json::to_string_pretty(&page::manifest(findings));
    text(
        "manifest.json",
        manifest.map_err(|error| failed(&error))? + "\n",
    )?;
    Ok(())
}
