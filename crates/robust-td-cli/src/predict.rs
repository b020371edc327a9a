//! Predicts the values of observations with a model.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use robust_td_data::{Batch, Model, Purpose, ValueFormat, ValueWriter};

use crate::failure::Failure;
use crate::files;
use crate::log_argument::{LogArgument, wrong_data};

/// Write the value of every row
#[derive(Debug, Args)]
#[command(after_help = "\
Rows need the observation columns only. The feature map is part of the model.

Examples:
  robust-td predict model.json new.csv --out values.csv
  robust-td predict model.json 'new/*.parquet' --out values.parquet")]
pub struct Arguments {
    /// The model that `robust-td evaluate --out` wrote
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    log: LogArgument,

    /// Where to write the column `value`: a .csv or .parquet file; without it, CSV on standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut model = load(&arguments.model)?;
    match &arguments.out {
        None => {
            let stdout = std::io::BufWriter::new(std::io::stdout());
            match write(arguments, &mut model, ValueFormat::Csv, stdout) {
                // A reader that has seen enough.
                Err(robust_td_data::Error::Write { message })
                    if message.contains("Broken pipe") =>
                {
                    Ok(())
                }
                other => other.map(|_| ()).map_err(wrong_data),
            }
        }
        Some(path) => {
            let format = format_of(path)?;
            files::write_with(path, |file| {
                let file = std::io::BufWriter::new(file.try_clone().map_err(|error| {
                    Failure::Run(format!("cannot write {}: {error}", path.display()))
                })?);
                write(arguments, &mut model, format, file).map_err(wrong_data)?;
                Ok(())
            })
        }
    }
}

fn write<W: Write + Send>(
    arguments: &Arguments,
    model: &mut Model,
    format: ValueFormat,
    out: W,
) -> robust_td_data::Result<()> {
    let mut reader = arguments.log.open(Purpose::Predict)?;
    let mut writer = ValueWriter::new(format, out, &["value"])?;
    let (mut batch, mut values) = (Batch::default(), Vec::new());
    while reader.read(&mut batch)? {
        model.predict(&batch, &mut values)?;
        writer.write(&[&values])?;
    }
    let mut out = writer.finish()?;
    out.flush().map_err(|error| robust_td_data::Error::Write {
        message: error.to_string(),
    })
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
