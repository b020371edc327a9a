//! Abstracts the destination of the features that a map computes.

/// Receives features in increasing order of index.
pub(super) trait Sink {
    /// Receives the next feature.
    fn put(&mut self, index: usize, value: f64);

    /// Receives the next features, all equal to 1.
    fn put_ones<const N: usize>(&mut self, indices: [u32; N]);
}

/// Writes into a dense vector that starts as zeros.
impl Sink for [f64] {
    #[inline]
    fn put(&mut self, index: usize, value: f64) {
        self[index] = value;
    }

    #[inline]
    fn put_ones<const N: usize>(&mut self, indices: [u32; N]) {
        for index in indices {
            self[index as usize] = 1.0;
        }
    }
}

/// Writes into another sink with all indices shifted by `first`.
pub(super) struct Shifted<'a, S: ?Sized> {
    pub first: usize,
    pub sink: &'a mut S,
}

impl<S: Sink + ?Sized> Sink for Shifted<'_, S> {
    #[inline]
    fn put(&mut self, index: usize, value: f64) {
        self.sink.put(self.first + index, value);
    }

    #[inline]
    fn put_ones<const N: usize>(&mut self, mut indices: [u32; N]) {
        for index in &mut indices {
            *index += self.first as u32;
        }
        self.sink.put_ones(indices);
    }
}
