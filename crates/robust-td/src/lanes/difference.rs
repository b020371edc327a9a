//! Computes gamma phi(s') - phi(s), the direction in which a transition looks at theta.

use crate::learner::Features;

/// Room for gamma phi(s') - phi(s), dense or sparse.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Difference {
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Difference {
    /// gamma next - here, in the view of `here`; `None` for next is zero.
    #[inline]
    pub fn of<'a>(
        &'a mut self,
        here: &Features<'_>,
        next: Option<&Features<'_>>,
        gamma: f64,
    ) -> Features<'a> {
        self.values.clear();
        self.indices.clear();
        match (here, next) {
            (Features::Dense(here), Some(Features::Dense(next))) => {
                let entries = here.iter().zip(*next).map(|(x, y)| gamma * y - x);
                self.values.extend(entries);
                Features::Dense(&self.values)
            }
            (Features::Dense(here), None) => {
                self.values.extend(here.iter().map(|x| -x));
                Features::Dense(&self.values)
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

    /// The same for sparse features, or one of each: both are in the order of their indices, and so is the result.
    fn merge(&mut self, here: &Features<'_>, next: Option<&Features<'_>>, gamma: f64) {
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
