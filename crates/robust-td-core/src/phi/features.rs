//! Views a feature vector phi(s), dense or sparse, without copying it.
//!
//! # Bits
//! Both views of the same vector give the same bits as long as every number is finite. Inner products
//! are summed in eight interleaved partial sums (index modulo 8), combined in a fixed order, and a
//! zero feature adds +0.0, which changes no partial sum (they start at +0.0 and so are never -0.0).
//! The eight partial sums also let the compiler vectorise the dense view.

use crate::check::check_length;
use crate::error::{Error, Result};

/// The number of interleaved partial sums of an inner product.
const LANES: usize = 8;

/// Masks that select the first or the second of two numbers.
static HALVES: [[u64; 2]; 2] = [[u64::MAX, 0], [0, u64::MAX]];

/// A borrowed feature vector.
///
/// The constructors validate it once, outside the loop; the arithmetic relies on that. A vector constructed
/// directly that does not match the parameter vector makes the arithmetic panic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Features<'a> {
    /// All the entries.
    Dense(&'a [f64]),
    /// The entries that may be nonzero.
    Sparse {
        /// The indices, strictly increasing.
        indices: &'a [u32],
        /// The values, one per index.
        values: &'a [f64],
    },
}

impl<'a> From<&'a [f64]> for Features<'a> {
    #[inline]
    fn from(values: &'a [f64]) -> Self {
        Self::Dense(values)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Features<'a> {
    #[inline]
    fn from(values: &'a [f64; N]) -> Self {
        Self::Dense(values)
    }
}

impl<'a> From<&'a Vec<f64>> for Features<'a> {
    #[inline]
    fn from(values: &'a Vec<f64>) -> Self {
        Self::Dense(values)
    }
}

impl<'a> Features<'a> {
    /// A dense vector of the given dimension.
    ///
    /// # Errors
    /// When the length differs.
    pub fn dense(values: &'a [f64], dimension: usize) -> Result<Self> {
        let features = Self::Dense(values);
        features.check(dimension)?;
        Ok(features)
    }

    /// A sparse vector of the given dimension.
    ///
    /// # Errors
    /// When the numbers of indices and values differ, an index is not below the dimension, or
    /// the indices are not strictly increasing.
    pub fn sparse(indices: &'a [u32], values: &'a [f64], dimension: usize) -> Result<Self> {
        let features = Self::Sparse { indices, values };
        features.check(dimension)?;
        Ok(features)
    }

    /// Checks that this is a well-formed vector of the given dimension.
    ///
    /// # Errors
    /// Those of [`Features::dense`] and [`Features::sparse`].
    pub fn check(self, dimension: usize) -> Result<()> {
        match self {
            Self::Dense(values) => check_length("features", dimension, values.len()),
            Self::Sparse { indices, values } => {
                check_length("sparse feature values", indices.len(), values.len())?;
                for (position, &index) in indices.iter().enumerate() {
                    if index as usize >= dimension {
                        return Err(Error::FeatureIndex {
                            position,
                            index,
                            dimension,
                        });
                    }
                    if position > 0 && indices[position - 1] >= index {
                        let previous = indices[position - 1];
                        return Err(Error::FeatureOrder {
                            position,
                            previous,
                            index,
                        });
                    }
                }
                Ok(())
            }
        }
    }

    /// The inner product phi . theta.
    #[inline]
    #[must_use]
    pub fn dot(&self, theta: &[f64]) -> f64 {
        match *self {
            Self::Dense(phi) => dot(phi, theta),
            Self::Sparse { indices, values } => {
                sparse_sum(indices, values, |index, value| value * theta[index])
            }
        }
    }

    /// Adds a multiple: theta += g phi.
    #[inline]
    pub fn axpy(&self, g: f64, theta: &mut [f64]) {
        match *self {
            Self::Dense(phi) => {
                assert_eq!(
                    phi.len(),
                    theta.len(),
                    "features have the dimension of theta"
                );
                for (theta, &phi) in theta.iter_mut().zip(phi) {
                    *theta += g * phi;
                }
            }
            Self::Sparse { indices, values } => {
                assert_eq!(indices.len(), values.len(), "one value per index");
                for (&index, &value) in indices.iter().zip(values) {
                    theta[index as usize] += g * value;
                }
            }
        }
    }

    /// Adds the square of each entry to its sum.
    #[inline]
    pub(crate) fn add_squares(&self, sums: &mut [f64]) {
        match self {
            Self::Dense(phi) => {
                for (sum, x) in sums.iter_mut().zip(*phi) {
                    *sum += x * x;
                }
            }
            Self::Sparse { .. } => self.for_each(|j, x| sums[j] += x * x),
        }
    }

    /// Visits the nonzero entries as (index, value).
    #[inline]
    pub fn for_each(self, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Dense(phi) => {
                for (index, &value) in phi.iter().enumerate() {
                    if value != 0.0 {
                        visit(index, value);
                    }
                }
            }
            Self::Sparse { indices, values } => {
                assert_eq!(indices.len(), values.len(), "one value per index");
                for (&index, &value) in indices.iter().zip(values) {
                    if value != 0.0 {
                        visit(index as usize, value);
                    }
                }
            }
        }
    }

    /// The squared norm |phi|^2.
    #[inline]
    #[must_use]
    pub fn norm_sq(&self) -> f64 {
        match *self {
            Self::Dense(phi) => dot(phi, phi),
            Self::Sparse { indices, values } => {
                sparse_sum(indices, values, |_, value| value * value)
            }
        }
    }
}

