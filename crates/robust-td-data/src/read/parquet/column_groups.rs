//! Decodes groups of columns of a Parquet file, each on a thread of its own.
//!
//! All groups have the same rows, so their record batches fit together in order; memory is that of a few batches.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, RowGroups as _, RowSelection, RowSelector,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};

use super::budget::Budget;
use super::pages::CheckedGroups;
use crate::ahead::ahead;
use crate::guard::guarded;
use crate::stored::Stored;

/// The compressed size from which on threads are worth starting.
const SMALLEST: i64 = 1 << 20;

/// A record batch, or `None` at the end.
type Message = Result<Option<RecordBatch>, String>;

/// The groups of columns of a file.
pub(crate) struct ColumnGroups {
    schema: SchemaRef,
    groups: Vec<Group>,
}

/// A group of columns that are decoded on one thread.
struct Group {
    decoded: Receiver<Message>,
    /// What was returned last, and where it goes when it is no longer needed: memory is freed fastest on the thread that took it.
    last: Option<RecordBatch>,
    used: Sender<RecordBatch>,
}

impl ColumnGroups {
    /// Starts decoding the used columns in up to this number of groups; `None` if one reader does as well.
    pub(super) fn start(
        file: &Stored,
        metadata: &ArrowReaderMetadata,
        used: &[usize],
        size: Size<'_>,
        threads: usize,
    ) -> Result<Option<Self>, String> {
        let sizes: Vec<i64> = sizes(metadata, used);
        let whole = sizes
            .iter()
            .fold(0_i64, |sum, size| sum.saturating_add(*size));
        if threads < 2 || used.len() < 2 || whole < SMALLEST {
            return Ok(None);
        }
        let mut groups = Vec::new();
        for group in divide(used, &sizes, threads) {
            let file = file.again().map_err(|error| error.to_string())?;
            let reader = reader(file, metadata, group, size)?;
            // Lists and texts may be long.
            let fields = metadata.schema().fields();
            let is_short = |kind: &DataType| kind.is_primitive() || *kind == DataType::Boolean;
            let numbers = (group.iter()).all(|&index| is_short(fields[index].data_type()));
            let columns = if numbers { group.len() } else { usize::MAX };
            let (sender, receiver) = sync_channel(ahead(size.0.batch_rows, columns));
            let (used, returned) = channel();
            std::thread::Builder::new()
                .name("columns".to_owned())
                .spawn(move || decode(reader, &sender, &returned))
                .map_err(|error| error.to_string())?;
            groups.push(Group {
                decoded: receiver,
                last: None,
                used,
            });
        }
        let schema = metadata.schema().project(used);
        let schema = Arc::new(schema.map_err(|error| error.to_string())?);
        Ok(Some(Self { schema, groups }))
    }

    /// The number of threads that decode.
    pub fn threads(&self) -> usize {
        self.groups.len()
    }

    /// The next record batch with the columns of all groups; the one before must no longer be in use.
    pub fn next(&mut self) -> Message {
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        let mut ended = 0;
        for group in &mut self.groups {
            let stopped = |_| "decoding stopped before the end of the file".to_owned();
            if let Some(last) = group.last.take() {
                // At the end of the file it is freed here.
                let _ = group.used.send(last);
            }
            match group.decoded.recv().map_err(stopped)?? {
                Some(records) => {
                    columns.extend_from_slice(records.columns());
                    group.last = Some(records);
                }
                None => ended += 1,
            }
        }
        if ended == self.groups.len() {
            return Ok(None);
        }
        let records = RecordBatch::try_new(self.schema.clone(), columns);
        records.map(Some).map_err(|error| error.to_string())
    }
}

/// The budget, and the numbers of row groups at the start and of rows after these that are left out.
pub(super) type Size<'a> = (&'a Arc<Budget>, usize, u64);

/// A reader of some columns, given by their indices.
pub(super) fn reader(
    file: Stored,
    metadata: &ArrowReaderMetadata,
    columns: &[usize],
    (budget, left_out, skipped): Size<'_>,
) -> Result<ParquetRecordBatchReader, String> {
    let schema = metadata.parquet_schema();
    let mask = ProjectionMask::roots(schema, columns.iter().copied());
    let groups = CheckedGroups {
        file,
        metadata: metadata.metadata().clone(),
        budget: budget.clone(),
        left_out,
    };
    guarded(|| {
        let levels = parquet_to_arrow_field_levels(schema, mask, Some(metadata.schema().fields()))?;
        let rows = budget.batch_rows;
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let selection = (skipped > 0).then(|| {
            let rest = groups.num_rows().saturating_sub(skipped);
            RowSelection::from(vec![RowSelector::skip(skipped), RowSelector::select(rest)])
        });
        ParquetRecordBatchReader::try_new_with_row_groups(&levels, &groups, rows, selection)
    })
}

/// Decodes until the end, an error, or until the receiver is gone.
fn decode(
    mut reader: ParquetRecordBatchReader,
    sender: &SyncSender<Message>,
    used: &Receiver<RecordBatch>,
) {
    loop {
        used.try_iter().for_each(drop);
        let next = guarded(|| reader.next().transpose());
        let more = matches!(next, Ok(Some(_)));
        if sender.send(next).is_err() || !more {
            return;
        }
    }
}

/// The compressed size of each used column.
fn sizes(metadata: &ArrowReaderMetadata, used: &[usize]) -> Vec<i64> {
    let (file, schema) = (metadata.metadata(), metadata.parquet_schema());
    let mut sizes = vec![0; schema.root_schema().get_fields().len()];
    for group in file.row_groups() {
        for (leaf, chunk) in group.columns().iter().enumerate() {
            sizes[schema.get_column_root_idx(leaf)] += chunk.compressed_size();
        }
    }
    used.iter().map(|&root| sizes[root]).collect()
}

/// Divides columns into consecutive groups of about the same size.
fn divide<'a>(used: &'a [usize], sizes: &[i64], groups: usize) -> Vec<&'a [usize]> {
    let whole: i64 = sizes.iter().sum();
    let mut ends = Vec::new();
    let mut sum = 0;
    for (k, size) in sizes.iter().enumerate() {
        sum += size;
        let due = whole / groups as i64 * (ends.len() as i64 + 1);
        if sum >= due && ends.len() + 1 < groups {
            ends.push(k + 1);
        }
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let ends = ends.iter().copied().chain([used.len()]);
    let parts = starts.zip(ends).map(|(start, end)| &used[start..end]);
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_about_the_same_size_and_all_columns() {
        let used: Vec<usize> = (3..14).collect();
        for groups in 1..20 {
            let parts = divide(&used, &[10; 11], groups);
            assert!(parts.len() <= groups && !parts.is_empty());
            assert!(parts.concat() == used);
        }
        assert_eq!(divide(&used, &[10; 11], 2), [&used[..6], &used[6..]]);
        let sizes = [100, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(divide(&used, &sizes, 2), [&used[..1], &used[1..]]);
        assert_eq!(divide(&used, &[0; 11], 2).concat(), used);
    }
}
