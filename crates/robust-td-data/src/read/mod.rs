//! Reads rows from each format, one per file, all into the same batches.

pub(crate) mod csv;
mod json_scan;
pub(crate) mod ndjson;
pub(crate) mod parquet;
mod parquet_column;
