//! Opens Parquet files.
//!
//! Only columns with a role are read. Types are those of Parquet itself: hints that a writer left for Arrow
//! (dictionaries, fixed-length lists) do not change the values.

use std::fs::File;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::layout::Wanted;
use crate::read::arrow::{ArrowLayout, ArrowRows, Records};

/// The rows of a Parquet file.
pub(crate) fn open(
    name: &str,
    file: File,
    wanted: &Wanted,
    batch_rows: usize,
) -> Result<ArrowRows> {
    let damaged = |message: String| Error::Parquet {
        file: name.to_owned(),
        row: 0,
        message,
    };
    if file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
        return Err(Error::Empty {
            file: name.to_owned(),
        });
    }
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = guarded(|| ParquetRecordBatchReaderBuilder::try_new_with_options(file, options))
        .map_err(damaged)?;
    let layout = ArrowLayout::resolve(name, builder.schema(), wanted)?;
    if builder.metadata().file_metadata().num_rows() == 0 {
        return Err(Error::NoRows {
            file: name.to_owned(),
        });
    }
    let used = layout.used.iter().copied();
    let mask = ProjectionMask::roots(builder.parquet_schema(), used);
    let builder = builder.with_projection(mask).with_batch_size(batch_rows);
    let reader = guarded(|| builder.build()).map_err(damaged)?;
    Ok(layout.rows(name, Records::Parquet(Box::new(reader))))
}
