//! Holds a log in memory: columns by name.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, FixedSizeListArray, Float64Array, RecordBatch, UInt8Array, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use crate::error::{Error, Result};
use crate::memory;

/// The number of bytes after which the memory that is left is checked.
const CHECK_EVERY: usize = 64 << 20;
/// The memory that a stream must leave.
const RESERVE: u64 = 512 << 20;

/// A log in memory: Arrow record batches, or columns that are added one by one.
///
/// ```
/// use robust_td_data::{Evaluation, Log, Table};
///
/// // Two states that alternate, reward 1 in the first: V(0) = 1 / (1 - 0.9^2).
/// let obs: Vec<f64> = (0..4000).map(|t| f64::from(t % 2)).collect();
/// let reward: Vec<f64> = obs.iter().map(|x| 1.0 - x).collect();
/// let table = Table::default().matrix("obs", obs, 1)?.numbers("reward", reward)?;
/// let fit = Evaluation::new(Log::table(table)).discount(0.9).run()?;
/// assert!((fit.value(&[0.0])? - 1.0 / 0.19).abs() < 0.1);
/// # Ok::<(), robust_td_data::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            schema: Arc::new(Schema::empty()),
            batches: Vec::new(),
        }
    }
}

impl Table {
    /// The rows of record batches, in order.
    ///
    /// # Errors
    /// When a batch has other columns than the schema.
    pub fn of_batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self> {
        let types = |schema: &Schema| -> Vec<(String, arrow_schema::DataType)> {
            let fields = schema.fields().iter();
            let pair = |field: &Arc<Field>| (field.name().clone(), field.data_type().clone());
            fields.map(pair).collect()
        };
        let expected = types(&schema);
        match batches
            .iter()
            .all(|batch| types(&batch.schema()) == expected)
        {
            true => Ok(Self { schema, batches }),
            false => Err(wrong("the record batches have different columns".into())),
        }
    }

    /// Collects the record batches of a stream.
    ///
    /// # Errors
    /// Those of the stream, and when it does not fit in memory.
    pub fn collect(
        schema: SchemaRef,
        stream: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    ) -> Result<Self> {
        let (mut batches, mut unchecked) = (Vec::new(), 0);
        for batch in stream {
            let batch = batch.map_err(|error| wrong(error.to_string()))?;
            unchecked += batch.get_array_memory_size();
            batches.push(batch);
            if unchecked > CHECK_EVERY {
                unchecked = 0;
                if memory::available().is_some_and(|left| left < RESERVE) {
                    return Err(wrong(
                        "the data do not fit in memory; write them to Parquet files and evaluate those".into(),
                    ));
                }
            }
        }
        Self::of_batches(schema, batches)
    }

    /// Adds a column.
    ///
    /// # Errors
    /// When its length differs from that of the columns before it.
    pub fn column(self, name: impl Into<String>, values: ArrayRef) -> Result<Self> {
        let name = name.into();
        let mut fields: Vec<_> = self.schema.fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new(
            &name,
            values.data_type().clone(),
            true,
        )));
        let mut columns = match self.batches.as_slice() {
            [] => Vec::new(),
            [one] => one.columns().to_vec(),
            _ => {
                return Err(wrong(format!(
                    "the column {name} must come before record batches"
                )));
            }
        };
        if let Some(first) = columns.first().filter(|first| first.len() != values.len()) {
            let (found, expected) = (values.len(), first.len());
            let first = self.schema.field(0).name();
            return Err(wrong(format!(
                "the column {name} has {found} rows, but {first} has {expected}"
            )));
        }
        columns.push(values);
        let schema = Arc::new(Schema::new(fields));
        let records = RecordBatch::try_new(schema.clone(), columns);
        Ok(Self {
            batches: vec![records.map_err(|error| wrong(error.to_string()))?],
            schema,
        })
    }

    /// Adds vectors of the given width, one per row, concatenated: `obs` or `next_obs`.
    ///
    /// # Errors
    /// When the width does not divide the length, or the number of rows differs from that of the columns before it.
    pub fn matrix(self, name: impl Into<String>, values: Vec<f64>, width: usize) -> Result<Self> {
        let name = name.into();
        if width == 0 || !values.len().is_multiple_of(width) {
            let found = values.len();
            return Err(wrong(format!(
                "the column {name} has {found} numbers, not a multiple of {width}"
            )));
        }
        let values: ArrayRef = Arc::new(Float64Array::from(values));
        self.column(name, vectors(values, width)?)
    }

    /// Adds numbers: `reward` or `rho`.
    ///
    /// # Errors
    /// As [`Table::column`].
    pub fn numbers(self, name: impl Into<String>, values: Vec<f64>) -> Result<Self> {
        self.column(name, Arc::new(Float64Array::from(values)))
    }

    /// Adds flags: `terminated` or `truncated`.
    ///
    /// # Errors
    /// As [`Table::column`].
    pub fn flags(self, name: impl Into<String>, values: &[bool]) -> Result<Self> {
        let values = values.iter().map(|flag| u8::from(*flag));
        self.column(name, Arc::new(UInt8Array::from_iter_values(values)))
    }

    /// Adds the numbers of episodes or clusters.
    ///
    /// # Errors
    /// As [`Table::column`].
    pub fn ids(self, name: impl Into<String>, values: Vec<u64>) -> Result<Self> {
        self.column(name, Arc::new(UInt64Array::from(values)))
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The record batches.
    #[must_use]
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }
}

/// Vectors of the given width as one column.
///
/// # Errors
/// When the width is not positive or does not divide the number of values.
pub fn vectors(values: ArrayRef, width: usize) -> Result<ArrayRef> {
    let item = Arc::new(Field::new("item", values.data_type().clone(), true));
    let size = i32::try_from(width).map_err(|_| wrong(format!("{width} columns are too many")))?;
    let lists = FixedSizeListArray::try_new(item, size, values, None);
    Ok(Arc::new(lists.map_err(|error| wrong(error.to_string()))?))
}

fn wrong(message: String) -> Error {
    Error::Table { message }
}
