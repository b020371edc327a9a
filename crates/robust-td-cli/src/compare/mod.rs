//! Runs methods side by side on the same samples of a problem.

mod table;

use std::path::PathBuf;

use clap::Args;
use robust_td::compare;
use robust_td::contest::{Choice, Override};

use crate::failure::Failure;
use crate::machine::Machine;
use crate::problem_argument::ProblemArgument;
use crate::progress::{self, Bar};
use crate::{count, float, message, output, resume, stop};

/// Compare methods on the same samples: required inputs, divergence and accuracy
#[derive(Debug, Args)]
#[command(after_help = "\
Run i of every method follows the same trajectory; dropped samples still count.
Inputs you omit are computed from the exact model; a method is marked as an
oracle if one of them cannot be known in practice. f is the error of the
method's own output, such as an average; f(0) is the error of theta = 0.

Examples:
  robust-td compare two-state --horizon 1e6
  robust-td compare two-state --horizon 1e6 --algorithms alg1:c=0.1,bhandari-a
  robust-td compare paper-ring --horizon 1e6 --param bhandari-c.omega=0.01
  robust-td compare my-problem.toml --horizon 1e5 --runs 100 --out out/compare
  robust-td compare two-state --horizon 1e9 --out out/long --resume
  robust-td compare two-state --horizon 1e6 --json

The most specific setting wins: that of the entry, then --param ID.KEY, then
--param KEY and --c. `robust-td algorithms` lists the methods with their
parameters. Files are written only with --out: compare.csv, curves.csv,
compare.svg, compare.png, report.html and manifest.json.")]
pub struct Arguments {
    #[command(flatten)]
    problem: ProblemArgument,

    /// Horizon T, the samples per run, such as 1000000, 1e6 or 1_000_000
    #[arg(long, value_name = "T", value_parser = count::horizon, allow_negative_numbers = true)]
    horizon: u64,

    /// Independent runs of each method
    #[arg(long, value_name = "N", default_value = "48", value_parser = count::parse, allow_negative_numbers = true)]
    runs: u64,

    /// Methods, optionally with settings (alg1:c=0.01) [default: all that apply]
    #[arg(long, value_name = "A,...", value_delimiter = ',', value_parser = Choice::parse)]
    algorithms: Option<Vec<Choice>>,

    /// Set a parameter of all methods that have it (KEY=VALUE) or of one (ID.KEY=VALUE); may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = Override::parse)]
    parameters: Vec<Override>,

    /// Step size constant c of all methods that have one; short for --param c=C
    #[arg(long, value_name = "C", value_parser = float::parse, allow_negative_numbers = true)]
    c: Option<f64>,

    /// Seed of the trajectories
    #[arg(
        long,
        value_name = "S",
        default_value = "1",
        value_parser = count::parse,
        allow_negative_numbers = true
    )]
    seed: u64,

    /// Points per decade of samples in the learning curves
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        allow_negative_numbers = true
    )]
    points_per_decade: u32,

    /// Output directory; no files are written without it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Continue from the checkpoint in the output directory, if there is one
    #[arg(long, requires = "out")]
    resume: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Print a Markdown table, with the methods in the order given
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    #[command(flatten)]
    machine: Machine,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let problem = arguments.problem.load()?;
    // Held until the results are written: the checkpoint and they belong together.
    let directory = arguments.out.as_deref();
    let _lock = directory.map(robust_td_data::files::open).transpose()?;
    let stop = stop::catch();
    let bar = Bar::new("samples");
    let mut comparison = compare(&problem)
        .name(&arguments.problem.name, &arguments.problem.settings)
        .horizon(arguments.horizon)
        .runs(arguments.runs)
        .seed(arguments.seed)
        .curve_points_per_decade(arguments.points_per_decade)
        .threads(arguments.machine.threads())
        .kernel(arguments.machine.kernel()?)
        .progress(|progress| bar.show(progress.done, progress.total))
        .cancel(stop.flag())
        .command(crate::command_line());
    if let Some(directory) = directory {
        comparison = comparison.checkpoint(directory).resume(arguments.resume);
    }
    if let Some(choices) = &arguments.algorithms {
        comparison = comparison.algorithms(choices.iter().map(|choice| &choice.label));
    }
    for parameter in &arguments.parameters {
        comparison = comparison.parameter(parameter.key(), parameter.value);
    }
    if let Some(c) = arguments.c {
        comparison = comparison.parameter("c", c);
    }
    let results = comparison.run();
    let results = results.map_err(|error| match directory {
        Some(directory) => resume::with_remedy(error, directory),
        None => {
            Failure::from(error).if_stopped("nothing was written; with --out it can be resumed")
        }
    })?;
    stop.wait();
    drop(bar);
    if let Some(directory) = &arguments.out {
        results.write(directory)?;
    }
    if arguments.json {
        return output::print_json(&results.report());
    }
    if arguments.markdown {
        return output::print(&results.to_markdown());
    }
    output::print(&table::page(&results))?;
    message::print_lines(&table::skipped(&results.field.skipped));
    if let Some(directory) = &arguments.out {
        let report = directory.join("report.html");
        progress::finish(&format!(
            "{:.1} s with {} threads ({}); see {}",
            results.outcome.seconds,
            results.threads,
            results.kernel,
            report.display()
        ));
    }
    Ok(())
}
