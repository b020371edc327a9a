//! Limits what a Parquet file may claim and take, by its own length.
//!
//! A few bytes can describe billions of rows, pages of gigabytes, or one list of a billion numbers. What a file holds is compared
//! with its length before memory is taken: the limits are far beyond what writers make of logs, and small enough that no file of
//! a megabyte takes more than a few hundred megabytes or a few seconds.

use std::sync::atomic::{AtomicU64, Ordering};

use parquet::basic::Type;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::buffers::Buffers;
use super::codec::Codecs;

/// Values that a file of any length may have, and those per byte.
const VALUES: u64 = 1 << 23;
const VALUES_PER_BYTE: u64 = 24;
/// Rows that a file of any length may have, and rows per byte beyond `ROWS_FROM` bytes. `predict` computes an interval per row, and rows that all
/// differ can be stored in a bit each.
const ROWS: u64 = 2_800_000;
const ROWS_PER_BYTE: u64 = 8;
const ROWS_FROM: u64 = 650_000;
/// Values of a list in the mean, and those per byte of the file.
const WIDTH: u64 = 1 << 16;
const BYTES_PER_WIDTH: u64 = 16;
/// Bytes of pages that may be in memory at the same time, and those per byte of the file.
const PAGES: u64 = 96 << 20;
const PAGES_PER_BYTE: u64 = 32;
/// Bytes of pages that may be decompressed in all, and those per byte of the file.
const UNPACKED: u64 = 1 << 30;
const UNPACKED_PER_BYTE: u64 = 512;
/// Bytes of a record batch of all columns; several are in memory.
const BATCH: u64 = 24 << 20;
/// Bytes of the lists and texts of a record batch, and those per byte of the file: more than expected, because they differ in length.
const GROWING: u64 = 64 << 20;
const GROWING_PER_BYTE: u64 = 8;
/// Bytes of the texts of all rows, and those per byte of the file: each is hashed.
const TEXTS: u64 = 512 << 20;
const TEXTS_PER_BYTE: u64 = 256;
/// Bytes per number in a record batch: as decoded, as f64, by rows, and its levels.
pub(super) const PER_NUMBER: u64 = 28;
/// Bytes per text beside its own.
pub(super) const PER_TEXT: u64 = 16;

/// What a file may take, and what it has taken.
pub(super) struct Budget {
    pub codecs: Codecs,
    pub buffers: Buffers,
    /// The length of the file.
    pub length: u64,
    /// Rows per record batch.
    pub batch_rows: usize,
    /// The bytes of the lists and texts of a record batch.
    pub most_growing: u64,
    growing: AtomicU64,
    most_pages: u64,
    pages: AtomicU64,
    most_unpacked: u64,
    unpacked: AtomicU64,
    most_texts: u64,
    texts: AtomicU64,
}

impl Budget {
    /// Compares what the used columns (roots of the schema) claim to hold with the length of the file.
    pub fn new(
        metadata: &ParquetMetaData,
        used: &[usize],
        length: u64,
        batch_rows: usize,
    ) -> Result<Self, String> {
        let schema = metadata.file_metadata().schema_descr();
        let mut is_used = vec![false; schema.root_schema().get_fields().len()];
        for &root in used {
            is_used[root] = true;
        }
        let leaves = 0..schema.num_columns();
        let leaves: Vec<usize> = leaves
            .filter(|&leaf| is_used[schema.get_column_root_idx(leaf)])
            .collect();
        let mut claimed = Claimed {
            length,
            ..Claimed::default()
        };
        for (number, group) in metadata.row_groups().iter().enumerate() {
            claimed
                .add(group, &leaves)
                .map_err(|message| format!("row group {number}, {message}"))?;
        }
        let rows = metadata.file_metadata().num_rows();
        if i64::try_from(claimed.rows) != Ok(rows) {
            return Err(format!(
                "its footer claims {rows} rows, but its row groups {}",
                claimed.rows
            ));
        }
        let limit = VALUES.saturating_add(VALUES_PER_BYTE.saturating_mul(length));
        if claimed.values > limit {
            return Err(format!(
                "it claims to hold {} values in a file of {length} bytes, but the limit for this length is {limit}; if that is \
                 right, write it as CSV, or in several files",
                claimed.values
            ));
        }
        let limit = ROWS.max(ROWS_PER_BYTE.saturating_mul(length.saturating_sub(ROWS_FROM)));
        if claimed.rows > limit {
            return Err(format!(
                "it claims to hold {} rows in a file of {length} bytes, but the limit for this length is {limit}; if that is \
                 right, write it as CSV, or in several files",
                claimed.rows
            ));
        }
        let per_row = claimed.bytes / claimed.rows.max(1) + 1;
        let most = (batch_rows as u64).min(claimed.rows).max(1);
        Ok(Self {
            codecs: Codecs::default(),
            buffers: Buffers::default(),
            length,
            batch_rows: (BATCH / per_row).clamp(1, most) as usize,
            most_growing: GROWING.saturating_add(GROWING_PER_BYTE.saturating_mul(length)),
            growing: AtomicU64::new(0),
            most_pages: PAGES.saturating_add(PAGES_PER_BYTE.saturating_mul(length)),
            pages: AtomicU64::new(0),
            most_unpacked: UNPACKED.saturating_add(UNPACKED_PER_BYTE.saturating_mul(length)),
            unpacked: AtomicU64::new(0),
            most_texts: TEXTS.saturating_add(TEXTS_PER_BYTE.saturating_mul(length)),
            texts: AtomicU64::new(0),
        })
    }

