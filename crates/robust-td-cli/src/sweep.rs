//! Runs sweeps over the step size constant: the user's own and the paper's.

use std::path::{Path, PathBuf};

use clap::Args;
use robust_td::sweep::SweepCollection;
use robust_td::{Experiment, Sweep};

use crate::failure::Failure;
use crate::progress::{self, Bar};
use crate::{count, machine, resume, stop, text, wrong_file};

/// Thread, kernel and resume options; they do not change the results.
#[derive(Debug, Clone, Args)]
pub struct Machine {
    #[command(flatten)]
    machine: machine::Machine,

    /// Continue from the checkpoint in the output directory, if there is one
    #[arg(long)]
    resume: bool,
}

/// Sweep the step size constant c on your own problem
#[derive(Debug, Args)]
#[command(after_help = "\
A spec is a TOML file:
  problem = \"two-state\"     # catalog name, or problem file next to the spec
  c = { from = 1e-4, to = 1e2, per_decade = 6 }   # or a list, or \"paper\"
  steps = 1_000_000         # the horizon T
Optional keys:
  title = \"...\"             # of the figure
  set = { epsilon = 0.1 }   # parameters of a catalog problem
  schedule = \"decaying\"     # default; or \"constant\", or \"plain\": c is the step
                            # size itself; or a list, one figure each; or
                            # those of the authors' later experiments: theory,
                            # theory_log2, inv_t, inv_sqrt_t, inv_t_2_3,
                            # inv_omega_t, constant_omega, inv_c
  projection = \"none\"       # default; or \"oracle\" (radius |theta*|), or
                            # \"upper\" (a known bound); or a list
  scales = [1]              # default; feature scalings: <= 1 scales only
                            # feature 0, > 1 all features
  mode = \"algorithm\"        # default; or \"exact\", or \"published\", or \"tdx\",
                            # the authors' later engine to the digit
  simulate = 100_000        # stop earlier; default: steps
  runs = 48                 # default
  seed = 1                  # default; only in mode \"algorithm\"
  indexing = \"algorithm\"    # default; or \"published\"; only in mode \"exact\"
  curve_points_per_decade = 10   # default

With a list of cases instead of problem and set, every problem is swept:
  cases = [{ problem = \"e1\", set = { eps2 = 1e-4 } }, { problem = \"e10\" }]

experiments/figure1.toml and experiments/figure2.toml are the paper's figures,
experiments/families.toml is the authors' study of 44 problems.

Examples:
  robust-td sweep experiments/figure1.toml --out out/figure1
  robust-td sweep my-sweep.toml --threads 2 --resume
  robust-td sweep experiments/families.toml --steps 1e8 --out out/families

DIR gets results.csv, curves.csv, one figure per schedule (SVG and PNG),
report.html and manifest.json; with cases results.csv, summary.csv, cases.csv,
report.html and a folder per case.")]
pub struct Arguments {
    /// The spec, a TOML file
    #[arg(value_name = "SPEC")]
    spec: PathBuf,

    /// Output directory
    #[arg(long, value_name = "DIR", default_value = "out/sweep")]
    out: PathBuf,

    /// Horizon T instead of the spec's
    #[arg(long, value_name = "T", value_parser = count::parse)]
    steps: Option<u64>,

    /// Number of runs instead of the spec's
    #[arg(long, value_name = "N", value_parser = count::parse)]
    runs: Option<u64>,

    #[command(flatten)]
    machine: Machine,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.spec;
    if let Some(collection) = SweepCollection::load(path)? {
        return run_collection(collection, arguments);
    }
    let mut sweep = Sweep::load(path).map_err(|error| {
        let other = Experiment::load(path).is_ok().then_some("experiment");
        wrong_file::spec_failure(path, error, other)
    })?;
    if let Some(steps) = arguments.steps {
        sweep = sweep.horizon(steps);
    }
    if let Some(runs) = arguments.runs {
        sweep = sweep.runs(runs);
    }
    run_and_write(sweep, &arguments.machine, &arguments.out)
}

/// Runs the sweeps of a collection and writes their results.
fn run_collection(
    mut collection: SweepCollection<'_>,
    arguments: &Arguments,
) -> Result<(), Failure> {
    if let Some(steps) = arguments.steps {
        collection = collection.horizon(steps);
    }
    if let Some(runs) = arguments.runs {
        collection = collection.runs(runs);
    }
    let kernel = arguments.machine.machine.kernel()?;
    let out = &arguments.out;
    let _lock = robust_td_data::files::open(out)?;
    let stop = stop::catch();
    let bar = Bar::new("cases");
    let results = collection
        .cancel(stop.flag())
        .command(crate::command_line())
        .threads(arguments.machine.machine.threads())
        .kernel(kernel)
        .resume(arguments.machine.resume)
        // In thousandths of a case.
        .progress(|case, cases, progress| {
            let share = 1000.0 * progress.done as f64 / progress.total.max(1) as f64;
            bar.show(1000 * case as u64 + share as u64, 1000 * cases as u64);
        })
        .run(out)
        .map_err(|error| resume::with_remedy(error, out))?;
    stop.wait();
    drop(bar);
    progress::finish(&format!(
        "{} cases, {} lane-steps in {:.1} s ({} per second); see {}",
        results.cases().len(),
        text::number(results.computed() as f64),
        results.seconds(),
        text::number(results.computed() as f64 / results.seconds()),
        arguments.out.join("report.html").display()
    ));
    Ok(())
}

/// Runs a sweep and writes its results.
pub fn run_and_write(sweep: Sweep<'_>, machine: &Machine, out: &Path) -> Result<(), Failure> {
    let kernel = machine.machine.kernel()?;
    // Held until the results are written: the checkpoint and they belong together.
    let _lock = robust_td_data::files::open(out)?;
    let stop = stop::catch();
    let bar = Bar::new("lane-steps");
    let results = sweep
        .cancel(stop.flag())
        .command(crate::command_line())
        .threads(machine.machine.threads())
        .kernel(kernel)
        .checkpoint(out)
        .resume(machine.resume)
        .progress(|progress| bar.show(progress.done, progress.total))
        .run()
        .map_err(|error| resume::with_remedy(error, out))?;
    stop.wait();
    drop(bar);
    results.write(out)?;
    let execution = results.execution();
    progress::finish(&format!(
        "{} lane-steps in {:.1} s with {} threads ({}); see {}",
        text::number(execution.lane_steps as f64),
        execution.seconds,
        execution.threads,
        execution.kernel,
        out.join("report.html").display()
    ));
    Ok(())
}
