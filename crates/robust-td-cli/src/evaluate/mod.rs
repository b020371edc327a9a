//! Estimates the value of the policy of a log.

mod choice;
mod discounts;
mod features;
mod intervals;
mod off_policy;
mod page;
mod returns;

use std::path::{Path, PathBuf};

use clap::Args;
use robust_td_core::learner::Learner;
use robust_td_data::{
    DiscountsReport, Error, Evaluation, Fit, Learned, Model, OptionError, Progress, ReportAt,
    StartValue,
};

use crate::confidence::Confidence;
use crate::failure::Failure;
use crate::log_argument::LogArgument;
use crate::machine::Machine;
use crate::report_argument::ReportArgument;
use crate::stop::Signal;
use crate::{count, message, output, progress, stop};

/// Estimate the value of the policy from logged transitions
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: obs_0, obs_1, ... (or a list obs), reward; optional next_obs_0, ...
(or next_obs), terminated, truncated, episode, rho. Without next_obs a row's
successor is the next row of its episode. After a terminated row the value is 0.
A truncated row bootstraps from its successor, then the episode restarts. A lone
`done` column is ambiguous: use --column terminated=done or truncated=done.
CSV may be separated by commas, semicolons, tabs or pipes. For numbers such as
1.234,5 use --decimal , --thousands . (the model remembers them).

The default algorithm, auto, solves for the TD fixed point of the log: directly
for up to 4,000 features, and for more sparse ones if the factors of their
matrix fit; by iteration beyond. It prints
the value of the policy with its interval, whether the answer has converged, and
whether the features can express the values (predictions against returns on
episodes that are held out). Intervals measure the sampling error around the TD
fixed point; rows of one episode, or one --cluster, may depend on each other.
On standard input auto reads once and leaves out the comparison with returns;
above 4,000 features it keeps up to 1 gigabyte of rows in memory. Algorithms
that use phi_inf need --phi-inf there.

A policy that was not followed: with a column action (integers from 0, or names)
and what the policy does, the value is that of the policy, not of the log.
target_0, target_1, ... are its probabilities of all actions in a row, or
target_action its action; with next_obs columns also next_target_0, ... or
next_action. behaviour_prob, the probability with which the logged action was
taken, adds importance sampling and a doubly robust estimate.

Other algorithms step through the log once; `robust-td algorithms` lists them.
alg1 without --c runs sixteen constants and lets the data choose.

Features: identity, bias, standardise, running, polynomial(degree=2),
fourier(order=3), tiles(tilings=8, bins=8), rbf(centres=5, width=1),
one-hot. Join maps with +, chain them with |. Maps take columns by name, also
with * and ?: standardise(x, num_*) + one-hot(city) + bias. Then the file needs
no obs columns, and next observations are next_x for x. one-hot takes text,
integers and flags: one-hot(city; min_count=20, missing=level); on standard
input the levels must be given: one-hot(city; levels=Bern/Oslo).

`--features auto`, or several --features, compares maps by how well they predict
the returns of held-out episodes (or blocks of rows), prints the table, and
takes the simplest map within one standard error of the best. The answer is then
fitted to all rows; its intervals do not include the choice.

Examples:
  robust-td evaluate log.csv --discount 0.99
  robust-td evaluate 'logs/*.parquet' --discount 0.99 \\
      --features 'fourier(order=3)' --out model.json
  robust-td evaluate log.csv --discount 0.99 --out model.json \\
      --features 'standardise(x, y) + one-hot(state) + bias'
  robust-td evaluate log.csv --discount 0.99 --features auto
  robust-td evaluate log.csv --discount 0.9,0.99,0.999
  robust-td evaluate log.csv --discount 0.99 --return-variance
  robust-td evaluate log.csv --discount 0.99 --report report.html
  robust-td evaluate log.csv --discount 0.9 --cluster user --json
  robust-td evaluate excel.csv --discount 0.9 --decimal ,
  robust-td evaluate log.csv --discount 0.9 --column action=offer \\
      --column 'target=p_*' --column behaviour_prob=propensity
  robust-td evaluate log.csv --discount 0.9 --algorithm alg1 --c 0.5
  robust-td evaluate more.csv --resume model.json --out model.json
  tail -f log.ndjson | robust-td evaluate - --format ndjson --discount 0.9 \\
      --report-every")]
