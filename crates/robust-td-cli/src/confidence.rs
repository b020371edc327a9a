//! Defines the option for the confidence level.

use clap::Args;

use crate::float;

/// The confidence level of intervals.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Confidence {
    /// Confidence level of intervals, between 0 and 1
    #[arg(
        long = "confidence",
        value_name = "P",
        default_value = "0.95",
        value_parser = float::parse,
        allow_negative_numbers = true
    )]
    pub level: f64,
}
