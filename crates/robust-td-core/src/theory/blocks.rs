//! Bounds sums of a decreasing convex sequence over ranges too long to add term by term.
//!
//! A range is cut into geometric blocks. On a block of `n` terms a convex sequence lies below its chord and its
//! mean lies above its middle value, hence
//!
//! ```text
//! n (f(mid-) + f(mid+)) / 2  <=  sum_{k=a}^{b-1} f(k)  <=  n (f(a) + f(b-1)) / 2
//! ```
//!
//! where `mid-`, `mid+` are the one or two middle indices. With blocks of relative length `2^-10` and `f ~ k^-1/2` either
//! side is within `1e-7` of the sum; below `k = 2^11` every block has one term and both are exact.

/// A block's length is its first index divided by this.
const BLOCKS_PER_UNIT: u64 = 1 << 10;

/// Cuts `start..end` into geometric blocks `(first, end)`.
pub(super) fn geometric(start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut first = start;
    std::iter::from_fn(move || {
        if first >= end {
            return None;
        }
        let length = (first / BLOCKS_PER_UNIT).max(1).min(end - first);
        let block = (first, first + length);
        first += length;
        Some(block)
    })
}

/// The chord: an upper bound on `sum_{k=a}^{b-1} f(k)` for a convex `f`.
pub(super) fn chord(f: impl Fn(u64) -> f64, (a, b): (u64, u64)) -> f64 {
    if b - a == 1 {
        return f(a);
    }
    0.5 * (b - a) as f64 * (f(a) + f(b - 1))
}

/// The middle value times the length: a lower bound on `sum_{k=a}^{b-1} f(k)` for a convex `f`.
pub(super) fn middle(f: impl Fn(u64) -> f64, (a, b): (u64, u64)) -> f64 {
    let (low, high) = (a + (b - 1 - a) / 2, a + (b - a) / 2);
    if low == high {
        return (b - a) as f64 * f(low);
    }
    0.5 * (b - a) as f64 * (f(low) + f(high))
}

/// An upper bound on `sum_{k=start}^{end-1} f(k)` by chords on geometric blocks.
pub(super) fn upper_sum(f: impl Fn(u64) -> f64, start: u64, end: u64) -> f64 {
    geometric(start, end).map(|block| chord(&f, block)).sum()
}

/// A lower bound on `sum_{k=start}^{end-1} f(k)` by middle values on geometric blocks.
pub(super) fn lower_sum(f: impl Fn(u64) -> f64, start: u64, end: u64) -> f64 {
    geometric(start, end).map(|block| middle(&f, block)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::lemma_sums::shape;

    #[test]
    fn blocks_tile_the_range() {
        for (start, end) in [
            (0, 0),
            (0, 1),
            (0, 5000),
            (1023, 1_000_000),
            (5, 3),
            (1 << 40, 1 << 41),
        ] {
            let mut next = start;
            for (a, b) in geometric(start, end) {
                assert!(a == next && b > a && b <= end);
                next = b;
            }
            assert_eq!(next, end.max(start));
        }
    }

    #[test]
    fn the_sum_lies_between_the_two_bounds() {
        for (start, end) in [(0, 10_000), (4096, 1_000_000), (99_999, 2_000_001)] {
            let exact: f64 = (start..end).rev().map(shape).sum();
            let (lower, upper) = (lower_sum(shape, start, end), upper_sum(shape, start, end));
            assert!(lower <= exact * (1.0 + 1e-13) && exact <= upper * (1.0 + 1e-13));
            assert!(
                (upper - lower) / exact < 2e-7,
                "{}",
                (upper - lower) / exact
            );
        }
    }

    #[test]
    fn constant_and_linear_sequences_are_exact() {
        for block in [(10, 11), (10, 12), (10, 13), (1000, 1777)] {
            let line = |k: u64| 5000.0 - k as f64;
            let exact: f64 = (block.0..block.1).map(line).sum();
            assert_eq!(chord(line, block), exact);
            assert_eq!(middle(line, block), exact);
            assert_eq!(chord(|_| 2.0, block), 2.0 * (block.1 - block.0) as f64);
        }
    }
}
