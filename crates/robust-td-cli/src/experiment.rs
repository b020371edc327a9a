//! Runs an experiment: the same methods for each value of a parameter or of the horizon.

use std::path::{Path, PathBuf};

use clap::Args;
use robust_td::{Experiment, Sweep};

use crate::failure::Failure;
use crate::machine::Machine;
use crate::progress::{self, Bar};
use crate::{output, resume, stop, text, wrong_file};

/// Run the same methods for each value of a parameter or of the horizon
#[derive(Debug, Args)]
#[command(after_help = "\
A spec is a TOML file:
  problem = \"two-state\"              # catalog name, or file next to the spec
  algorithms = [\"alg1:c=0.1\", \"bhandari-c\"]
  horizon = 1_000_000                # T
Optional keys:
  title = \"Robust versus fast\"
  question = \"Where do they cross?\"  # a sentence for the report
  set = { alpha = 0.9 }              # parameters of a catalog problem
  vary = { epsilon = [0.3, 0.1] }    # of the problem or of methods (c,
                                     # \"alg1.c\"), or horizon
  param = { c = 1 }                  # for all methods, or \"alg1.c\" for one
  runs = 48                          # default
  seed = 1                           # default
  show = \"f\"                         # the figure, one of these or a list: f
                                     # (default), d_norm_sq, theta_error_sq,
                                     # max_mean_theta_norm_sq, projections,
                                     # bound (proved, on E f), comparison_bound
                                     # (of Bhandari et al., on d_norm_sq)
  against = \"one_minus\"             # draw against 1 - value, for discounts
  agents = [1, 4, 16, 64]            # one-shot averaging over N agents

Examples:
  robust-td experiment experiments/robust-vs-fast.toml
  robust-td experiment experiments/one-shot.toml --out out/one-shot
  robust-td experiment experiments/one-shot.toml --resume

DIR gets results.csv, figure.svg, figure.png, report.html and manifest.json;
with agents also agents.csv and agents.svg, the exact split
E f(mean of N outputs) = bias + spread / N.")]
pub struct Arguments {
    /// The spec, a TOML file
    #[arg(value_name = "SPEC")]
    spec: PathBuf,

    /// Output directory [default: out/ plus the name of the spec]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Continue from the checkpoint in the output directory, if there is one
    #[arg(long)]
    resume: bool,

    /// Check the spec and report what would run, without running it
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    machine: Machine,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = &arguments.spec;
    let kernel = arguments.machine.kernel()?;
    let experiment = Experiment::load(path).map_err(|error| {
        let other = Sweep::load(path).is_ok().then_some("sweep");
        wrong_file::spec_failure(path, error, other)
    })?;
    let plan = experiment.plan();
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
    // Held until the results are written: the checkpoint and they belong together.
    let _lock = robust_td_data::files::open(&out)?;
    let stop = stop::catch();
    let varied = plan.varied().to_string();
    let bar = Bar::new("samples");
    let results = experiment
        .threads(arguments.machine.threads())
        .kernel(kernel)
        .progress(|point, progress| {
            if let (0, Some(value)) = (progress.done, point.value) {
                bar.say(&format!("{varied} = {value}"));
            }
            bar.show(progress.done, progress.total);
        })
        .cancel(stop.flag())
        .checkpoint(&out)
        .resume(arguments.resume)
        .command(crate::command_line())
        .run();
    let results = results.map_err(|error| resume::with_remedy(error, &out))?;
    stop.wait();
    drop(bar);
    results.write(&out)?;
    progress::finish(&format!(
        "{:.1} s with {} threads ({}); see {}",
        results.seconds,
        results.threads,
        results.kernel,
        out.join("report.html").display()
    ));
    Ok(())
}
