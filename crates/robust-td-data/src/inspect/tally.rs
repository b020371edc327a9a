//! Counts something with the place where it first happened.

/// How often, and first where: the file and the row.
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
}
