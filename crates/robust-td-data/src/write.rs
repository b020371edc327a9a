//! Writes columns of predictions as CSV or Parquet.

use std::io::Write;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::error::{Error, Result};
use crate::kept::{self, Kept};

/// The format of predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueFormat {
    /// Comma-separated values with a header; each number reads back bit-exactly.
    Csv,
    /// Parquet, compressed with Zstandard.
    Parquet,
}

impl FromStr for ValueFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "csv" => Ok(Self::Csv),
            "parquet" => Ok(Self::Parquet),
            _ => Err(Error::UnknownName {
                what: "format of predictions",
                name: name.to_owned(),
                choices: "csv, parquet",
            }),
        }
    }
}

impl ValueFormat {
    /// The format inferred from the name of a file.
    ///
    /// # Errors
    /// When the name ends neither in `.csv` nor in `.parquet`.
    pub fn of_file(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(Error::OutputName {
                file: path.display().to_string(),
            }),
        }
    }
}

/// Writes rows of numbers incrementally.
pub struct ValueWriter<W: Write + Send> {
    columns: usize,
    sink: Sink<W>,
}

enum Sink<W: Write + Send> {
    Csv(W),
    Parquet(Box<ArrowWriter<W>>, SchemaRef),
}

fn failed(source: std::io::Error) -> Error {
    Error::Write { file: None, source }
}

/// The error of a Parquet or Arrow writer.
fn table_failed<E: std::error::Error + Send + Sync + 'static>(error: E) -> Error {
    failed(std::io::Error::other(error))
}

impl<W: Write + Send> ValueWriter<W> {
    /// Starts a table with the given columns, usually the single column `value`.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn new(format: ValueFormat, mut out: W, columns: &[&str]) -> Result<Self> {
        let sink = match format {
            ValueFormat::Csv => {
                writeln!(out, "{}", columns.join(",")).map_err(failed)?;
                Sink::Csv(out)
            }
            ValueFormat::Parquet => {
                let fields: Vec<Field> = (columns.iter())
                    .map(|name| Field::new(*name, DataType::Float64, false))
                    .collect();
                Self::parquet(out, fields)?
            }
        };
        Ok(Self {
            columns: columns.len(),
            sink,
        })
    }

    /// Starts a table with copied columns, whose types are those of their first cells, before the given ones.
    ///
    /// # Errors
    /// When a copied column has the name of another one, or the output cannot be written.
    pub(crate) fn with_kept(
        format: ValueFormat,
        mut out: W,
        kept: &Kept,
        columns: &[&str],
    ) -> Result<Self> {
        if let Some(name) = kept
            .names
            .iter()
            .find(|name| columns.contains(&name.as_str()))
        {
            return Err(Error::KeptColumn {
                column: name.clone(),
                why: "the output has a column of this name; rename it, or list the columns to keep"
                    .into(),
            });
        }
        let sink = match format {
            ValueFormat::Csv => {
                let names = kept.names.iter().map(|name| kept::field(name));
                let names = names.chain(columns.iter().map(|&name| name.to_owned()));
                writeln!(out, "{}", names.collect::<Vec<_>>().join(",")).map_err(failed)?;
                Sink::Csv(out)
            }
            ValueFormat::Parquet => {
                let copied = kept.names.iter().zip(&kept.columns);
                let copied = copied.map(|(name, cells)| Field::new(name, cells.data_type(), true));
                let values = columns.iter();
                let values = values.map(|name| Field::new(*name, DataType::Float64, false));
                Self::parquet(out, copied.chain(values).collect())?
            }
        };
        Ok(Self {
            columns: columns.len(),
            sink,
        })
    }

    fn parquet(out: W, fields: Vec<Field>) -> Result<Sink<W>> {
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer =
            ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(table_failed)?;
        Ok(Sink::Parquet(Box::new(writer), schema))
    }

    /// Writes rows, given column by column.
    ///
    /// # Errors
    /// When the number of columns differs from the header, their lengths differ, or the output cannot be
    /// written.
    pub fn write(&mut self, columns: &[&[f64]]) -> Result<()> {
        self.write_with(&Kept::default(), columns)
    }

    /// As [`write`](Self::write), with the copied columns of the same rows.
    ///
    /// # Errors
    /// As [`write`](Self::write), and when a copied cell does not have the type of the first ones.
    pub(crate) fn write_with(&mut self, kept: &Kept, columns: &[&[f64]]) -> Result<()> {
        let shape = |expected, found| match expected == found {
            true => Ok(()),
            false => Err(Error::WriteShape { expected, found }),
        };
        shape(self.columns, columns.len())?;
        let rows = columns.first().map_or(0, |column| column.len());
        columns
            .iter()
            .try_for_each(|column| shape(rows, column.len()))?;
        match &mut self.sink {
            Sink::Csv(out) => {
                let mut texts = Vec::new();
                for (name, cells) in kept.names.iter().zip(&kept.columns) {
                    texts.push(cells.csv().map_err(|found| Error::KeptColumn {
                        column: name.clone(),
                        why: format!("{found} cannot be written as text; write .parquet"),
                    })?);
                }
                write_csv(out, &texts, columns, rows).map_err(failed)
            }
            Sink::Parquet(writer, schema) => {
                let mut arrays = Vec::new();
                for ((name, cells), field) in
                    kept.names.iter().zip(&kept.columns).zip(schema.fields())
                {
                    let array = cells.array(field.data_type());
                    arrays.push(array.map_err(|found| Error::KeptColumn {
                        column: name.clone(),
                        why: format!(
                            "{found} is not {} like the first rows; write .csv",
                            field.data_type()
                        ),
                    })?);
                }
                arrays.extend(
                    (columns.iter())
                        .map(|column| Arc::new(Float64Array::from(column.to_vec())) as ArrayRef),
                );
                let records = RecordBatch::try_new(schema.clone(), arrays).map_err(table_failed)?;
                writer.write(&records).map_err(table_failed)
            }
        }
    }

    /// Completes the table and returns the output.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(self) -> Result<W> {
        let mut out = match self.sink {
            Sink::Csv(out) => out,
            Sink::Parquet(writer, _) => writer.into_inner().map_err(table_failed)?,
        };
        out.flush().map_err(failed)?;
        Ok(out)
    }
}

fn write_csv(
    out: &mut impl Write,
    texts: &[Vec<String>],
    columns: &[&[f64]],
    rows: usize,
) -> std::io::Result<()> {
    let mut line = Vec::new();
    for i in 0..rows {
        for column in texts {
            out.write_all(column.get(i).map_or("", String::as_str).as_bytes())?;
            out.write_all(b",")?;
        }
        // Equal rows have equal texts, and shortest decimals take time.
        let is_repeated = |column: &&[f64]| column[i].to_bits() == column[i - 1].to_bits();
        if i == 0 || !columns.iter().all(is_repeated) {
            line.clear();
            for (k, column) in columns.iter().enumerate() {
                let comma = if k == 0 { "" } else { "," };
                let value = column[i];
                match value.is_nan() {
                    true => write!(line, "{comma}nan")?,
                    false => write!(line, "{comma}{value:?}")?,
                }
            }
            line.push(b'\n');
        }
        out.write_all(&line)?;
    }
    Ok(())
}

/// Writes one column `value`.
///
/// # Errors
/// When the output cannot be written.
pub fn write_values<W: Write + Send>(format: ValueFormat, out: W, values: &[f64]) -> Result<W> {
    let mut writer = ValueWriter::new(format, out, &["value"])?;
    writer.write(&[values])?;
    writer.finish()
}
