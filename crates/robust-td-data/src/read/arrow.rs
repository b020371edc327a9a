//! Reads rows from Arrow record batches, of a Parquet file or in memory.

use std::collections::{HashMap, HashSet};

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::take::take;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::kept::Cells;
use crate::layout::{CellKind, Column, Layout, Target, Wanted};
use crate::read::arrow_column::{ArrowColumn, is_list};
use crate::read::parquet::ColumnGroups;
use crate::read::quantity;
use crate::read::table::TablePieces;
use crate::read::whole_rows::WholeRows;
use crate::row::{Bad, Ledger, LogRow, Place};

/// A batch with this many values of observations is returned instead of being filled further: to enlarge it takes longer.
const ENOUGH: usize = 1 << 18;

/// The rows of record batches.
pub(crate) struct ArrowRows {
    name: String,
    records: Records,
    layout: Layout,
    /// The columns with a role, and their places in the record batches.
    columns: Vec<ArrowColumn>,
    places: Vec<usize>,
    /// The columns to copy: their names, their places, and the rows of the current record batch to copy.
    kept: (Vec<String>, Vec<usize>),
    arrays: Vec<ArrayRef>,
    picked: Vec<u64>,
    row: LogRow,
    rows: u64,
    stored: Option<u64>,
    /// Rows of the current record batch, and the number already used.
    loaded: usize,
    used: usize,
    /// How rows are added many at a time, if they can be, and whether those of the current record batch are.
    whole: Option<WholeRows>,
    together: bool,
}

/// Where record batches come from; they have only the columns with a role.
pub(crate) enum Records {
    Parquet(Box<ParquetRecordBatchReader>),
    Groups(ColumnGroups),
    Table(TablePieces),
}

impl Records {
    /// The number of threads that decode them.
    fn threads(&self) -> usize {
        match self {
            Self::Groups(groups) => groups.threads(),
            Self::Parquet(_) | Self::Table(_) => 1,
        }
    }

    fn next(&mut self) -> std::result::Result<Option<RecordBatch>, String> {
        match self {
            Self::Parquet(reader) => guarded(|| reader.next().transpose()),
            Self::Groups(groups) => groups.next(),
            Self::Table(pieces) => Ok(pieces.next()),
        }
    }
}

impl ArrowRows {
    /// The same after this number of rows that are left out, of this number of rows.
    pub fn after(mut self, rows: u64, all: u64) -> Self {
        (self.rows, self.stored) = (rows, Some(all));
        self
    }

    /// The number of rows that the file says it has.
    pub fn stored(&self) -> Option<u64> {
        self.stored
    }
}

/// The columns of a source with their roles, before its rows are read.
pub(crate) struct ArrowLayout {
    layout: Layout,
    columns: Vec<ArrowColumn>,
    /// The indices of the columns with a role or to copy.
    pub used: Vec<usize>,
}

impl ArrowLayout {
    /// Assigns the columns of a schema to roles.
    pub fn resolve(name: &str, schema: &SchemaRef, wanted: &Wanted) -> Result<Self> {
        let columns: Vec<Column> = (schema.fields().iter())
            .map(|field| Column {
                name: field.name().clone(),
                kind: match field.data_type() {
                    kind if is_list(kind) => CellKind::List,
                    DataType::Utf8 => CellKind::Text,
                    _ => CellKind::Scalar,
                },
            })
            .collect();
        let mut layout = Layout::resolve(name, &columns, wanted)?;
        let mut used = Vec::new();
        let (mut readers, mut times) = (Vec::new(), Vec::new());
        let kept: HashSet<usize> = layout.kept.iter().copied().collect();
        for (index, &target) in layout.targets.iter().enumerate() {
            if target != Target::Skip || kept.contains(&index) {
                used.push(index);
            }
            if target != Target::Skip {
                let data_type = schema.field(index).data_type();
                if quantity::is_time(data_type) && matches!(target, Target::Obs(_)) {
                    let column = layout.names[index].clone();
                    let origin = quantity::origin(data_type);
                    times.push((column, origin));
                }
                let column = ArrowColumn::new(index, target, data_type);
                readers.push(column.map_err(|wanted| Error::ColumnType {
                    file: name.to_owned(),
                    column: layout.name(index),
                    found: data_type.to_string(),
                    wanted,
                })?);
            }
        }
        layout.schema.times = times;
        Ok(Self {
            layout,
            columns: readers,
            used,
        })
    }