pub struct Arguments {
    #[command(flatten)]
    log: LogArgument,

    #[command(flatten)]
    machine: Machine,

    /// Discount factor gamma, from 0 to 1; required unless a model is resumed. A list such as 0.9,0.99 gives an answer for each
    #[arg(long, alias = "gamma", value_name = "G", value_delimiter = ',', value_parser = crate::float::discount, allow_negative_numbers = true)]
    discount: Vec<f64>,

    /// Algorithm id [default: auto, or alg1 if --c is set]
    #[arg(long, value_name = "ID")]
    algorithm: Option<String>,

    /// Step-size constant c, for algorithms that have one; auto runs sixteen and lets the data choose [default for alg1: auto]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    c: Option<String>,

    /// Learn from the first T transitions, with stepsizes for that horizon [default: all transitions in the files]
    #[arg(long, value_name = "T", value_parser = count::horizon, allow_negative_numbers = true)]
    horizon: Option<u64>,

    /// Bound on the norm of the features [default: measured; on standard input required by algorithms that use it]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    phi_inf: Option<f64>,

    /// Set a parameter of the algorithm, such as radius=10 or lambda=0.9; may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    parameters: Vec<String>,

    /// Feature map [default: standardise + bias, with one-hot of text columns; on standard input identity + bias; with an algorithm other than auto, identity]. Repeat it, or use auto, to compare maps on held-out rows
    #[arg(long, value_name = "SPEC")]
    features: Vec<String>,

    /// Number of passes over the files
    #[arg(long, value_name = "N", default_value = "1", value_parser = count::parse, allow_negative_numbers = true)]
    passes: u64,

    /// Average N independent learners, each on its own part of the files: 2 to 1024; not the answer of one learner
    #[arg(long, value_name = "N", value_parser = count::parse, allow_negative_numbers = true)]
    learners: Option<u64>,

    /// Number of bootstrap replicates for intervals, with --c auto: 8 to 4096, or 0 for no intervals [default: 64]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    replicates: Option<String>,

    /// Also compute least squares with sandwich intervals for 65 to 500 features; up to 64 this is the default
    #[arg(long)]
    sandwich: bool,

    #[command(flatten)]
    confidence: Confidence,

    /// Write the model: everything needed to resume or predict
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Resume a saved model: the same result as one pass over all rows. A model that auto made of files reads these again; for other algorithms set --horizon and --phi-inf when it is made
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Column of users, machines or sites whose rows may depend on each other, for intervals [default: the episode]
    #[arg(long, value_name = "COLUMN")]
    cluster: Option<String>,

    #[command(flatten)]
    report: ReportArgument,

    /// Leave out the comparison of predicted values with returns
    #[arg(long)]
    no_check: bool,

    /// Also estimate the standard deviation of the return, for up to 4,000 features
    #[arg(long)]
    return_variance: bool,

    /// Also print how the answer was computed
    #[arg(long)]
    verbose: bool,

