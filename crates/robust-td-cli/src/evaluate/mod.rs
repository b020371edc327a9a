//! Learns a value function from logged transitions in one streaming pass.

mod choice;
mod report;
mod returns;
mod start;
pub mod uncertainty;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use robust_td_core::learner::Learner;
use robust_td_core::registry;
use robust_td_data::{Batch, Model, Purpose, ReadAhead};

use crate::confidence::Confidence;
use crate::failure::Failure;
use crate::log_argument::{LogArgument, wrong_data};
use crate::{count, files, log_argument, output, predict, progress, text};

/// Learn a value function from logged transitions
#[derive(Debug, Args)]
#[command(after_help = "\
Columns: obs_0, obs_1, ... (or a list obs), reward; optional next_obs_0, ... (or next_obs), terminated, truncated,
episode, rho. Without next_obs a row's successor is the next row of its episode. terminated: the value after it is 0.
truncated: bootstrap from what follows, then start anew. A lone `done` is refused until its meaning is said:
--column terminated=done, or --column truncated=done.

Files are passed over first to measure phi_inf, fit the features and count the transitions; on standard input
alg1 uses the doubling trick, and phi_inf is given by hand.

With --c auto sixteen constants learn from the same rows. One that blows up is retired: when over 64 rows the root mean square
of its TD errors exceeds 20 times the largest reward over 1 - gamma. The one with the smallest residual on rows that it had
not learned from yet is reported. Intervals measure the sampling error around the TD fixed point, not the approximation error
of the features.

Examples:
  robust-td evaluate log.csv --discount 0.99
  robust-td evaluate 'logs/*.parquet' --discount 0.99 --features 'standardise + bias' --out model.json
  robust-td evaluate log.csv --discount 0.9 --algorithm lstd --param ridge=0.01 --json
  robust-td evaluate log.csv --discount 0.9 --monte-carlo-check
  tail -f log.ndjson | robust-td evaluate - --format ndjson --discount 0.9 --phi-inf 2 --report-every
  robust-td evaluate more.csv --resume model.json --out model.json

Features: identity, bias, standardise, running, polynomial(degree=2), fourier(order=3), tiles(tilings=8, bins=8),
rbf(centres=5, width=1), one-hot(column=0); joined by + and applied one after the other by |.
`robust-td algorithms` lists the algorithms and their parameters.")]
pub struct Arguments {
    #[command(flatten)]
    log: LogArgument,

    /// gamma, in [0, 1); needed unless a model is resumed
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    discount: Option<f64>,

    /// The algorithm's id [default: alg1]
    #[arg(long, value_name = "ID")]
    algorithm: Option<String>,

    /// The constant c of the steps, for algorithms that have one; auto runs sixteen at once and lets the data choose [default: auto]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    c: Option<String>,

    /// T: learn from the first T transitions, with steps for T; by default as many as the files hold
    #[arg(long, value_name = "T", value_parser = count::horizon, allow_negative_numbers = true)]
    horizon: Option<u64>,

    /// A bound on the norm of the features; by default measured
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    phi_inf: Option<f64>,

    /// A parameter of the algorithm, such as radius=10 or lambda=0.9
    #[arg(long = "param", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    parameters: Vec<String>,

    /// The feature map [default: identity]
    #[arg(long, value_name = "SPEC")]
    features: Option<String>,

    /// How often to pass over the files
    #[arg(long, value_name = "N", default_value = "1", value_parser = count::parse, allow_negative_numbers = true)]
    passes: u64,

    /// Bootstrap replicates for intervals, with --c auto: 0 for none, or from 8 to 4096 [default: 64]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    replicates: Option<String>,

    /// Also least squares with its sandwich intervals, up to 500 features; by default up to 64
    #[arg(long)]
    sandwich: bool,

    #[command(flatten)]
    confidence: Confidence,

    /// Write the model, with all that is needed to go on or to predict
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Go on with a model: the same result as one uninterrupted pass
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Compare the returns of complete episodes with the predicted values, by decile of these, in further passes over the files
    #[arg(long)]
    monte_carlo_check: bool,

    /// Print the answer so far on standard error every N transitions; without N at powers of two
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "0", value_parser = count::parse)]
    report_every: Option<u64>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let started = Instant::now();
    let confidence = arguments.confidence.level()?;
    if arguments.passes == 0 {
        return Err(Failure::Usage(
            "--passes is 0, but must be at least 1".into(),
        ));
    }
    if arguments.log.is_stream() && arguments.passes > 1 {
        let message = "--passes: standard input can be read only once";
        return Err(Failure::Usage(message.into()));
    }
    if let Some(path) = &arguments.out {
        files::directory_of(path)?;
    }
    if arguments.monte_carlo_check {
        returns::refuse_stream(&arguments.log)?;
    }
    let mut learning = match &arguments.resume {
        Some(path) => Learning::Under(Box::new(resumed(arguments, path)?)),
        None => start::prepare(arguments)?,
    };
    let bad_rows = learn(arguments, &mut learning)?;
    let Learning::Under(model) = learning else {
        let message = "the input holds no row that can be used";
        return Err(Failure::Usage(message.into()));
    };
    if model.learner().steps() == 0 && arguments.out.is_none() {
        return Err(start::no_transition());
    }
    let check = match arguments.monte_carlo_check {
        true => Some(returns::check(&arguments.log, &model)?),
        false => None,
    };
    if let Some(path) = &arguments.out {
        let text = model.to_json().map_err(wrong_data)?;
        files::write_with(path, |file| {
            std::io::Write::write_all(file, text.as_bytes())
                .map_err(|error| Failure::Run(format!("cannot write {}: {error}", path.display())))
        })?;
    }
    let mut report = report::Report::new(&model, bad_rows, confidence, started.elapsed());
    report.monte_carlo_check = check;
    if arguments.json {
        return output::print_json(&report);
    }
    output::print(&report.page())
}

