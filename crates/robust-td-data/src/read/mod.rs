//! Reads rows from each format into the same batches, with one module per format.

pub(crate) mod arrow;
mod arrow_column;
mod column_groups;
pub(crate) mod csv;
mod csv_field;
mod csv_header;
mod json_scan;
pub(crate) mod ndjson;
pub(crate) mod parquet;
mod plain;
mod row_major;
pub(crate) mod table;
