//! Defines the arguments that select logged data.

use clap::Args;
use robust_td_data::{ColumnMap, Format, Log, Preset};

use crate::count;
use crate::failure::Failure;
use crate::name;

/// Which files to read, and how.
#[derive(Debug, Args)]
#[group(skip)]
pub struct LogArgument {
    /// Files or patterns such as 'logs/*.parquet'; - reads standard input
    #[arg(value_name = "FILE", required = true, value_parser = name::parser())]
    files: Vec<String>,

    /// csv (fields separated by , ; tab or |), ndjson or parquet; required for standard input [default: inferred from the file name]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,

    /// Column for a role, such as reward=r or obs=x,y; roles: obs, next_obs, reward, terminated, truncated, episode, rho, action, target, next_target, target_action, next_action, behaviour_prob
    #[arg(long = "column", value_name = "ROLE=NAME")]
    columns: Vec<String>,

    /// Column names of a known tool: minari, rllib, d3rlpy or d4rl
    #[arg(long, value_name = "NAME")]
    layout: Option<String>,

    /// Decimal sign of numbers in CSV, such as --decimal , for 1,5 [default: .]
    #[arg(long, value_name = "SIGN")]
    decimal: Option<char>,

    /// Sign between groups of digits in CSV, such as --decimal , --thousands . for 1.234,5 (also ' ' or "'") [default: none]
    #[arg(long, value_name = "SIGN")]
    thousands: Option<char>,

    /// Skip up to N bad rows; they are counted, and no transition spans one
    #[arg(long, value_name = "N", default_value = "0", value_parser = count::parse, allow_negative_numbers = true)]
    skip_bad_rows: u64,
}

impl LogArgument {
    /// The log.
    pub fn log(&self) -> Result<Log, Failure> {
        let mut log = Log::files(&self.files)
            .columns(ColumnMap::parse(&self.columns)?)
            .skip_bad_rows(self.skip_bad_rows);
        if let Some(format) = &self.format {
            log = log.format(format.parse::<Format>()?);
        }
        if let Some(sign) = self.decimal {
            log = log.decimal(sign);
        }
        if let Some(sign) = self.thousands {
            log = log.thousands(sign);
        }
        if let Some(layout) = &self.layout {
            log = log.layout(layout.parse::<Preset>()?);
        }
        Ok(log)
    }
}
