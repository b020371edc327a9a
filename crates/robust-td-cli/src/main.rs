//! Runs the command `robust-td`.

#![forbid(unsafe_code)]

mod algorithms;
mod certify;
mod compare;
mod confidence;
mod constants;
mod count;
mod data_failure;
mod evaluate;
mod experiment;
mod failure;
mod float;
mod inspect;
mod log_argument;
mod machine;
mod output;
mod predict;
mod problem_argument;
mod problems;
mod progress;
mod report_argument;
mod reproduce;
mod sweep;
mod text;
mod wrong_file;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Policy evaluation by temporal-difference learning, without projection or tuning.
#[derive(Debug, Parser)]
#[command(
    name = "robust-td",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
#[command(after_help = "\
Examples:
  robust-td reproduce
  robust-td problems
  robust-td certify paper-ring --horizon 1e7 --c 50
  robust-td certify my-problem.toml --horizon 1e6 --json
  robust-td evaluate log.csv --discount 0.99 --out model.json
  robust-td compare two-state --horizon 1e6 --runs 48 --out out/compare

Exit codes: 0 success, 1 the run failed, 2 invalid arguments or input.")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Algorithms(algorithms::Arguments),
    Certify(certify::Arguments),
    Compare(compare::Arguments),
    Evaluate(Box<evaluate::Arguments>),
    Experiment(experiment::Arguments),
    Inspect(inspect::Arguments),
    Predict(predict::Arguments),
    Problems(problems::Arguments),
    Reproduce(reproduce::Arguments),
    Sweep(sweep::Arguments),
}

/// The command line for reports and manifests, without the path of the program.
fn command_line() -> String {
    let words = std::iter::once("robust-td".to_string()).chain(std::env::args().skip(1));
    let words: Vec<String> = words.map(|word| robust_td::report::quoted(&word)).collect();
    words.join(" ")
}

/// Suppresses the panic message when the data crate reports the panic as an error.
fn install_panic_hook() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !robust_td_data::panics_are_caught() {
            usual(panic);
        }
    }));
}

fn main() -> ExitCode {
    install_panic_hook();
    let done = match CommandLine::parse().command {
        Command::Algorithms(arguments) => algorithms::run(&arguments),
        Command::Certify(arguments) => certify::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Experiment(arguments) => experiment::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Problems(arguments) => problems::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            failure.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn help_fits_on_80_columns() {
        for command in CommandLine::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string);
            for line in help.unwrap_or_default().lines() {
                let width = line.chars().count();
                assert!(width <= 80, "{}: {line}", command.get_name());
            }
        }
    }
}
