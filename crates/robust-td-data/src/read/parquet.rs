//! Opens Parquet files.
//!
//! Only columns with a role are read. Types are those of Parquet itself: hints that a writer left for Arrow
//! (dictionaries, fixed-length lists) do not change the values.

use std::fs::File;
use std::path::Path;

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};

use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::layout::Wanted;
use crate::read::arrow::{ArrowLayout, ArrowRows, Records};
use crate::read::column_groups::{ColumnGroups, reader};

/// The rows of a Parquet file, decoded with up to this number of threads.
pub(crate) fn open(
    name: &str,
    (file, path): (File, &Path),
    wanted: &Wanted,
    batch_rows: usize,
    threads: usize,
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
    let metadata = guarded(|| ArrowReaderMetadata::load(&file, options)).map_err(damaged)?;
    let layout = ArrowLayout::resolve(name, metadata.schema(), wanted)?;
    if metadata.metadata().file_metadata().num_rows() == 0 {
        return Err(Error::NoRows {
            file: name.to_owned(),
        });
    }
    let used = &layout.used;
    let groups = ColumnGroups::start(path, &metadata, used, batch_rows, threads);
    let records = match groups.map_err(damaged)? {
        Some(groups) => Records::Groups(groups),
        None => {
            let reader = reader(file, metadata, used, batch_rows).map_err(damaged)?;
            Records::Parquet(Box::new(reader))
        }
    };
    Ok(layout.rows(name, records))
}
