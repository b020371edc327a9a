//! Reports what is proved about Algorithm 1 for a problem and a horizon.

mod table;
mod verdict;

use clap::Args;

use crate::failure::Failure;
use crate::problem_argument::ProblemArgument;
use crate::{count, float, output};

/// Compute proved error bounds for a problem, a horizon and a step size constant
#[derive(Debug, Args)]
#[command(after_help = "\
Certificates, each a bound on E f(avg_T):
  P  the paper's Theorem 1 and Corollary 1 with explicit constants; needs
     c > c_0 and a long horizon
  X  the same induction without rounding, at the best lag; any c, any horizon
  Y  the induction centred at theta*; the sharpest for Algorithm 1
  C  a tuned constant step in closed form; needs the mixing time, ignores --c

Examples:
  robust-td certify paper-ring --horizon 10000000 --c 50
  robust-td certify two-state --set epsilon=0.01 --horizon 1e6
  robust-td certify my-problem.toml --horizon 1e6 --json

`robust-td problems --help` describes problem files.")]
pub struct Arguments {
    #[command(flatten)]
    problem: ProblemArgument,

    /// Horizon T, an integer >= 3 such as 10000000, 1e7 or 10_000_000
    #[arg(long, value_name = "T", value_parser = count::horizon, allow_negative_numbers = true)]
    horizon: u64,

    /// Step size constant c [default: the one that minimises certificate Y]
    #[arg(long, value_name = "C", value_parser = float::positive, allow_negative_numbers = true)]
    c: Option<f64>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let problem = arguments.problem.load()?;
    let certification = problem
        .certify(arguments.horizon, arguments.c)
        .map_err(|error| Failure::Run(format!("{}: {error}", arguments.problem.name)))?;
    if arguments.json {
        return output::print_json(&certification.report());
    }
    let longer = certification.sufficient_horizon(&problem);
    let name = &arguments.problem.name;
    output::print(&table::page(name, &certification, longer))
}