/// The inner product of two dense vectors of the same length.
#[inline]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len(), "features have the dimension of theta");
    // The same sums without the empty ones: short vectors are common, and the general loops would cost more
    // than the work. `0.0 +` turns a product of -0.0 into the +0.0 of a sum.
    let product = |i: usize| 0.0 + x[i] * y[i];
    match x.len() {
        1 => return product(0),
        2 => return product(0) + product(1),
        3 => return (product(0) + product(2)) + product(1),
        4 => return (product(0) + product(2)) + (product(1) + product(3)),
        5 => return ((product(0) + product(4)) + product(2)) + (product(1) + product(3)),
        _ => {}
    }
    let (x_blocks, x_rest) = x.as_chunks::<LANES>();
    let (y_blocks, y_rest) = y.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    for ((sum, &x), &y) in sums.iter_mut().zip(x_rest).zip(y_rest) {
        *sum += x * y;
    }
    join(sums)
}

/// The sum of one term per entry of a sparse vector.
#[inline]
fn sparse_sum(indices: &[u32], values: &[f64], term: impl Fn(usize, f64) -> f64) -> f64 {
    assert_eq!(indices.len(), values.len(), "one value per index");
    // The adjacent sum gets +0.0, so that both are written together, as they are later read: a load that spans two
    // smaller stores would have to wait until they reach the cache.
    let mut sums = [[0.0; 2]; LANES / 2];
    for (&index, &value) in indices.iter().zip(values) {
        let index = index as usize;
        let term = term(index, value).to_bits();
        let [even, odd] = HALVES[index % 2];
        let [x, y] = &mut sums[index / 2 % (LANES / 2)];
        *x += f64::from_bits(term & even);
        *y += f64::from_bits(term & odd);
    }
    let mut all = [0.0; LANES];
    all.as_chunks_mut().0.copy_from_slice(&sums);
    join(all)
}

/// Adds up the partial sums as a balanced tree.
#[inline]
fn join(s: [f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_integers_are_exact() {
        let theta: Vec<f64> = (0..19).map(f64::from).collect();
        let mut phi = vec![0.0; 19];
        (phi[2], phi[8], phi[10], phi[18]) = (3.0, -1.0, 2.0, 5.0);
        let dense = Features::dense(&phi, 19).unwrap();
        let (indices, values) = ([2, 8, 10, 18], [3.0, -1.0, 2.0, 5.0]);
        let sparse = Features::sparse(&indices, &values, 19).unwrap();
        for features in [dense, sparse] {
            assert_eq!(features.dot(&theta), 6.0 - 8.0 + 20.0 + 90.0);
            assert_eq!(features.norm_sq(), 9.0 + 1.0 + 4.0 + 25.0);
            let mut moved = theta.clone();
            features.axpy(2.0, &mut moved);
            assert_eq!(
                (moved[2], moved[8], moved[9], moved[18]),
                (8.0, 6.0, 9.0, 28.0)
            );
        }
    }

    #[test]
    fn short_vectors_have_the_bits_of_the_partial_sums() {
        let x = [0.1, -0.7, 1e16, -0.0, 0.3, 1.0 / 3.0, -1e16, 2.0, 0.9];
        let y = [3.0, 0.2, 1.0, 5.0, -0.4, 7.0, 1.0, -0.3, 0.6];
        let indices: Vec<u32> = (0..9).collect();
        for length in 1..=9 {
            let (values, indices) = (&x[..length], &indices[..length]);
            let sparse = Features::sparse(indices, values, length).unwrap();
            let sum = sparse.dot(&y[..length]);
            assert_eq!(dot(values, &y[..length]).to_bits(), sum.to_bits());
        }
        assert_eq!(dot(&[-0.0], &[1.0]).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn ill_formed_vectors_are_refused_with_the_place() {
        let length = |what, expected, found| {
            Err(Error::Length {
                what,
                expected,
                found,
            })
        };
        assert_eq!(Features::dense(&[1.0, 2.0], 3), length("features", 3, 2));
        assert_eq!(
            Features::sparse(&[0, 1], &[1.0], 3),
            length("sparse feature values", 2, 1)
        );
        assert_eq!(
            Features::sparse(&[0, 3], &[1.0, 1.0], 3),
            Err(Error::FeatureIndex {
                position: 1,
                index: 3,
                dimension: 3
            })
        );
        for (indices, previous, index) in [([2, 1], 2, 1), ([1, 1], 1, 1)] {
            assert_eq!(
                Features::sparse(&indices, &[1.0, 1.0], 3),
                Err(Error::FeatureOrder {
                    position: 1,
                    previous,
                    index
                })
            );
        }
        assert!(Features::sparse(&[], &[], 3).is_ok());
    }
}