    /// Print the current estimate to standard error every N transitions; without N, at powers of two
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "0", value_parser = count::parse)]
    report_every: Option<u64>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.machine.kernel()?;
    if let Some(path) = &arguments.out {
        output::check_file(path)?;
    }
    let log = arguments.log.log()?;
    if let Some(path) = &arguments.out {
        log.check_output(path)?;
    }
    arguments.report.check(arguments.out.as_deref(), &log)?;
    let confidence = arguments.confidence.level;
    let stop = stop::catch();
    let monitor = match log.is_stream() {
        true => stop.ending(),
        false => stop.cancelling(),
    };
    let evaluation = evaluation(arguments)?
        .monitor(monitor.clone())
        .on_progress(move |progress| show(&progress, confidence));
    if let [whole, decimals] = arguments.discount[..]
        && whole == 0.0
        && decimals > 1.0
    {
        return Err(Failure::Usage(format!(
            "--discount has two discounts, 0 and {decimals}, which must be from 0 to 1; write a decimal point, such as 0.9"
        )));
    }
    if arguments.discount.len() > 1 {
        return several(arguments, evaluation);
    }
    let fit = match &arguments.resume {
        Some(path) => resumed(evaluation, path),
        None => evaluation.run().map_err(Failure::from),
    };
    let ended = monitor.ended_after();
    let fit = fit.map_err(|failure| match (ended, stop.signal()) {
        // There is no answer to the rows before the signal.
        (Some(row), Some(signal)) => {
            let words = format!(" after row {row}, too early for an answer");
            Failure::Stopped(signal, words)
        }
        _ => failure.if_stopped("nothing was written"),
    })?;
    stop.wait();
    if fit.steps() == 0 && arguments.out.is_none() {
        return Err(Error::NoTransitions.into());
    }
    if let Some(path) = &arguments.out {
        fit.save(path)?;
    }
    (arguments.report).write(|command| robust_td::report::evaluation(&fit, command))?;
    let report = fit.report();
    let printed = match arguments.json {
        true => output::print_json(&report),
        false => output::print(&page::page(
            &report,
            arguments.confidence.level,
            arguments.verbose,
        )),
    };
    match (ended, stop.signal()) {
        (Some(row), Some(signal)) => Err(ended_early(signal, row, arguments.out.as_deref())),
        _ => printed,
    }
}

/// What a signal leaves of a stream.
fn ended_early(signal: Signal, row: u64, out: Option<&Path>) -> Failure {
    let rest = match out {
        Some(path) => format!(
            "; {} has the rows so far: --resume it with the stream from row {} on",
            path.display(),
            row + 1
        ),
        None => "; use --out to save the rows so far".to_owned(),
    };
    Failure::Stopped(signal, format!(" after row {row} of the stream{rest}"))
}

/// Evaluates for several discounts at once.
fn several(arguments: &Arguments, mut evaluation: Evaluation) -> Result<(), Failure> {
    let single = [
        (arguments.out.is_some(), "--out"),
        (arguments.report.is_wanted(), "--report"),
    ];
    if let Some((_, flag)) = single.into_iter().find(|(set, _)| *set) {
        return Err(Failure::Usage(format!(
            "{flag} takes one --discount: run it once for each"
        )));
    }
    if let Some(path) = &arguments.resume {
        evaluation = evaluation.resume(Model::load(path)?);
    }
    let fits = evaluation.run_each(&arguments.discount)?;
    // What is printed is not cut.
    stop::catch().wait();
    let report = DiscountsReport::of(&fits).ok_or(Error::NoTransitions)?;
    match arguments.json {
        true => output::print_json(&report),
        false => output::print(&discounts::page(&report, arguments.confidence.level)),
    }
}

/// Resumes an evaluation from a model; errors about the model name its file.
fn resumed(evaluation: Evaluation, path: &Path) -> Result<Fit, Failure> {
    let fit = evaluation.resume(Model::load(path)?).run();
    Ok(fit.map_err(|error| match error {
        Error::Option(OptionError::Differs { .. }) | Error::ModelComplete { .. } => {
            error.in_file(path.display().to_string())
        }
        error => error,
    })?)
}

