//! Reads rows from Parquet files.
//!
//! Only columns with a role are read. Types are those of Parquet itself: hints that a writer left for Arrow
//! (dictionaries, fixed-length lists) do not change the values.

use std::fs::File;

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::layout::{CellKind, Column, Layout, Target, Wanted};
use crate::read::parquet_column::{ParquetColumn, is_list};
use crate::row::{Bad, Ledger, LogRow, Place};

/// The rows of a Parquet file.
pub(crate) struct ParquetRows {
    file: String,
    reader: ParquetRecordBatchReader,
    layout: Layout,
    /// The columns with a role, in the order of the record batches.
    columns: Vec<ParquetColumn>,
    row: LogRow,
    rows: u64,
    /// Rows of the current record batch, and the number already used.
    loaded: usize,
    used: usize,
}

impl ParquetRows {
    pub fn open(name: &str, file: File, wanted: &Wanted, batch_rows: usize) -> Result<Self> {
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
        let builder =
            guarded(|| ParquetRecordBatchReaderBuilder::try_new_with_options(file, options))
                .map_err(damaged)?;
        let schema = builder.schema().clone();
        let columns: Vec<Column> = (schema.fields().iter())
            .map(|field| Column {
                name: field.name().clone(),
                kind: match is_list(field.data_type()) {
                    true => CellKind::List,
                    false => CellKind::Scalar,
                },
            })
            .collect();
        let layout = Layout::resolve(name, &columns, wanted)?;
        let mut used = Vec::new();
        let mut readers = Vec::new();
        for (index, &target) in layout.targets.iter().enumerate() {
            if target != Target::Skip {
                used.push(index);
                let data_type = schema.field(index).data_type();
                let column = ParquetColumn::new(index, target, data_type);
                readers.push(column.map_err(|wanted| Error::ColumnType {
                    file: name.to_owned(),
                    column: layout.name(index),
                    found: data_type.to_string(),
                    wanted,
                })?);
            }
        }
        if builder.metadata().file_metadata().num_rows() == 0 {
            return Err(Error::NoRows {
                file: name.to_owned(),
            });
        }
        let mask = ProjectionMask::roots(builder.parquet_schema(), used);
        let builder = builder.with_projection(mask).with_batch_size(batch_rows);
        let reader = guarded(|| builder.build()).map_err(damaged)?;
        Ok(Self {
            file: name.to_owned(),
            reader,
            row: LogRow::of(&layout),
            layout,
            columns: readers,
            rows: 0,
            loaded: 0,
            used: 0,
        })
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Adds rows until the batch is full; false when the file has no more.
    pub fn fill(&mut self, batch: &mut Batch, ledger: &mut Ledger) -> Result<bool> {
        while batch.len() < ledger.batch_rows {
            if self.used == self.loaded {
                match guarded(|| self.reader.next().transpose()) {
                    Ok(None) => return Ok(false),
                    Ok(Some(records)) => self.load(&records),
                    Err(message) => {
                        return Err(Error::Parquet {
                            file: self.file.clone(),
                            row: self.rows,
                            message,
                        });
                    }
                }
                continue;
            }
            let read = read_row(&self.columns, self.used, &mut self.row);
            self.used += 1;
            self.rows += 1;
            let place = Place {
                file: &self.file,
                row: self.rows,
                line: None,
            };
            ledger.enter(batch, &self.row, &self.layout, place, read)?;
        }
        Ok(true)
    }

    fn load(&mut self, records: &RecordBatch) {
        for (column, array) in self.columns.iter_mut().zip(records.columns()) {
            column.load(array);
        }
        self.loaded = records.num_rows();
        self.used = 0;
    }
}

#[inline]
fn read_row(columns: &[ParquetColumn], i: usize, row: &mut LogRow) -> std::result::Result<(), Bad> {
    for column in columns {
        column
            .read(i, row)
            .map_err(|kind| Bad::at(column.index(), kind))?;
    }
    Ok(())
}