/// A model, or what is known before the first row tells the length of observations.
pub enum Learning {
    /// Nothing is read yet.
    Ahead(start::Start),
    /// The model.
    Under(Box<Model>),
}

impl Learning {
    /// The algorithm's id.
    fn id(&self) -> &'static str {
        match self {
            Self::Ahead(start) => start.id(),
            Self::Under(model) => model.learner().id(),
        }
    }
}

/// Says that the importance ratios of a log make no difference to this algorithm.
fn warn_of_unused_ratios(id: &str) {
    let users: Vec<&str> = registry::with_ratios().map(|method| method.id).collect();
    if !users.contains(&id) {
        eprintln!(
            "warning: the log has importance ratios (rho), but {id} does not use them: the values are those of the policy \
             that was logged; algorithms that use them: {}",
            users.join(", ")
        );
    }
}

/// Learns from the log; returns how many bad rows were skipped.
fn learn(arguments: &Arguments, learning: &mut Learning) -> Result<u64, Failure> {
    let mut batch = Batch::default();
    let mut bad_rows = 0;
    for pass in 0..arguments.passes {
        let reader = arguments.log.open(Purpose::Evaluate);
        let mut reader = reader
            .and_then(|reader| match learning {
                Learning::Under(model) => ReadAhead::start_for(reader, model),
                Learning::Ahead(_) => ReadAhead::start(reader),
            })
            .map_err(wrong_data)?;
        if pass == 0 && reader.schema().ratio {
            warn_of_unused_ratios(learning.id());
        }
        while reader.read(&mut batch).map_err(wrong_data)? {
            if let (Learning::Ahead(start), false) = (&mut *learning, batch.is_empty()) {
                *learning = Learning::Under(Box::new(start.model(batch.dimension())?));
            }
            let Learning::Under(model) = learning else {
                continue;
            };
            let mut from = 0;
            loop {
                let until = next_report(model.learner().steps(), arguments.report_every);
                let next = model.learn(reader.schema(), &batch, from, until);
                from = next
                    .map_err(|error| log_argument::wrong_batch(reader.files(), &batch, &error))?;
                let steps = model.learner().steps();
                if steps < until || model.is_complete() {
                    break;
                }
                report::so_far(model);
            }
            if model.is_complete() {
                break;
            }
        }
        bad_rows += reader.bad_rows();
        if let Learning::Under(model) = learning {
            if pass + 1 < arguments.passes {
                model.end_pass();
            }
            progress::say(&format!("{} transitions", model.learner().steps()));
        }
    }
    Ok(bad_rows)
}

/// The next step to report at: the next multiple, or the next power of two.
fn next_report(steps: u64, every: Option<u64>) -> u64 {
    match every {
        None => u64::MAX,
        Some(0) => (steps + 1).next_power_of_two(),
        Some(every) => (steps / every + 1).saturating_mul(every),
    }
}

/// The model to go on with; what is said about it again must be the same.
fn resumed(arguments: &Arguments, path: &std::path::Path) -> Result<Model, Failure> {
    let model = predict::load(path)?;
    let refuse = |flag: &str, given: String, own: String| {
        Err(Failure::Usage(format!(
            "{flag} is {given}, but the model {} was made with {own}",
            path.display()
        )))
    };
    let learner = model.learner();
    if let Some(discount) = arguments.discount
        && discount != learner.discount()
    {
        return refuse(
            "--discount",
            discount.to_string(),
            learner.discount().to_string(),
        );
    }
    if let Some(id) = &arguments.algorithm
        && id != learner.id()
        && !registry::find(id).is_ok_and(|method| method.is_replaced_by(learner.id()))
    {
        return refuse("--algorithm", id.clone(), learner.id().into());
    }
    if let Some(spec) = &arguments.features
        && spec != model.features().spec()
    {
        return refuse("--features", spec.clone(), model.features().spec().into());
    }
    if let Some(phi_inf) = arguments.phi_inf
        && phi_inf != model.phi_inf()
    {
        return refuse(
            "--phi-inf",
            phi_inf.to_string(),
            model.phi_inf().to_string(),
        );
    }
    if let Some(horizon) = arguments.horizon
        && Some(horizon) != model.limit()
    {
        let own = model
            .limit()
            .map_or("none".into(), |limit| limit.to_string());
        return refuse("--horizon", horizon.to_string(), own);
    }
    if arguments.passes > 1 && model.keeps_errors() {
        let message = "--passes above 1: this model makes intervals, and rows that are learned from again are not new samples; \
                       make it with --replicates 0";
        return Err(Failure::Usage(message.into()));
    }
    let new = [
        arguments.c.is_some(),
        !arguments.parameters.is_empty(),
        arguments.replicates.is_some(),
        arguments.sandwich,
    ];
    if new.contains(&true) {
        let message = "--c, --param, --replicates and --sandwich belong to a new model: one that is resumed keeps its own";
        return Err(Failure::Usage(message.into()));
    }
    if model.is_complete() {
        return Err(Failure::Usage(format!(
            "the model {} has already learned from its {}: nothing was read (more need a new model with a longer --horizon)",
            path.display(),
            text::count(model.learner().steps() as usize, "transition")
        )));
    }
    Ok(model)
}
