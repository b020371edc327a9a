//! Runs sweeps over the stepsize constant: the user's own, and through it the paper's.

mod execute;
mod outputs;
mod page;
mod printed;
mod row;
pub mod spec;
mod stability;
pub mod study;

use std::path::{Path, PathBuf};

use clap::Args;

pub use execute::Machine;
use study::Study;

use crate::failure::Failure;
use crate::{files, progress};

/// Sweep the stepsize constant c on your own problem
#[derive(Debug, Args)]
#[command(after_help = "\
A spec is a TOML file:
  problem = \"two-state\"          # a catalog name, or a problem file relative to the spec
  set = { epsilon = 0.1 }        # parameters of a catalog problem (optional)
  schedule = [\"decaying\", \"constant\"]   # or \"plain\": c is the stepsize itself
  scales = [0.0625, 1, 16]       # feature scalings: at most 1 feature 0 alone, above 1 all (optional)
  c = { from = 1e-4, to = 1e2, per_decade = 6 }   # or a list, or \"paper\"
  mode = \"algorithm\"             # or \"exact\", or \"published\"
  steps = 1_000_000              # the horizon T
  simulate = 100_000             # stop earlier (optional)
  runs = 48
  seed = 1

experiments/figure1.toml and experiments/figure2.toml are the paper's figures.

Examples:
  robust-td sweep experiments/figure1.toml --out out/figure1
  robust-td sweep my-sweep.toml --threads 2 --resume

DIR gets results.csv, curves.csv, one figure per schedule (SVG and PNG), report.html and manifest.json.")]
pub struct Arguments {
    /// The spec, a TOML file
    #[arg(value_name = "SPEC")]
    spec: PathBuf,

    /// Output directory
    #[arg(long, value_name = "DIR", default_value = "out/sweep")]
    out: PathBuf,

    #[command(flatten)]
    machine: Machine,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.spec;
    let spec = spec::Spec::read(path)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let study = Study::new(&[(1, spec)], directory)
        .map_err(|message| Failure::Usage(format!("{}: {message}", path.display())))?;
    run_study(&study, &arguments.machine, &arguments.out)
}

/// Runs a study and writes what it found.
pub fn run_study(study: &Study, machine: &Machine, out: &Path) -> Result<(), Failure> {
    machine.check()?;
    files::create_directory(out)?;
    let (rows, execution) = execute::execute(study, machine, out)?;
    let exact = execute::exact_near_threshold(study, &rows, machine)?;
    outputs::write(
        study,
        &rows,
        &exact,
        &execution,
        &crate::command_line(),
        out,
    )?;
    progress::finish(&format!(
        "{} lane-steps in {:.1} s with {} threads ({}); see {}",
        crate::text::number(execution.lane_steps as f64),
        execution.seconds,
        execution.threads,
        execution.kernel,
        out.join("report.html").display()
    ));
    Ok(())
}
