//! Reads the pages of a column of a Parquet file, each checked before memory is taken for it.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::{Compression, Type};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;

use super::budget::Budget;
use super::contents::Contents;
use super::page_header::{Kind, PageHeader};
use crate::stored::{Stored, read_at};

/// The number of bytes in which the header of a page is looked for first, and the longest header.
const FIRST: u64 = 256;
const LONGEST: u64 = 1 << 20;
/// The number of bytes of a column that are read together from elsewhere.
const AHEAD: u64 = 1 << 20;

/// The row groups of a file.
pub(super) struct CheckedGroups {
    pub file: Stored,
    pub metadata: Arc<ParquetMetaData>,
    pub budget: Arc<Budget>,
    /// The number of row groups at the start that are not read.
    pub left_out: usize,
}

impl CheckedGroups {
    fn groups(&self) -> &[RowGroupMetaData] {
        let groups = self.metadata.row_groups();
        &groups[self.left_out.min(groups.len())..]
    }
}

impl RowGroups for CheckedGroups {
    fn num_rows(&self) -> usize {
        let rows = self.groups().iter().map(RowGroupMetaData::num_rows);
        rows.map(|rows| usize::try_from(rows).unwrap_or(0)).sum()
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let descriptor = self.metadata.file_metadata().schema_descr().column(column);
        Ok(Box::new(Chunks {
            file: self.file.clone(),
            metadata: self.metadata.clone(),
            budget: self.budget.clone(),
            column,
            group: self.left_out,
            contents: Arc::new(Mutex::new(Contents::new(&descriptor, self.budget.clone()))),
        }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The parts of a column, one per row group.
struct Chunks {
    file: Stored,
    metadata: Arc<ParquetMetaData>,
    budget: Arc<Budget>,
    column: usize,
    group: usize,
    /// What the pages of all row groups hold: a record batch may span several.
    contents: Arc<Mutex<Contents>>,
}

impl Iterator for Chunks {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = self.metadata.row_groups().get(self.group)?;
        let pages = Pages::new(self, chunk.column(self.column), chunk.num_rows());
        self.group += 1;
        Some(Ok(Box::new(pages)))
    }
}

impl PageIterator for Chunks {}

/// The pages of a column in a row group.
struct Pages {
    file: Stored,
    budget: Arc<Budget>,
    /// For messages.
    group: usize,
    name: String,
    compression: Compression,
    kind: Type,
    type_length: i32,
    /// Where the next page starts, and the bytes and values that are left.
    at: u64,
    left: u64,
    values_left: u64,
    /// The header of the next page, if it has been read.
    next: Option<PageHeader>,
    /// The sizes of the dictionary and of the current page.
    dictionary: usize,
    current: usize,
    contents: Arc<Mutex<Contents>>,
    /// Bytes that were read together, from a place on, of a file that is stored elsewhere.
    ahead: (u64, Bytes),
}

impl Pages {
    fn new(chunks: &Chunks, chunk: &ColumnChunkMetaData, rows: i64) -> Self {
        let (at, left) = chunk.byte_range();
        Self {
            file: chunks.file.clone(),
            budget: chunks.budget.clone(),
            group: chunks.group,
            name: chunk.column_path().string(),
            compression: chunk.compression(),
            kind: chunk.column_type(),
            type_length: chunk.column_descr().type_length(),
            at,
            left,
            values_left: u64::try_from(chunk.num_values().max(rows)).unwrap_or(0),
            next: None,
            dictionary: 0,
            current: 0,
            contents: chunks.contents.clone(),
            ahead: (0, Bytes::new()),
        }
    }

    /// The next bytes of the column. Those of a file that is stored elsewhere are read in larger pieces, but only of this column and row group.
    fn bytes(&mut self, length: usize) -> Result<Bytes> {
        if let Stored::Here(file, _) = &self.file {
            let mut bytes = self.budget.buffers.take(length);
            if bytes.len() < length {
                bytes.resize(length, 0);
            }
            let read = read_at(file, self.at, &mut bytes[..length]);
            read.map_err(|error| self.fault(error))?;
            return Ok(self.budget.buffers.lend(bytes, length));
        }
        let (from, bytes) = &self.ahead;
        let start = self.at.checked_sub(*from).unwrap_or(u64::MAX);
        if start.saturating_add(length as u64) > bytes.len() as u64 {
            let most = self.left.min(AHEAD).max(length as u64);
            let bytes = self.file.get_bytes(self.at, most as usize)?;
            self.ahead = (self.at, bytes);
        }
        let start = (self.at - self.ahead.0) as usize;
        Ok(self.ahead.1.slice(start..start + length))
    }

    fn fault(&self, message: impl std::fmt::Display) -> ParquetError {
        ParquetError::General(format!(
            "row group {}, column {}: {message}",
            self.group, self.name
        ))
    }

    /// Reads the header of the next page that has data, unless it has been read; there is none at the end.
    fn advance(&mut self) -> Result<()> {
        while self.next.is_none() {
            if self.left == 0 {
                return Ok(());
            }
            let header = self.read_header()?;
            match header.kind {
                Kind::Other => {
                    self.at += header.stored_size as u64;
                    self.left -= header.stored_size as u64;
                }
                _ => self.next = Some(header),
            }
        }
        Ok(())
    }

    fn read_header(&mut self) -> Result<PageHeader> {
        let mut window = FIRST;
        let (header, length) = loop {
            let size = window.min(self.left);
            let bytes = self.bytes(size as usize)?;
            match PageHeader::read(&bytes) {
                Ok(read) => break read,
                // The header may continue.
                Err(_) if size < self.left && size < LONGEST => window *= 8,
                Err(fault) => return Err(self.fault(fault)),
            }
        };
        self.at += length as u64;
        self.left -= length as u64;
        if header.stored_size as u64 > self.left {
            let (size, left) = (header.stored_size, self.left);
            return Err(self.fault(format!("a page of {size} bytes where {left} are left")));
        }
        match header.kind {
            Kind::Data { values, .. } | Kind::DataV2 { values, .. } => {
                let left = self.values_left.checked_sub(u64::from(values));
                self.values_left = left.ok_or_else(|| {
                    self.fault("its pages have more values than the footer claims")
                })?;
            }
            Kind::Dictionary { values, .. } => {
                // Memory is taken for as many values as the header gives.
                let least = match self.kind {
                    Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
                    Type::INT64 | Type::DOUBLE => 8,
                    Type::INT96 => 12,
                    Type::FIXED_LEN_BYTE_ARRAY => {
                        u64::try_from(self.type_length).unwrap_or(1).max(1)
                    }
                    Type::BOOLEAN => 1,
                };
                let plain = header.plain_size as u64;
                if u64::from(values).saturating_mul(least) > plain {
                    return Err(
                        self.fault(format!("a dictionary of {values} values in {plain} bytes"))
                    );
                }
            }
            Kind::Other => {}
        }
        Ok(header)
    }

    /// Reads and decompresses what follows the header.
    fn read_page(&mut self, header: PageHeader) -> Result<Page> {
        self.budget.give(std::mem::take(&mut self.current));
        let size = header.plain_size.max(header.stored_size);
        self.budget
            .take(size)
            .map_err(|message| self.fault(message))?;
        match header.kind {
            Kind::Dictionary { .. } => self.dictionary += size,
            _ => self.current = size,
        }
        let stored = self.bytes(header.stored_size)?;
        self.at += header.stored_size as u64;
        self.left -= header.stored_size as u64;
        // Levels of the second version are not compressed.
        let (levels, compressed) = match header.kind {
            Kind::DataV2 {
                definition_size,
                repetition_size,
                compressed,
                ..
            } => (
                definition_size as usize + repetition_size as usize,
                compressed,
            ),
            _ => (0, true),
        };
        if levels > header.plain_size.min(stored.len()) {
            return Err(self.fault("the levels of a page are longer than the page"));
        }
        let buf = if self.compression == Compression::UNCOMPRESSED || !compressed {
            stored
        } else {
            let mut plain = self.budget.buffers.take(header.plain_size);
            plain.clear();
            plain.extend_from_slice(&stored[..levels]);
            let rest = header.plain_size - levels;
            // A page without values may be empty.
            if rest > 0 {
                let codecs = &self.budget.codecs;
                codecs
                    .decompress(self.compression, &stored[levels..], rest, &mut plain)
                    .map_err(|message| self.fault(message))?;
            }
            self.budget.buffers.lend(plain, header.plain_size)
        };
        let page = page(header.kind, buf).ok_or_else(|| self.fault("a page without data"))?;
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents
            .check(&page)
            .map_err(|message| self.fault(message))?;
        Ok(page)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.budget.give(self.current + self.dictionary);
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.advance()?;
        match self.next.take() {
            None => Ok(None),
            Some(header) => self.read_page(header).map(Some),
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.advance()?;
        Ok(self.next.as_ref().map(|header| match header.kind {
            Kind::DataV2 { values, rows, .. } => PageMetadata {
                num_rows: Some(rows as usize),
                num_levels: Some(values as usize),
                is_dict: false,
            },
            Kind::Data { values, .. } => PageMetadata {
                num_rows: None,
                num_levels: Some(values as usize),
                is_dict: false,
            },
            Kind::Dictionary { .. } | Kind::Other => PageMetadata {
                num_rows: None,
                num_levels: None,
                is_dict: true,
            },
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.advance()?;
        if let Some(header) = self.next.take() {
            self.at += header.stored_size as u64;
            self.left -= header.stored_size as u64;
        }
        Ok(())
    }
}

/// The page with its bytes; `None` if it has no data.
fn page(kind: Kind, buf: Bytes) -> Option<Page> {
    Some(match kind {
        Kind::Data {
            values,
            encoding,
            definition,
            repetition,
        } => Page::DataPage {
            buf,
            num_values: values,
            encoding,
            def_level_encoding: definition,
            rep_level_encoding: repetition,
            statistics: None,
        },
        Kind::DataV2 {
            values,
            nulls,
            rows,
            encoding,
            definition_size,
            repetition_size,
            compressed,
        } => Page::DataPageV2 {
            buf,
            num_values: values,
            encoding,
            num_nulls: nulls,
            num_rows: rows,
            def_levels_byte_len: definition_size,
            rep_levels_byte_len: repetition_size,
            is_compressed: compressed,
            statistics: None,
        },
        Kind::Dictionary {
            values,
            encoding,
            sorted,
        } => Page::DictionaryPage {
            buf,
            num_values: values,
            encoding,
            is_sorted: sorted,
        },
        Kind::Other => return None,
    })
}
