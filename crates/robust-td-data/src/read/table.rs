//! Reads tables in memory piece by piece.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};

use crate::error::{Error, Result};
use crate::layout::Wanted;
use crate::read::arrow::{ArrowLayout, ArrowRows, Records};
use crate::read::plain::{plain, plain_type};
use crate::table::Table;

/// The rows of a table.
pub(crate) fn open(
    name: &str,
    table: Arc<Table>,
    wanted: &Wanted,
    batch_rows: usize,
) -> Result<ArrowRows> {
    let fields = table.schema().fields().iter();
    let fields = fields.map(|field| {
        let plain = plain_type(field.data_type());
        field.as_ref().clone().with_data_type(plain)
    });
    let schema = Arc::new(arrow_schema::Schema::new(fields.collect::<Vec<_>>()));
    let layout = ArrowLayout::resolve(name, &schema, wanted)?;
    if table.rows() == 0 {
        return Err(Error::NoRows {
            file: name.to_owned(),
        });
    }
    let pieces = TablePieces {
        columns: layout.used.clone(),
        schema: Arc::new(schema.project(&layout.used).map_err(damaged)?),
        table,
        batch_rows,
        batch: 0,
        row: 0,
    };
    Ok(layout.rows(name, Records::Table(pieces)))
}

fn damaged(error: arrow_schema::ArrowError) -> Error {
    Error::Table {
        message: error.to_string(),
    }
}

/// The rows of a table in pieces of plain types.
pub(crate) struct TablePieces {
    table: Arc<Table>,
    schema: arrow_schema::SchemaRef,
    columns: Vec<usize>,
    batch_rows: usize,
    /// The next row: the record batch and its place there.
    batch: usize,
    row: usize,
}

impl TablePieces {
    /// The next piece; at most `batch_rows` long, so that converting it takes little memory.
    pub fn next(&mut self) -> Option<RecordBatch> {
        loop {
            let records = self.table.batches().get(self.batch)?;
            let rows = (records.num_rows() - self.row).min(self.batch_rows);
            if rows == 0 {
                (self.batch, self.row) = (self.batch + 1, 0);
                continue;
            }
            let piece = |&index: &usize| plain(&records.column(index).slice(self.row, rows));
            let columns: Vec<ArrayRef> = self.columns.iter().map(piece).collect();
            self.row += rows;
            // The schema says the same: a table checks its batches, and plain types follow from theirs.
            return RecordBatch::try_new(self.schema.clone(), columns).ok();
        }
    }
}
