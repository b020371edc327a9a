//! Computes gamma phi(s') - phi(s), the coefficient of theta in the TD error.

use robust_td_simd::{Simd, Vector, Wide};

use super::line::{Line, WIDTH};
use crate::phi::Features;

/// Scratch space for gamma phi(s') - phi(s), dense or sparse.
#[derive(Debug, Clone, Default)]
pub(crate) struct Difference {
    lines: Vec<Line>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Difference {
    /// gamma next - here, in the representation of `here`; `None` means next is zero.
    #[inline(always)]
    pub fn of<'a, S: Simd>(
        &'a mut self,
        s: S,
        here: &Features<'_>,
        next: Option<&Features<'_>>,
        gamma: f64,
    ) -> Features<'a> {
        match (here, next) {
            (Features::Dense(here), Some(Features::Dense(next))) => {
                let d = here.len();
                assert_eq!(next.len(), d, "features have the dimension of theta");
                let lines = self.room(d);
                let parts = here.chunks(WIDTH).zip(next.chunks(WIDTH));
                for (line, (x, y)) in lines.iter_mut().zip(parts) {
                    let (x, y) = (s.load16_some(x), s.load16_some(y));
                    s.splat16(gamma).mul(y).sub(x).store(line);
                }
                Features::Dense(&Line::numbers(lines)[..d])
            }
            (Features::Dense(here), None) => {
                let lines = self.room(here.len());
                for (line, x) in lines.iter_mut().zip(here.chunks(WIDTH)) {
                    s.load16_some(x).mul(s.splat16(-1.0)).store(line);
                }
                Features::Dense(&Line::numbers(lines)[..here.len()])
            }
            (here, next) => {
                self.merge(here, next, gamma);
                Features::Sparse {
                    indices: &self.indices,
                    values: &self.values,
                }
            }
        }
    }

    /// Scratch space for `length` dense entries.
    #[inline(always)]
    fn room(&mut self, length: usize) -> &mut [Line] {
        let lines = length.div_ceil(WIDTH);
        if self.lines.len() != lines {
            self.lines.resize(lines, Line::default());
        }
        &mut self.lines
    }

    /// The same when either vector is sparse; both are ordered by index, and so is the result.
    #[inline(never)]
    fn merge(&mut self, here: &Features<'_>, next: Option<&Features<'_>>, gamma: f64) {
        self.values.clear();
        self.indices.clear();
        let mut next = entries(next.unwrap_or(&Features::Dense(&[]))).peekable();
        let mut push = |i: u32, x: f64| {
            self.indices.push(i);
            self.values.push(x);
        };
        for (i, x) in entries(here) {
            while let Some((j, y)) = next.next_if(|(j, _)| *j < i) {
                push(j, gamma * y);
            }
            match next.next_if(|(j, _)| *j == i) {
                Some((_, y)) => push(i, gamma * y - x),
                None => push(i, -x),
            }
        }
        next.for_each(|(j, y)| push(j, gamma * y));
    }
}

/// The entries of a feature vector.
fn entries<'a>(features: &Features<'a>) -> impl Iterator<Item = (u32, f64)> + 'a {
    let (dense, indices, values): (&[f64], &[u32], &[f64]) = match features {
        Features::Dense(entries) => (entries, &[], &[]),
        Features::Sparse { indices, values } => (&[], indices, values),
    };
    let sparse = indices.iter().zip(values).map(|(i, x)| (*i, *x));
    (0_u32..).zip(dense.iter().copied()).chain(sparse)
}
