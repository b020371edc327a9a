//! Builds the values of c of a sweep.

use std::collections::HashSet;

use robust_td_engine::grid::published_c;

use super::error::SweepError;

/// The values of c that keep step sizes inside the range of floating-point numbers.
pub(crate) const C_RANGE: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// A value of c, with its index in the paper's grid when it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GridPoint {
    /// Index in the paper's 97 values.
    pub(crate) index: Option<usize>,
    /// The value.
    pub(crate) c: f64,
}

/// Values from `from` up to `to`, `per_decade` of them per factor of ten: `from * 10^(k / per_decade)`.
///
/// Empty unless `0 < from < to`, both are finite and `per_decade` is positive; a sweep refuses that.
#[must_use]
pub fn logspace(from: f64, to: f64, per_decade: u32) -> Vec<f64> {
    let valid = from > 0.0 && from < to && to.is_finite() && per_decade > 0;
    match valid {
        true => log_grid(from, to, f64::from(per_decade)).unwrap_or_default(),
        false => Vec::new(),
    }
}

/// The paper's 97 values of c, from 1e-8 to 1e8, to the bit.
#[must_use]
pub fn paper_constants() -> Vec<f64> {
    published_c()
}

/// The values of [`logspace`] between positive finite ends.
pub(crate) fn log_grid(from: f64, to: f64, per_decade: f64) -> Result<Vec<f64>, String> {
    let count = ((to / from).log10() * per_decade * (1.0 + 1e-12)).floor();
    if !(count < 100_000.0) {
        return Err(format!(
            "the range of c has {count} values; the limit is 100000"
        ));
    }
    let value = |k: u32| from * 10_f64.powf(f64::from(k) / per_decade);
    Ok((0..=count as u32).map(value).collect())
}

/// Values of c, each with its index in the paper's grid if it is bit-identical to an entry.
pub(crate) fn grid_of(values: &[f64]) -> Result<Vec<GridPoint>, SweepError> {
    let paper = published_c();
    let mut grid: Vec<GridPoint> = Vec::with_capacity(values.len());
    let mut seen = HashSet::with_capacity(values.len());
    for &c in values {
        if !C_RANGE.contains(&c) {
            return Err(SweepError::Constant { c });
        }
        if !seen.insert(c.to_bits()) {
            return Err(SweepError::ConstantTwice { c });
        }
        let index = paper
            .iter()
            .position(|known| known.to_bits() == c.to_bits());
        grid.push(GridPoint { index, c });
    }
    if grid.is_empty() {
        return Err(SweepError::NoConstants);
    }
    grid.sort_by(|a, b| a.c.total_cmp(&b.c));
    Ok(grid)
}
