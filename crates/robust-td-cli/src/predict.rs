//! Predicts the values of observations with a model.

use std::io::BufWriter;
use std::path::PathBuf;

use clap::Args;
use robust_td::number::counted;
use robust_td_data::{BadRows, Error, Fit, Keep, Limits, Unbounded, ValueFormat};

use crate::confidence::Confidence;
use crate::failure::Failure;
use crate::log_argument::LogArgument;
use crate::machine::KernelOption;
use crate::{message, output, stop};

/// Predict the value of every row with a saved model
#[derive(Debug, Args)]
#[command(after_help = "\
Rows need only the observation columns, which are found by the names that the
model has, in any order. The feature map is part of the model. A model of a
policy that was not followed also needs target_0, target_1, ... or
target_action (the value of that policy), or else action (that of the action).
Warnings say what limits the values: not learned, features that do not fit,
categories that the log of the model does not have, rows with an unbounded
interval.
With --skip-bad-rows the output starts with a column row, the number of each row
in its file (and file, if there are several), so that rows can be told apart.
A model whose values are not finite is an error.

Examples:
  robust-td predict model.json new.csv --out values.csv
  robust-td predict model.json new.csv --keep episode,t --out values.csv
  robust-td predict model.json 'new/*.parquet' --out values.parquet")]
pub struct Arguments {
    /// The model that `robust-td evaluate --out` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    log: LogArgument,

    #[command(flatten)]
    kernel: KernelOption,

    #[command(flatten)]
    confidence: Confidence,

    /// Copy columns to the output, before the values: names separated by commas, or all
    #[arg(long, value_name = "COLUMNS")]
    keep: Option<String>,

    /// Output file, .csv or .parquet; without it, CSV is written to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.kernel.select()?;
    if let Some(path) = &arguments.out {
        output::check_file(path)?;
    }
    let name = arguments.model.display().to_string();
    let fit = Fit::load(&arguments.model)?.with_confidence(arguments.confidence.level)?;
    let mut log = arguments.log.log()?.keep(keep(arguments.keep.as_deref()));
    if arguments.out.is_some() {
        // So that no temporary file is left behind.
        log = log.monitor(stop::catch().cancelling());
    }
    if let Some(path) = &arguments.out {
        log.check_output(path)?;
    }
    let format = match &arguments.out {
        Some(path) => ValueFormat::of_file(path).map_err(|error| out_failure(&error))?,
        None => ValueFormat::Csv,
    };
    let refused = |error: Error| match error {
        Error::ModelDiverged { .. } => error.in_file(&name),
        error => error,
    };
    let limits = match &arguments.out {
        Some(path) => robust_td_data::files::write_with(path, |file| -> Result<Limits, Failure> {
            let written = fit.write_predictions(log, format, BufWriter::new(file));
            let limits = written.map_err(refused)?.1;
            stop::catch().wait();
            Ok(limits)
        })?,
        None => match fit.write_predictions(log, format, BufWriter::new(std::io::stdout())) {
            // The pipe was closed.
            Err(error) if error.is_broken_pipe() => Limits::default(),
            Err(error) => return Err(refused(error).into()),
            Ok((_, limits)) => limits,
        },
    };
    // After the values, so that an error stands alone.
    warn(&fit, &name);
    warn_of_skipped(&limits.skipped);
    if let Some(unseen) = &limits.unseen {
        say(&format!("{name}: {unseen}"));
    }
    if let Some(unbounded) = &limits.unbounded {
        warn_of_unbounded(unbounded, &name);
    }
    Ok(())
}

/// The columns to copy.
fn keep(text: Option<&str>) -> Keep {
    match text {
        None => Keep::Nothing,
        Some("all") => Keep::All,
        Some(names) => Keep::Columns(
            names
                .split(',')
                .map(|name| name.trim().to_owned())
                .collect(),
        ),
    }
}

fn out_failure(error: &Error) -> Failure {
    Failure::Usage(format!("--out {error}"))
}

/// Prints what limits the values and their intervals.
fn warn(fit: &Fit, name: &str) {
    for finding in fit.findings() {
        if finding.kind.is_about_the_answer() {
            say(&format!("{name}: {}", finding.message));
        }
    }
}

/// Reports rows that have no value.
fn warn_of_skipped(skipped: &BadRows) {
    if let Some(first) = skipped.first().first() {
        let rows = counted(
            skipped.count(),
            "bad row was skipped and has no value",
            "bad rows were skipped and have no value",
        );
        say(&format!(
            "{rows}; the column row of the output tells which rows have one; first: {first}"
        ));
    }
}

/// Reports rows about which the log says nothing.
fn warn_of_unbounded(unbounded: &Unbounded, name: &str) {
    let Unbounded { rows, file, row } = unbounded;
    let rows = robust_td::number::count(*rows as usize, "row");
    say(&format!(
        "{name}: {rows} with an unbounded interval (first: {file}, row {row}): the log does not have their features, or too rarely"
    ));
}

/// Prints a warning.
fn say(warning: &str) {
    message::print(&format!("warning: {warning}"));
}
