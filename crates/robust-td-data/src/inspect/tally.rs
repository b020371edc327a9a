//! Counts occurrences and remembers the place of the first.

/// The number of occurrences, and the file and row of the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

    /// Counts an occurrence whose place may be before the others.
    pub fn hit_before(&mut self, place: (usize, u64)) {
        self.count += 1;
        self.first = Some(self.first.map_or(place, |first| first.min(place)));
    }
}
