//! Predicts the values of observations with a model.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use robust_td_core::learner::{DIVERGENCE_THRESHOLD, Learner};
use robust_td_core::registry::Approach;
use robust_td_data::{Batch, Model, Predictions, Predictor, Purpose, ValueFormat, ValueWriter};

use crate::confidence::Confidence;
use crate::evaluate::uncertainty::{self, SHORT_BLOCKS, TOO_FEW, UNCONVERGED, Uncertainty};

use crate::failure::Failure;
use crate::files;
use crate::log_argument::{LogArgument, wrong_batch, wrong_data};

/// Write the value of every row
#[derive(Debug, Args)]
#[command(after_help = "\
Rows need the observation columns only. The feature map is part of the model. A model that diverged is named on
standard error; if its values would not be finite it is refused.

Examples:
  robust-td predict model.json new.csv --out values.csv
  robust-td predict model.json 'new/*.parquet' --out values.parquet")]
pub struct Arguments {
    /// The model that `robust-td evaluate --out` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    log: LogArgument,

    #[command(flatten)]
    confidence: Confidence,

    /// Where to write the columns: a .csv or .parquet file; without it, CSV on standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = load(&arguments.model)?;
    check_divergence(&arguments.model, &model)?;
    let Some(path) = &arguments.out else {
        let stdout = std::io::BufWriter::new(std::io::stdout());
        return match write(arguments, &model, ValueFormat::Csv, stdout) {
            // A reader that has seen enough.
            Err(Failure::Run(message)) if message.contains("Broken pipe") => Ok(()),
            other => other,
        };
    };
    let format = format_of(path)?;
    files::write_with(path, |file| {
        let failed = |error| Failure::Run(format!("cannot write {}: {error}", path.display()));
        let file = std::io::BufWriter::new(file.try_clone().map_err(failed)?);
        write(arguments, &model, format, file)
    })
}

fn write<W: Write + Send>(
    arguments: &Arguments,
    model: &Model,
    format: ValueFormat,
    out: W,
) -> Result<(), Failure> {
    let mut reader = arguments.log.open(Purpose::Predict).map_err(wrong_data)?;
    let (mut batch, mut found) = (Batch::default(), Predictions::default());
    let confidence = arguments.confidence.level()?;
    let mut predictor = Predictor::new(model, confidence);
    if let Some(intervals) = Uncertainty::of(model, &model.learner().output(), confidence) {
        let path = arguments.model.display();
        if intervals.is_doubtful() {
            eprintln!("warning: {path}: lower and upper are wide: {UNCONVERGED}");
        }
        if !intervals.blocks_are_long_enough() {
            eprintln!("warning: {path}: {SHORT_BLOCKS}");
        }
    } else if uncertainty::lacks_rows(model) {
        let path = arguments.model.display();
        eprintln!("note: {path}: intervals: {TOO_FEW}");
    }
    let columns = match predictor.has_intervals() {
        true => &["value", "lower", "upper"][..],
        false => &["value"],
    };
    let mut predict = |found: &mut Predictions| -> Result<bool, Failure> {
        let more = reader.read(&mut batch).map_err(wrong_data)?;
        if more {
            let predicted = predictor.predict(&batch, found);
            predicted.map_err(|error| wrong_batch(reader.files(), &batch, &error))?;
        }
        Ok(more)
    };
    // Nothing is written, not even the header, before the first rows turn out to fit.
    let mut more = predict(&mut found)?;
    let mut writer = ValueWriter::new(format, out, columns).map_err(wrong_data)?;
    while more {
        let all = [&found.values[..], &found.lower, &found.upper];
        writer.write(&all[..columns.len()]).map_err(wrong_data)?;
        more = predict(&mut found)?;
    }
    let mut out = writer.finish().map_err(wrong_data)?;
    out.flush()
        .map_err(|error| Failure::Run(format!("cannot write: {error}")))
}

/// Refuses a model without finite values, and warns of one that went astray on the way.
fn check_divergence(path: &Path, model: &Model) -> Result<(), Failure> {
    let learner = model.learner();
    let happened = match learner.health().diverged_at {
        Some(step) if learner.abilities().approach == Approach::Portfolio => {
            format!("all constants were retired by step {step}")
        }
        Some(step) => format!("|theta|^2 passed {DIVERGENCE_THRESHOLD:e} at step {step}"),
        None => "theta overflowed".into(),
    };
    let path = path.display();
    if !learner.value_function().is_finite() {
        return Err(Failure::Usage(format!(
            "{path}: this model diverged ({happened}), and its values are not finite; learn it again with smaller steps"
        )));
    }
    if learner.health().diverged() {
        eprintln!(
            "warning: {path}: this model diverged ({happened}); its values are finite, but do not rely on them"
        );
    }
    Ok(())
}

fn format_of(path: &Path) -> Result<ValueFormat, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(ValueFormat::Csv),
        Some("parquet") => Ok(ValueFormat::Parquet),
        _ => Err(Failure::Usage(format!(
            "--out {}: the name must end in .csv or .parquet",
            path.display()
        ))),
    }
}

/// Reads a model.
pub fn load(path: &Path) -> Result<Model, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", path.display())))?;
    Model::from_json(&text).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}
