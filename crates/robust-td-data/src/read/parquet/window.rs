//! Bounds the size of the record batches that a column of lists or texts is decoded into, before it is decoded.

/// The size of the current record batch of a column, from what is known of its pages.
#[derive(Debug, Clone)]
pub(super) struct Window {
    batch_rows: u64,
    /// The rows of the current batch, and a bound of their size in bytes.
    rows: u64,
    size: u64,
    most: u64,
    /// The size of all batches so far.
    total: u64,
}

/// A batch that would be too large, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge(pub u64);

impl Window {
    pub fn new(batch_rows: usize, most: u64) -> Self {
        Self {
            batch_rows: batch_rows.max(1) as u64,
            rows: 0,
            size: 0,
            most,
            total: 0,
        }
    }

    fn check(&self, size: u64) -> Result<(), TooLarge> {
        match size > self.most {
            true => Err(TooLarge(size)),
            false => Ok(()),
        }
    }

    /// The size of the current batch.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// A bound of the size of all batches.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Starts this many rows, each of this size so far.
    pub fn start(&mut self, count: u64, each: u64) -> Result<(), TooLarge> {
        self.total = self.total.saturating_add(count.saturating_mul(each));
        let space = self.batch_rows - self.rows;
        let sized = |rows: u64| rows.saturating_mul(each);
        if count <= space {
            self.rows += count;
            self.size = self.size.saturating_add(sized(count));
        } else {
            self.check(self.size.saturating_add(sized(space)))?;
            // Whole batches in between have the size of the last one at most.
            self.check(sized(self.batch_rows.min(count - space)))?;
            self.rows = (count - space - 1) % self.batch_rows + 1;
            self.size = sized(self.rows);
        }
        self.check(self.size)
    }

    /// Adds to the size of the last row.
    pub fn grow(&mut self, by: u64) -> Result<(), TooLarge> {
        self.size = self.size.saturating_add(by);
        self.total = self.total.saturating_add(by);
        self.check(self.size)
    }

    /// Starts this many rows, any of which may be in the batches that the first and the last of them are in, with this size in all.
    pub fn start_together(&mut self, count: u64, size: u64) -> Result<(), TooLarge> {
        self.grow(size)?;
        self.start(count, 0)?;
        self.size = match self.rows < count {
            true => size,
            false => self.size,
        };
        self.check(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_measured_as_they_are_read() {
        let mut window = Window::new(4, 100);
        // Rows of 1, 60 and 39 bytes fit in a batch.
        assert_eq!(window.start(3, 1), Ok(()));
        assert_eq!(window.grow(97), Ok(()));
        assert_eq!(window.clone().start(1, 1), Err(TooLarge(101)));
        // The fourth row fills the batch, the fifth starts another one.
        assert_eq!(window.start(1, 0), Ok(()));
        assert_eq!(window.start(1, 90), Ok(()));
        assert_eq!(window.grow(11), Err(TooLarge(101)));
        // Any number of small rows.
        let mut window = Window::new(4, 100);
        assert_eq!(window.start(u64::MAX / 2, 25), Ok(()));
        assert_eq!(Window::new(4, 100).start(9, 26), Err(TooLarge(104)));
        assert_eq!(Window::new(4, 100).start(1, 26), Ok(()));
    }

    #[test]
    fn pages_of_unknown_division_count_for_both_batches() {
        let mut window = Window::new(10, 100);
        assert_eq!(window.start_together(8, 60), Ok(()));
        // Two rows complete the batch, the other six may hold all 40 bytes.
        assert_eq!(window.start_together(8, 40), Ok(()));
        assert_eq!(window.clone().start_together(1, 61), Err(TooLarge(101)));
        assert_eq!(window.start_together(1, 60), Ok(()));
    }
}
