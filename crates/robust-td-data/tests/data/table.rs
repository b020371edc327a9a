//! Draws random logs and writes them in every format.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;
use robust_td_data::{Batch, Compression, Format, ReadOptions, Reader, Result, Source};

/// One row of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRow {
    pub obs: Vec<f64>,
    pub next_obs: Vec<f64>,
    pub reward: f64,
    pub terminated: bool,
    pub truncated: bool,
    pub episode: i64,
    pub rho: f64,
}

/// A log with all columns.
#[derive(Debug, Clone)]
pub struct Table {
    pub rows: Vec<LogRow>,
}

fn any_finite() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![
        NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE,
        -1.0..1.0,
        (-5_i32..5).prop_map(f64::from)
    ]
}

pub fn any_table() -> impl Strategy<Value = Table> {
    (1_usize..4).prop_flat_map(|d| {
        let vector = || prop::collection::vec(any_finite(), d);
        let flags = (prop::bool::weighted(0.2), prop::bool::weighted(0.2));
        let row = (vector(), vector(), any_finite(), flags, -2_i64..3, 0.0..4.0).prop_map(
            |(obs, next_obs, reward, flags, episode, rho)| LogRow {
                obs,
                next_obs,
                reward,
                terminated: flags.0,
                truncated: flags.1,
                episode,
                rho,
            },
        );
        prop::collection::vec(row, 1..40).prop_map(|rows| Table { rows })
    })
}

impl Table {
    pub fn dimension(&self) -> usize {
        self.rows[0].obs.len()
    }

    /// CSV with numbered columns, or lists in quotes.
    pub fn csv(&self, lists: bool) -> String {
        let numbered = |name: &str| -> Vec<String> {
            (0..self.dimension())
                .map(|k| format!("{name}_{k}"))
                .collect()
        };
        let (obs, next) = match lists {
            true => (vec!["obs".to_owned()], vec!["next_obs".to_owned()]),
            false => (numbered("obs"), numbered("next_obs")),
        };
        let vector = |x: &[f64]| {
            let texts: Vec<String> = x.iter().map(|x| format!("{x:?}")).collect();
            match lists {
                true => format!("\"[{}]\"", texts.join(", ")),
                false => texts.join(","),
            }
        };
        let (obs, next) = (obs.join(","), next.join(","));
        let mut text = format!("rho,{obs},reward,terminated,{next},truncated,episode\n");
        for row in &self.rows {
            let (obs, next) = (vector(&row.obs), vector(&row.next_obs));
            writeln!(
                text,
                "{:?},{obs},{:?},{},{next},{},{}",
                row.rho,
                row.reward,
                row.terminated,
                u8::from(row.truncated),
                row.episode
            )
            .unwrap();
        }
        text
    }

    /// One JSON object per line, with a field that has no role.
    pub fn ndjson(&self, lists: bool) -> String {
        let vector = |name: &str, x: &[f64]| match lists {
            true => format!("\"{name}\": {x:?}"),
            false => {
                let fields = x.iter().enumerate();
                let fields: Vec<String> = fields
                    .map(|(k, x)| format!("\"{name}_{k}\":{x:?}"))
                    .collect();
                fields.join(",")
            }
        };
        let mut text = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            let (obs, next) = (vector("obs", &row.obs), vector("next_obs", &row.next_obs));
            let (rho, reward, episode) = (row.rho, row.reward, row.episode);
            let (terminated, truncated) = (row.terminated, u8::from(row.truncated));
            let info = format!("\"info\": {{\"a\": [1, null, \"x, }}\"], \"i\": {i}}}");
            writeln!(
                text,
                "{{{obs}, {info}, \"rho\": {rho:?}, \"reward\":{reward:?}, \"terminated\": {terminated}, \
                 {next}, \"truncated\" : {truncated},\"episode\": {episode} }}"
            )
            .unwrap();
        }
        text
    }

    /// A Parquet file with row groups of a few rows.
    pub fn parquet(&self, lists: bool) -> Vec<u8> {
        parquet_of(self.columns(lists))
    }

    /// The columns as Arrow arrays.
    pub fn columns(&self, lists: bool) -> Vec<(String, ArrayRef)> {
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        let numbers = |of: &dyn Fn(&LogRow) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(self.rows.iter().map(of)))
        };
        let flags = |of: &dyn Fn(&LogRow) -> bool| -> ArrayRef {
            Arc::new(BooleanArray::from(
                self.rows.iter().map(of).collect::<Vec<_>>(),
            ))
        };
        let mut vector = |name: &str, of: &dyn Fn(&LogRow) -> &[f64]| match lists {
            true => {
                let mut builder = ListBuilder::new(Float64Builder::new());
                for row in &self.rows {
                    builder.append_value(of(row).iter().copied().map(Some));
                }
                columns.push((name.to_owned(), Arc::new(builder.finish())));
            }
            false => {
                for k in 0..self.dimension() {
                    columns.push((format!("{name}_{k}"), numbers(&|row| of(row)[k])));
                }
            }
        };
        vector("next_obs", &|row| &row.next_obs);
        vector("obs", &|row| &row.obs);
        let episodes = Int64Array::from_iter_values(self.rows.iter().map(|row| row.episode));
        columns.push(("episode".to_owned(), Arc::new(episodes)));
        columns.push(("reward".to_owned(), numbers(&|row| row.reward)));
        columns.push(("rho".to_owned(), numbers(&|row| row.rho)));
        columns.push(("terminated".to_owned(), flags(&|row| row.terminated)));
        columns.push(("truncated".to_owned(), flags(&|row| row.truncated)));
        columns
    }
}

/// The bytes of a Parquet file with these columns.
pub fn parquet_of(columns: Vec<(String, ArrayRef)>) -> Vec<u8> {
    let records = RecordBatch::try_from_iter(columns).unwrap();
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .set_max_row_group_row_count(Some(7))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), records.schema(), Some(properties)).unwrap();
    writer.write(&records).unwrap();
    writer.into_inner().unwrap()
}

/// A stream of text under the name `log`.
pub fn text(format: Format, text: &str) -> Source {
    let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
    Source::stream("log", format, Compression::None, bytes).unwrap()
}

/// A file with these bytes, in a directory that lives as long as the test.
pub fn file(directory: &tempfile::TempDir, name: &str, bytes: &[u8]) -> Source {
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    Source::file(path, None).unwrap()
}

/// All rows, with all bits.
pub type Bits = Vec<(Vec<u64>, Vec<u64>, u64, bool, bool, u64, u64, u64)>;

pub fn read_bits(sources: Vec<Source>, options: ReadOptions) -> Result<Bits> {
    let mut reader = Reader::open(sources, options)?;
    let (mut batch, mut rows) = (Batch::default(), Vec::new());
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    while reader.read(&mut batch)? {
        for i in 0..batch.len() {
            rows.push((
                bits(batch.obs(i)),
                bits(batch.next_obs(i).unwrap_or_default()),
                batch.rewards().get(i).map_or(0, |r| r.to_bits()),
                batch.terminated()[i],
                batch.truncated()[i],
                batch.episodes()[i],
                batch.ratios()[i].to_bits(),
                batch.row_numbers()[i],
            ));
        }
    }
    Ok(rows)
}
