//! Opens the logged data that a command names.

use clap::Args;
use robust_td_data::{Batch, ColumnMap, Format, Preset, Purpose, ReadOptions, Reader, Source};

use crate::count;
use crate::failure::Failure;

/// Rows that are read before anything is done with them: on a stream an answer should not wait for many.
const STREAM_ROWS: usize = 64;

/// Which files to read, and how.
#[derive(Debug, Args)]
#[group(skip)]
pub struct LogArgument {
    /// Files or patterns such as 'logs/*.parquet'; - reads standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,

    /// csv, ndjson or parquet; told by the names unless given, needed for standard input
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    /// Where a role is found, such as reward=r or obs=x,y; roles: obs, next_obs, reward, terminated, truncated, episode, rho
    #[arg(long = "column", value_name = "ROLE=NAME")]
    columns: Vec<String>,

    /// Column names of a known tool: minari, rllib, d3rlpy or d4rl
    #[arg(long, value_name = "NAME")]
    layout: Option<String>,

    /// Allow so many bad rows; each is counted, and nothing is paired across it
    #[arg(long, value_name = "N", default_value = "0", value_parser = count::parse, allow_negative_numbers = true)]
    skip_bad_rows: u64,
}

impl LogArgument {
    /// Whether part of it can be read only once.
    pub fn is_stream(&self) -> bool {
        self.files.iter().any(|file| file == "-")
    }

    /// Opens the log from its start.
    pub fn open(&self, purpose: Purpose) -> robust_td_data::Result<Reader> {
        self.open_skipping(purpose, self.skip_bad_rows)
    }

    /// Opens the log with another allowance of bad rows.
    pub fn open_skipping(
        &self,
        purpose: Purpose,
        skip_bad_rows: u64,
    ) -> robust_td_data::Result<Reader> {
        let format = self
            .format
            .as_deref()
            .map(str::parse::<Format>)
            .transpose()?;
        let preset = match &self.layout {
            Some(name) => name.parse::<Preset>()?,
            None => Preset::default(),
        };
        let mut options = ReadOptions {
            columns: ColumnMap::parse(&self.columns)?,
            preset,
            purpose,
            skip_bad_rows,
            ..ReadOptions::default()
        };
        if self.is_stream() {
            options.batch_rows = STREAM_ROWS;
        }
        Reader::open(Source::find(&self.files, format)?, options)
    }
}

/// What is wrong with data is the user's to mend.
pub fn wrong_data(error: robust_td_data::Error) -> Failure {
    match error {
        robust_td_data::Error::Write { .. } | robust_td_data::Error::Thread { .. } => {
            Failure::Run(error.to_string())
        }
        error => Failure::Usage(error.to_string()),
    }
}

/// What is wrong with a batch as a whole is wrong with its file.
pub fn wrong_batch(files: &[String], batch: &Batch, error: &robust_td_data::Error) -> Failure {
    Failure::Usage(match files.get(batch.file()) {
        Some(file) => format!("{file}: {error}"),
        None => error.to_string(),
    })
}
