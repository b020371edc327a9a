//! Reads rows from each format into the same batches, with one module per format.

pub(crate) mod arrow;
mod arrow_column;
pub(crate) mod csv;
mod csv_blocks;
mod csv_field;
mod csv_header;
mod decimal;
mod json_scan;
pub(crate) mod ndjson;
pub(crate) mod parquet;
mod plain;
mod quantity;
pub(crate) mod table;
mod whole_rows;

pub(crate) use arrow_column::to_i64 as integers;
pub(crate) use csv_blocks::Blocks;
pub(crate) use quantity::to_f64 as quantities;
