//! The command `robust-td` as a function, for its program and for the Python package.

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
mod message;
mod name;
mod optional_value;
mod output;
mod predict;
mod problem_argument;
mod problems;
mod progress;
mod report_argument;
mod reproduce;
mod resume;
mod stop;
mod sweep;
mod text;
mod wrong_file;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

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

Exit codes: 0 success, 1 the run failed, 2 invalid arguments or input;
stopped by a signal: 129 (SIGHUP), 130 (SIGINT), 143 (SIGTERM).")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,

    /// Refuse what needs more memory, such as 8GB; default: 3/4 of what is free
    #[arg(long, global = true, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,
}

/// A size in bytes.
fn size(text: &str) -> Result<u64, String> {
    robust_td_data::memory::bytes(text)
        .ok_or_else(|| "must be a size such as 500MB, 8GB or 2GiB".to_owned())
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

/// The arguments after the name of the program.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// The command line for reports and manifests, without the path of the program.
fn command_line() -> String {
    let arguments = ARGUMENTS.get().map_or(&[][..], Vec::as_slice);
    let words = arguments.iter().map(|word| word.to_string_lossy());
    let words = words.map(|word| robust_td::report::quoted(&word));
    let words = std::iter::once("robust-td".to_string()).chain(words);
    words.collect::<Vec<_>>().join(" ")
}

/// The place of the first panic, for the message.
static PANICKED: OnceLock<String> = OnceLock::new();

/// Keeps the place of a panic, which is reported as an error; with RUST_BACKTRACE also prints it as usual.
fn install_panic_hook() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if robust_td_data::panics_are_caught() {
            return;
        }
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            usual(panic);
        }
        let message = panic.payload_as_str().unwrap_or("no reason given");
        let place = panic.location().map(|place| format!(" ({place})"));
        PANICKED.get_or_init(|| format!("{message}{}", place.unwrap_or_default()));
    }));
}

/// The failure of a command that panicked.
fn internal() -> failure::Failure {
    let what = PANICKED.get().map_or("unknown", String::as_str);
    failure::Failure::Run(format!(
        "internal error: {what}; this is a defect of robust-td: report it with the command and its input"
    ))
}

/// Runs the command with the arguments after the name of the program; returns the exit code.
///
/// For one call per process: reports and manifests show the arguments of the first.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    install_panic_hook();
    let arguments = ARGUMENTS.get_or_init(|| arguments.into_iter().collect());
    let words = std::iter::once(OsString::from("robust-td")).chain(arguments.iter().cloned());
    let words = optional_value::joined(words);
    let command = match CommandLine::try_parse_from(words) {
        Ok(line) => {
            robust_td_data::memory::set_limit(line.max_memory);
            line.command
        }
        Err(message) => {
            if message.use_stderr() {
                message::print_lines(&message.render().to_string());
            } else if let Err(failure) = output::print_help(&message) {
                message::print(&failure.message());
                return failure.exit_code();
            }
            return u8::try_from(message.exit_code()).unwrap_or(2);
        }
    };
    // What the command leaves inconsistent is not used again: the process ends.
    let done = catch_unwind(AssertUnwindSafe(|| run(command))).unwrap_or_else(|_| Err(internal()));
    match done {
        Ok(()) => 0,
        Err(failure) => {
            message::print(&failure.message());
            failure.exit_code()
        }
    }
}

fn run(command: Command) -> Result<(), failure::Failure> {
    match command {
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
