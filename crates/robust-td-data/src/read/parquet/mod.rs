//! Opens Parquet files.
//!
//! Only columns with a role are read. Types are those of Parquet itself: hints that a writer left for Arrow
//! (dictionaries, fixed-length lists) do not change the values.
//!
//! Files may be damaged or hostile. The footer is checked before the Parquet library reads it ([`footer`]), what it claims is
//! compared with the length of the file ([`budget`]), and every page is checked before it is decompressed ([`pages`]) and
//! before lists and texts are decoded ([`contents`]).

mod budget;
mod buffers;
mod codec;
mod column_groups;
mod contents;
mod delta;
mod footer;
mod page_header;
mod pages;
mod runs;
mod thrift;
mod window;

use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::file::reader::Length as _;

use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::layout::Wanted;
use crate::read::arrow::{ArrowLayout, ArrowRows, Records};
use crate::stored::Stored;

pub(crate) use column_groups::ColumnGroups;

use budget::Budget;
use column_groups::reader;

/// The types of a Parquet file. Only the writer's hints say which integers are durations, and in which unit.
fn with_durations(file: &Stored) -> parquet::errors::Result<ArrowReaderMetadata> {
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let plain = ArrowReaderMetadata::load(file, options.clone())?;
    let contents = plain.metadata().file_metadata();
    let hints = parquet_to_arrow_schema(contents.schema_descr(), contents.key_value_metadata());
    // Hints that cannot be read do not matter.
    let Ok(hints) = hints else {
        return Ok(plain);
    };
    let mut found = false;
    let fields = plain.schema().fields().iter().enumerate();
    let fields = fields.map(|(place, field)| {
        let hint = hints.fields().get(place);
        let hint = hint.filter(|hint| hint.name() == field.name());
        match (field.data_type(), hint.map(|hint| hint.data_type())) {
            (DataType::Int64, Some(hint @ DataType::Duration(_))) => {
                found = true;
                Arc::new(field.as_ref().clone().with_data_type(hint.clone()))
            }
            _ => field.clone(),
        }
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    match found {
        false => Ok(plain),
        true => ArrowReaderMetadata::try_new(plain.metadata().clone(), options.with_schema(schema)),
    }
}

/// The rows of a Parquet file, in batches of this length, decoded with up to this number of threads. Rows before the first one that
/// is needed, in numbers from 1, are left out.
pub(crate) fn open(
    name: &str,
    file: Stored,
    wanted: &Wanted,
    (batch_rows, threads, first_row): (usize, usize, u64),
) -> Result<ArrowRows> {
    let damaged = |message: String| Error::Parquet {
        file: name.to_owned(),
        row: 0,
        message,
    };
    let length = file.len();
    if length == 0 {
        return Err(Error::Empty {
            file: name.to_owned(),
        });
    }
    footer::check(&file, length).map_err(damaged)?;
    let metadata = guarded(|| with_durations(&file)).map_err(damaged)?;
    let layout = ArrowLayout::resolve(name, metadata.schema(), wanted)?;
    let rows = metadata.metadata().file_metadata().num_rows();
    if rows == 0 {
        return Err(Error::NoRows {
            file: name.to_owned(),
        });
    }
    let used = &layout.used;
    let budget = guarded(|| Budget::new(metadata.metadata(), used, length, batch_rows));
    let budget = Arc::new(budget.map_err(damaged)?);
    let (left_out, before) = groups_before(&metadata, first_row);
    let skipped = first_row.saturating_sub(before + 1);
    let size = (&budget, left_out, skipped);
    let groups = ColumnGroups::start(&file, &metadata, used, size, threads);
    let records = match groups.map_err(damaged)? {
        Some(groups) => Records::Groups(groups),
        None => {
            let reader = reader(file, &metadata, used, size).map_err(damaged)?;
            Records::Parquet(Box::new(reader))
        }
    };
    Ok(layout
        .rows(name, records)
        .after(before + skipped, u64::try_from(rows).unwrap_or(0)))
}

/// The number of row groups that end before a row, and the number of their rows.
fn groups_before(metadata: &ArrowReaderMetadata, row: u64) -> (usize, u64) {
    let (mut groups, mut rows) = (0, 0);
    for group in metadata.metadata().row_groups() {
        let end = rows + u64::try_from(group.num_rows()).unwrap_or(0);
        if end >= row {
            break;
        }
        (groups, rows) = (groups + 1, end);
    }
    (groups, rows)
}
