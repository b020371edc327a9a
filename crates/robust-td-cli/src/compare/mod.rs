//! Runs methods side by side on the same samples of a problem.

mod comparison;
mod figure;
mod json;
mod markdown;
mod outputs;
mod page;
mod rows;
mod table;

use std::path::PathBuf;

use clap::Args;
use comparison::Comparison;
use robust_td_core::Mixing;

use crate::contest::choice::{Choice, Wish};
use crate::contest::{field, run};
use crate::failure::Failure;
use crate::machine::Machine;
use crate::problem_argument::ProblemArgument;
use crate::{count, output, progress};

/// Run methods side by side on the same samples: what each must be told, whether it blows up, how good it is
#[derive(Debug, Args)]
#[command(after_help = "\
Run i of every method follows the same trajectory. A method is charged by samples of the
environment, those that it drops included. What a method must be told and nobody gives is taken
from the exact problem; what cannot be known in practice marks it as an oracle. f is that of the
method's own output, such as an average; f(0) is what doing nothing achieves.

Examples:
  robust-td compare two-state --horizon 1e6
  robust-td compare two-state --set epsilon=0.1 --algorithms alg1:c=0.1,bhandari-a --horizon 1e6
  robust-td compare paper-ring --horizon 1e6 --param radius=5 --param bhandari-c.omega=0.01
  robust-td compare my-problem.toml --horizon 1e5 --runs 100 --out out/compare
  robust-td compare two-state --horizon 1e6 --json

Of several settings the nearest wins: that of the entry, of --param ID.KEY, of --param KEY and --c.
`robust-td algorithms` lists the methods with their parameters. Files are written only with --out:
compare.csv, curves.csv, compare.svg, compare.png, report.html and manifest.json.")]
pub struct Arguments {
    #[command(flatten)]
    problem: ProblemArgument,

    /// The horizon T, samples per run: 1000000, 1e6 or 1_000_000
    #[arg(long, value_name = "T", value_parser = count::horizon, allow_negative_numbers = true)]
    horizon: u64,

    /// Independent runs of each method
    #[arg(long, value_name = "N", default_value = "48", value_parser = count::parse, allow_negative_numbers = true)]
    runs: u64,

    /// Methods, each with settings if you like (alg1:c=0.01); by default all that apply
    #[arg(long, value_name = "A,...", value_delimiter = ',', value_parser = Choice::parse)]
    algorithms: Option<Vec<Choice>>,

    /// Set a parameter of all methods that have it (KEY=VALUE) or of one (ID.KEY=VALUE); may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = Wish::parse)]
    wishes: Vec<Wish>,

    /// The constant c of all methods that have one; short for --param c=C
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    c: Option<f64>,

    /// Seed of the trajectories
    #[arg(
        long,
        value_name = "S",
        default_value_t = 1,
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

    /// Output directory; without it nothing is written
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Print a Markdown table, in the order of the methods
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    #[command(flatten)]
    machine: Machine,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let length = run::Length {
        horizon: arguments.horizon,
        runs: arguments.runs,
        seed: arguments.seed,
        points_per_decade: arguments.points_per_decade,
    };
    length.check().map_err(Failure::Usage)?;
    let kernel = arguments.machine.kernel()?;
    let problem = arguments.problem.load()?;
    let mixing = Mixing::of(problem.chain()).map_err(|error| Failure::Run(error.to_string()))?;
    let mixing = mixing.ok();
    let mut wishes = arguments.wishes.clone();
    wishes.extend(arguments.c.map(|c| Wish {
        id: None,
        name: "c".into(),
        value: c,
    }));
    let field = field::gather(
        &problem,
        mixing.as_ref(),
        length.horizon,
        arguments.algorithms.as_deref(),
        &wishes,
    )?;
    let outcome = run::run(&problem, &field.contestants, length, &arguments.machine)?;
    let comparison = Comparison {
        name: &arguments.problem.name,
        settings: &arguments.problem.settings,
        problem: &problem,
        mixing: mixing.as_ref(),
        length,
        field,
        outcome,
        threads: arguments.machine.threads(),
        kernel: kernel.name(),
    };
    if let Some(directory) = &arguments.out {
        outputs::write(&comparison, &crate::command_line(), directory)?;
    }
    if arguments.json {
        return output::print_json(&json::Report::new(&comparison));
    }
    if arguments.markdown {
        return output::print(&markdown::table(&comparison));
    }
    output::print(&table::page(&comparison))?;
    eprint!("{}", table::skipped(&comparison.field.skipped));
    if let Some(directory) = &arguments.out {
        let report = directory.join("report.html");
        progress::finish(&format!(
            "{:.1} s with {} threads ({}); see {}",
            comparison.outcome.seconds,
            comparison.threads,
            comparison.kernel,
            report.display()
        ));
    }
    Ok(())
}
