//! Collects the results of an evaluation for several discounts.

use serde::Serialize;

use crate::fit::Fit;
use crate::report::EvaluationReport;

/// The results for several discounts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiscountsReport {
    /// The algorithm's id.
    pub algorithm: &'static str,
    /// Transitions learned from.
    pub steps: u64,
    /// Good rows.
    pub rows: u64,
    /// Good rows without a successor.
    pub left_out: u64,
    /// Bad rows that were skipped.
    pub bad_rows: u64,
    /// How long all of it took.
    pub seconds: f64,
    /// The result for each discount, as that of a single evaluation.
    pub discounts: Vec<EvaluationReport>,
}

impl DiscountsReport {
    /// The results of [`run_each`](crate::Evaluation::run_each); `None` if there are none.
    #[must_use]
    pub fn of(fits: &[Fit]) -> Option<Self> {
        Self::new(fits.iter().map(Fit::report).collect())
    }

    /// The same from their reports.
    #[must_use]
    pub fn new(discounts: Vec<EvaluationReport>) -> Option<Self> {
        let first = discounts.first()?;
        Some(Self {
            algorithm: first.algorithm,
            steps: first.steps,
            rows: first.rows,
            left_out: first.left_out,
            bad_rows: first.bad_rows,
            seconds: first.seconds,
            discounts,
        })
    }
}