    /// The rows of record batches that have the used columns.
    pub fn rows(self, name: &str, records: Records) -> ArrowRows {
        let places: HashMap<usize, usize> = (self.used.iter().enumerate())
            .map(|(place, used)| (*used, place))
            .collect();
        let place = |index: &usize| places.get(index).copied().unwrap_or(0);
        let row = LogRow::of(&self.layout);
        ArrowRows {
            whole: WholeRows::of(&self.columns, &row),
            together: false,
            places: self
                .columns
                .iter()
                .map(|column| place(&column.index()))
                .collect(),
            kept: (
                self.layout.kept_names(),
                self.layout.kept.iter().map(place).collect(),
            ),
            arrays: Vec::new(),
            picked: Vec::new(),
            name: name.to_owned(),
            records,
            row,
            layout: self.layout,
            columns: self.columns,
            rows: 0,
            stored: None,
            loaded: 0,
            used: 0,
        }
    }
}

impl ArrowRows {
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Adds rows until the batch is full; false when there are no more.
    pub fn fill(&mut self, batch: &mut Batch, ledger: &mut Ledger) -> Result<bool> {
        let more = self.fill_rows(batch, ledger);
        self.keep(batch);
        more
    }

    fn fill_rows(&mut self, batch: &mut Batch, ledger: &mut Ledger) -> Result<bool> {
        while batch.len() < ledger.most_rows(ledger.dimension) {
            if self.used == self.loaded {
                if batch.obs.len() >= ENOUGH {
                    return Ok(true);
                }
                self.keep(batch);
                self.unload();
                match self.records.next() {
                    Ok(None) => return Ok(false),
                    Ok(Some(records)) => self.load(&records),
                    Err(message) => {
                        return Err(Error::Parquet {
                            file: self.name.clone(),
                            row: self.rows,
                            message,
                        });
                    }
                }
                continue;
            }
            if self.together {
                self.together = self.fill_together(batch, ledger);
                continue;
            }
            let read = read_row(&self.columns, self.used, &mut self.row);
            self.used += 1;
            self.rows += 1;
            let place = Place {
                file: &self.name,
                row: self.rows,
                line: None,
            };
            let before = batch.len();
            ledger.enter(batch, &mut self.row, &self.layout, place, read)?;
            if batch.len() > before && !self.arrays.is_empty() {
                self.picked.push(self.used as u64 - 1);
            }
        }
        Ok(true)
    }

    /// Adds rows of the current record batch until the batch is full; false, and no rows, if they must be read one by one.
    fn fill_together(&mut self, batch: &mut Batch, ledger: &mut Ledger) -> bool {
        let Some(whole) = &self.whole else {
            return false;
        };
        let dimension = whole.dimension();
        if ledger.dimension.is_some_and(|own| own != dimension) {
            return false;
        }
        let most = ledger.most_rows(Some(dimension));
        if batch.is_empty() {
            batch.reserve_numbers(most);
        }
        let count = (most - batch.len()).min(self.loaded - self.used);
        let rows = self.used..self.used + count;
        let first = batch.len();
        let (columns, row) = (&self.columns, &self.row);
        let how = (self.rows + 1, self.records.threads());
        if !whole.append_if_good(columns, row, rows.clone(), how, batch) {
            return false;
        }
        batch.note_gap(first, std::mem::take(&mut ledger.gap));
        ledger.dimension = Some(dimension);
        if !self.arrays.is_empty() {
            self.picked.extend(rows.clone().map(|i| i as u64));
        }
        self.used = rows.end;
        self.rows += count as u64;
        true
    }

    /// Copies the rows of the current record batch that were used since the last time.
    fn keep(&mut self, batch: &mut Batch) {
        if self.picked.is_empty() {
            return;
        }
        batch.kept.start(&self.kept.0, Cells::arrays);
        let rows = UInt64Array::from(std::mem::take(&mut self.picked));
        // The rows exist, so nothing can fail.
        let taken = self.arrays.iter().map(|array| take(array, &rows, None));
        batch.kept.append(taken.filter_map(std::result::Result::ok));
    }

    /// Forgets the current record batch.
    fn unload(&mut self) {
        self.columns.iter_mut().for_each(ArrowColumn::unload);
        self.arrays.clear();
    }

    fn load(&mut self, records: &RecordBatch) {
        for (column, &place) in self.columns.iter_mut().zip(&self.places) {
            column.load(records.column(place));
        }
        let kept = self.kept.1.iter();
        self.arrays = kept.map(|&place| records.column(place).clone()).collect();
        self.loaded = records.num_rows();
        self.used = 0;
        self.together = self.whole.is_some();
    }
}

/// Reads the cells of row i.
#[inline]
fn read_row(columns: &[ArrowColumn], i: usize, row: &mut LogRow) -> std::result::Result<(), Bad> {
    for column in columns {
        if let Err(kind) = column.read(i, row) {
            row.miss(column.target(), column.index(), kind)?;
        }
    }
    Ok(())
}
