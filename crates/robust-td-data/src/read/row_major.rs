//! Arranges columns of numbers row by row, many rows at a time.

/// The number of rows that are written together: as many numbers of a column as a cache line has.
const TOGETHER: usize = 8;

/// The numbers of several columns, row by row.
#[derive(Debug, Default)]
pub(crate) struct RowMajor {
    numbers: Vec<f64>,
    columns: usize,
}

impl RowMajor {
    /// Replaces the numbers by those of columns of one length; false, and no rows, if a column is missing or has a number that is not
    /// finite.
    pub fn load<'a>(&mut self, columns: impl Iterator<Item = Option<&'a [f64]>>) -> bool {
        self.numbers.clear();
        let columns: Option<Vec<&[f64]>> = columns.collect();
        let Some(columns) = columns.filter(|columns| !columns.is_empty()) else {
            return false;
        };
        let count = columns[0].len();
        self.columns = columns.len();
        self.numbers.resize(count * columns.len(), 0.0);
        let mut finite = true;
        let blocks = self.numbers.chunks_mut(TOGETHER * columns.len());
        for (block, rows) in blocks.enumerate() {
            for (k, column) in columns.iter().enumerate() {
                let cells = &column[block * TOGETHER..];
                for (row, &x) in rows.chunks_exact_mut(columns.len()).zip(cells) {
                    row[k] = x;
                    finite &= x.is_finite();
                }
            }
        }
        if !finite {
            self.numbers.clear();
        }
        finite
    }

    /// The numbers of row i.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.numbers[i * self.columns..][..self.columns]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_numbers_of_the_columns() {
        let mut rows = RowMajor::default();
        for (count, width) in [(1, 1), (7, 3), (8, 2), (30, 11)] {
            let columns: Vec<Vec<f64>> = (0..width)
                .map(|k| (0..count).map(|i| (100 * i + k) as f64).collect())
                .collect();
            assert!(rows.load(columns.iter().map(|column| Some(&column[..]))));
            for i in 0..count {
                let expected = (0..width).map(|k| (100 * i + k) as f64);
                assert!(rows.row(i).iter().copied().eq(expected));
            }
        }
        let column = [1.0, f64::NAN];
        assert!(!rows.load([Some(&[0.0, 1.0][..]), Some(&column[..])].into_iter()));
        assert!(!rows.load([Some(&column[..1]), None].into_iter()));
        assert!(!rows.load(std::iter::empty()));
    }
}