    /// Takes the memory of a page; `give` returns it.
    pub fn take(&self, size: usize) -> Result<(), String> {
        let size = size as u64;
        let over = |name: &str, size: u64, limit: u64| {
            Err(format!(
                "its pages need {size} bytes{name}, but the limit for a file of {} bytes is {limit}",
                self.length
            ))
        };
        let unpacked = self.unpacked.fetch_add(size, Ordering::Relaxed);
        let unpacked = unpacked.saturating_add(size);
        if unpacked > self.most_unpacked {
            return over(" in all", unpacked, self.most_unpacked);
        }
        let pages = self.pages.load(Ordering::Relaxed).saturating_add(size);
        if pages > self.most_pages {
            return over(" at the same time", pages, self.most_pages);
        }
        self.pages.fetch_add(size, Ordering::Relaxed);
        Ok(())
    }

    /// Replaces the size of a column's record batch by another one; on failure, the size of all.
    pub fn replace(&self, old: u64, new: u64) -> Result<(), u64> {
        let before = self.growing.fetch_add(new, Ordering::Relaxed);
        self.growing.fetch_sub(old, Ordering::Relaxed);
        match before.saturating_add(new).saturating_sub(old) {
            all if all > self.most_growing => Err(all),
            _ => Ok(()),
        }
    }

    /// Counts the bytes of further texts.
    pub fn add_texts(&self, size: u64) -> Result<(), String> {
        let before = self.texts.fetch_add(size, Ordering::Relaxed);
        match before.saturating_add(size) {
            all if all > self.most_texts => Err(format!(
                "the texts of its rows have more than {} bytes in all, the limit for a file of {} bytes; write shorter names, CSV, or several files",
                self.most_texts, self.length
            )),
            _ => Ok(()),
        }
    }

    /// Returns the memory of pages.
    pub fn give(&self, size: usize) {
        self.pages.fetch_sub(size as u64, Ordering::Relaxed);
    }
}

/// What the footer says of the used columns.
#[derive(Default)]
struct Claimed {
    length: u64,
    rows: u64,
    values: u64,
    /// Bytes stored, and bytes of all record batches.
    stored: u64,
    bytes: u64,
}

impl Claimed {
    fn add(&mut self, group: &RowGroupMetaData, leaves: &[usize]) -> Result<(), String> {
        let Ok(rows) = u64::try_from(group.num_rows()) else {
            return Err("its number of rows is negative".to_owned());
        };
        for &leaf in leaves {
            let chunk = group
                .columns()
                .get(leaf)
                .ok_or_else(|| format!("it has no column {leaf}"))?;
            self.add_chunk(chunk, rows)
                .map_err(|message| format!("column {}: {message}", chunk.column_path().string()))?;
        }
        self.rows = self.rows.saturating_add(rows);
        Ok(())
    }

    fn add_chunk(
        &mut self,
        chunk: &parquet::file::metadata::ColumnChunkMetaData,
        rows: u64,
    ) -> Result<(), String> {
        let column = chunk.column_descr();
        // Some writers do not count what is missing.
        let values = u64::try_from(chunk.num_values()).map(|values| values.max(rows));
        let repeats = column.max_rep_level() > 0;
        let values = match values {
            Ok(values) if repeats || values == rows => values,
            _ => {
                return Err(format!(
                    "it claims {} values in {rows} rows",
                    chunk.num_values()
                ));
            }
        };
        let widest = WIDTH + self.length / BYTES_PER_WIDTH;
        if values > rows.saturating_mul(widest) {
            return Err(format!(
                "it claims lists of {} values, but the limit for a file of {} bytes is {widest}",
                values / rows.max(1),
                self.length
            ));
        }
        let starts = [
            Some(chunk.data_page_offset()),
            chunk.dictionary_page_offset(),
        ];
        let stored = u64::try_from(chunk.compressed_size()).unwrap_or(u64::MAX);
        let inside = starts.into_iter().flatten().all(|start| start >= 0)
            && chunk.byte_range().0.saturating_add(stored) <= self.length;
        self.stored = self.stored.saturating_add(stored);
        if !inside || self.stored > self.length {
            return Err(format!(
                "its pages are not within the {} bytes of the file",
                self.length
            ));
        }
        self.values = self.values.saturating_add(values);
        let plain = u64::try_from(chunk.uncompressed_size()).unwrap_or(0);
        let size = match column.physical_type() {
            Type::BYTE_ARRAY => plain.saturating_add(values.saturating_mul(PER_TEXT)),
            Type::FIXED_LEN_BYTE_ARRAY => {
                let each = u64::try_from(column.type_length()).unwrap_or(0);
                values.saturating_mul(PER_NUMBER.saturating_add(each))
            }
            _ => values.saturating_mul(PER_NUMBER),
        };
        self.bytes = self.bytes.saturating_add(size);
        Ok(())
    }
}
