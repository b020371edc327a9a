//! Walks along links that are checked once, before the steps.

/// Rows of `width` entries. Each entry has a threshold and names the row that follows it.
#[derive(Clone, Debug)]
pub struct Links {
    width: usize,
    thresholds: Vec<u64>,
    next: Vec<u32>,
}

impl Links {
    /// The largest width.
    pub const WIDEST: usize = 8;

    /// Rows of entries, one after the other.
    ///
    /// # Panics
    /// If the width is zero or too large, the lists are not whole rows, or an entry names a row that does not exist.
    pub fn new(width: usize, thresholds: Vec<u64>, next: Vec<u32>) -> Self {
        assert!((1..=Self::WIDEST).contains(&width));
        assert!(next.len().is_multiple_of(width) && thresholds.len() == next.len());
        let rows = next.len() / width;
        assert!(next.iter().all(|&row| (row as usize) < rows));
        Self {
            width,
            thresholds,
            next,
        }
    }

    /// The row that follows each entry.
    pub fn next(&self) -> &[u32] {
        &self.next
    }

    /// Walks eight trajectories, one step per draw: the entry taken is the first of the row whose threshold is not below the
    /// draw, or the last.
    ///
    /// Row t of `visits` holds the rows before step t, row t of `entries` the entries taken; `rows` holds the rows at the
    /// start and is updated to those at the end. Thresholds rise within a row.
    ///
    /// # Panics
    /// If a trajectory begins in a row that does not exist.
    #[inline(always)]
    pub fn walk(
        &self,
        rows: &mut [u32; 8],
        draws: &[[u64; 8]],
        visits: &mut [[u32; 8]],
        entries: &mut [[u32; 8]],
    ) {
        match self.width {
            1 => self.walk_in::<1>(rows, draws, visits, entries),
            2 => self.walk_in::<2>(rows, draws, visits, entries),
            3 => self.walk_in::<3>(rows, draws, visits, entries),
            4 => self.walk_in::<4>(rows, draws, visits, entries),
            5 => self.walk_in::<5>(rows, draws, visits, entries),
            6 => self.walk_in::<6>(rows, draws, visits, entries),
            7 => self.walk_in::<7>(rows, draws, visits, entries),
            _ => self.walk_in::<8>(rows, draws, visits, entries),
        }
    }

    #[inline(always)]
    fn walk_in<const WIDTH: usize>(
        &self,
        rows: &mut [u32; 8],
        draws: &[[u64; 8]],
        visits: &mut [[u32; 8]],
        entries: &mut [[u32; 8]],
    ) {
        let count = self.next.len() / WIDTH;
        assert!(WIDTH == self.width && rows.iter().all(|&row| (row as usize) < count));
        let mut at = *rows;
        for ((draw, visit), taken) in draws.iter().zip(visits).zip(entries) {
            *visit = at;
            for g in 0..8 {
                let mut entry = at[g] as usize * WIDTH;
                // SAFETY: all rows exist: those at the start by the assertion, those named by an entry by `new`.
                let row = unsafe { self.thresholds.get_unchecked(entry..entry + WIDTH - 1) };
                for threshold in row {
                    entry += usize::from(draw[g] > *threshold);
                }
                taken[g] = entry as u32;
                // SAFETY: the entry is one of the row's WIDTH.
                at[g] = unsafe { *self.next.get_unchecked(entry) };
            }
        }
        *rows = at;
    }
}
