//! Counts occurrences and remembers the place of the first.

use serde::{Deserialize, Serialize};

/// The number of occurrences, and the file and row of the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub count: u64,
    pub first: Option<(usize, u64)>,
}

impl Tally {
    #[inline]
    pub fn hit(&mut self, place: (usize, u64)) {
        self.count += 1;
        self.first.get_or_insert(place);
    }

    /// Adds the occurrences in another part of the log.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.first = match (self.first, other.first) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
    }

    /// Counts an occurrence whose place may be before the others.
    pub fn hit_before(&mut self, place: (usize, u64)) {
        self.count += 1;
        self.first = Some(self.first.map_or(place, |first| first.min(place)));
    }
}
