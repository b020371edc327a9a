//! Takes the confidence of intervals from the command line.

use clap::Args;

use crate::failure::Failure;

/// How sure intervals are.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Confidence {
    /// The confidence of intervals, above 0 and below 1
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.95,
        allow_negative_numbers = true
    )]
    confidence: f64,
}

impl Confidence {
    /// The level, checked.
    pub fn level(&self) -> Result<f64, Failure> {
        let level = self.confidence;
        if !(level > 0.0 && level < 1.0) {
            let message = format!("--confidence is {level}, but must be above 0 and below 1");
            return Err(Failure::Usage(message));
        }
        Ok(level)
    }
}