/// Builds the evaluation from the command line.
fn evaluation(arguments: &Arguments) -> Result<Evaluation, Failure> {
    let mut evaluation = Evaluation::new(arguments.log.log()?)
        .passes(arguments.passes)
        .threads(arguments.machine.threads())
        .confidence(arguments.confidence.level);
    if let Some(learners) = arguments.learners {
        evaluation = evaluation.learners(learners);
    }
    if let [discount] = arguments.discount[..] {
        evaluation = evaluation.discount(discount);
    }
    if let Some(id) = &arguments.algorithm {
        evaluation = evaluation.algorithm(id);
    }
    evaluation = match arguments.c.as_deref() {
        Some("auto") => evaluation.c_auto(),
        Some(text) => evaluation.c(text.parse().map_err(|_| {
            Failure::Usage(format!("--c is {text:?}, but must be a number or auto"))
        })?),
        None => evaluation,
    };
    if let Some(horizon) = arguments.horizon {
        evaluation = evaluation.horizon(horizon);
    }
    if let Some(phi_inf) = arguments.phi_inf {
        evaluation = evaluation.phi_inf(phi_inf);
    }
    for text in &arguments.parameters {
        let (name, value) = parameter(text)?;
        evaluation = evaluation.parameter(name, value);
    }
    if !arguments.features.is_empty() {
        evaluation = evaluation.compare_features(&arguments.features);
    }
    if let Some(text) = &arguments.replicates {
        evaluation = evaluation.replicates(replicates(text)?);
    }
    if arguments.sandwich {
        evaluation = evaluation.sandwich();
    }
    if let Some(column) = &arguments.cluster {
        evaluation = evaluation.cluster(column);
    }
    if arguments.no_check {
        evaluation = evaluation.no_check();
    }
    if arguments.return_variance {
        evaluation = evaluation.return_variance();
    }
    Ok(match arguments.report_every {
        Some(0) => evaluation.report_at(ReportAt::PowersOfTwo),
        Some(every) => evaluation.report_at(ReportAt::Every(every)),
        None => evaluation,
    })
}

fn parameter(text: &str) -> Result<(&str, f64), Failure> {
    let pair = text.split_once('=');
    let pair = pair.and_then(|(name, value)| Some((name.trim(), value.trim().parse().ok()?)));
    pair.ok_or_else(|| Failure::Usage(format!("--param {text:?} is not key=value with a number")))
}

fn replicates(text: &str) -> Result<usize, Failure> {
    let number = count::parse(text)
        .ok()
        .and_then(|n| usize::try_from(n).ok());
    number.ok_or_else(|| {
        Failure::Usage(format!(
            "--replicates is {text:?}, but must be a number: 0 (no intervals) or from 8 to 4096"
        ))
    })
}

/// Reports progress on standard error.
fn show(progress: &Progress<'_>, confidence: f64) {
    match progress {
        Progress::Warning(warning) => message::print(&format!("warning: {warning}")),
        Progress::SoFar(model) => so_far(model, confidence),
        Progress::Following {
            steps,
            theta,
            start_value,
        } => following(*steps, theta, *start_value),
        Progress::Product { passes, residual } => {
            progress::say(&format!(
                "product {passes}: relative residual {residual:.1e}"
            ));
        }
        Progress::Comparing {
            number,
            of,
            features,
        } => progress::say(&format!("features {number} of {of}: {features}")),
        Progress::PassDone { steps } => progress::say(&format!("{steps} transitions")),
        _ => {}
    }
}

/// Prints the answer of a stream so far: the value of the policy with its interval, and the weights.
fn following(steps: u64, theta: &[f64], start_value: Option<StartValue>) {
    let norm: f64 = theta.iter().map(|x| x * x).sum();
    message::print_json(&serde_json::json!({
        "steps": steps,
        "value": start_value.map(|found| found.value),
        "lower": start_value.map(|found| found.lower),
        "upper": start_value.map(|found| found.upper),
        "theta_bar": theta,
        "max_theta_norm_sq": norm,
        "diverged": false,
        "residual": null,
    }));
}

/// Prints the answer of a learner so far, with the intervals of the weights if there are any.
fn so_far(model: &Learned, confidence: f64) {
    let learner = model.learner();
    let intervals = model
        .intervals()
        .map(|found| found.of_theta(&learner.output(), confidence));
    let [lower, upper] = match intervals {
        Some([lower, upper]) => [Some(lower), Some(upper)],
        None => [None, None],
    };
    message::print_json(&serde_json::json!({
        "steps": learner.steps(),
        "theta_bar": learner.output(),
        "max_theta_norm_sq": learner.health().max_theta_norm_sq,
        "lower": lower,
        "upper": upper,
        "diverged": model.divergence().is_some(),
        "residual": model.diagnostics().residual(),
    }));
}
