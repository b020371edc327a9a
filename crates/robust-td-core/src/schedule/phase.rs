//! Lays out phases of growing length on a stream of samples.

/// One phase: the samples `start .. start + length` of the stream, counted from 0.
///
/// T_j is the smallest integer that is at least t0 factor^j (the product built up in f64) and exceeds
/// T_{j-1}.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// j.
    pub index: u64,
    /// How many samples come before it.
    pub start: u64,
    /// T_j.
    pub length: u64,
    /// t0 factor^j.
    ideal: f64,
}

impl Phase {
    /// Phase 0.
    pub(crate) fn first(t0: u64) -> Self {
        Self {
            index: 0,
            start: 0,
            length: t0,
            ideal: t0 as f64,
        }
    }

    /// Phase j+1.
    pub(crate) fn next(self, factor: f64) -> Self {
        let ideal = self.ideal * factor;
        // The cast saturates: a phase without end, which is never completed.
        let length = (ideal.ceil() as u64).max(self.length.saturating_add(1));
        Self {
            index: self.index + 1,
            start: self.end(),
            length,
            ideal,
        }
    }

    /// The last phase that a number of samples completes.
    pub(crate) fn last_complete(t0: u64, factor: f64, samples: u64) -> Option<Self> {
        let first = Some(Self::first(t0));
        std::iter::successors(first, |phase| Some(phase.next(factor)))
            .take_while(|phase| phase.end() <= samples && phase.end() < u64::MAX)
            .last()
    }

    /// How many samples have come when it is complete.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(t0: u64, factor: f64, phases: usize) -> Vec<u64> {
        let first = Some(Phase::first(t0));
        let phases = std::iter::successors(first, |phase| Some(phase.next(factor))).take(phases);
        phases.map(|phase| phase.length).collect()
    }

    #[test]
    fn phases_grow_by_the_factor() {
        assert_eq!(lengths(1024, 2.0, 5), [1024, 2048, 4096, 8192, 16384]);
        assert_eq!(lengths(8, 1.5, 6), [8, 12, 18, 27, 41, 61]);
        assert_eq!(lengths(3, 10.0, 4), [3, 30, 300, 3000]);
    }

    #[test]
    fn phases_grow_even_where_rounding_would_stop_them() {
        assert_eq!(lengths(3, 1.0 + f64::EPSILON, 4), [3, 4, 5, 6]);
        assert_eq!(lengths(3, 1.1, 6), [3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_phase_beyond_all_counting_never_ends() {
        let phase = Phase::first(3).next(1e300).next(1e300);
        assert_eq!((phase.length, phase.end()), (u64::MAX, u64::MAX));
    }

    /// T40: just before phase j+1 ends, the reported phase is a share of the samples that tends to
    /// (b-1)/b^2, and no factor does better than 1/4.
    #[test]
    fn the_worst_share_of_samples_tends_to_its_limit() {
        for factor in [1.25, 1.5, 2.0, 3.0, 8.0] {
            let limit = (factor - 1.0) / (factor * factor);
            let mut reported = Phase::first(1000);
            for _ in 0..((1e12_f64).ln() / f64::ln(factor)) as usize {
                reported = reported.next(factor);
            }
            let share = reported.length as f64 / (reported.next(factor).end() - 1) as f64;
            assert!((share - limit).abs() < 1e-9, "{share} is not {limit}");
            assert!(limit <= 0.25);
        }
    }
}
