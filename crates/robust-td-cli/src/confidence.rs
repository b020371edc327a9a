//! Takes the confidence of intervals from the command line.

use clap::Args;

/// The confidence of intervals.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Confidence {
    /// The confidence of intervals, above 0 and below 1
    #[arg(
        long = "confidence",
        value_name = "P",
        default_value_t = 0.95,
        allow_negative_numbers = true
    )]
    pub level: f64,
}
