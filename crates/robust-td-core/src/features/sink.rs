//! Receives the features that a map makes, wherever they go.

/// What features are handed to, in increasing order of their indices.
pub(super) trait Sink {
    /// Takes the next feature.
    fn put(&mut self, index: usize, value: f64);

    /// Takes the next features, which are all 1.
    fn put_ones<const N: usize>(&mut self, indices: [u32; N]);
}

/// All entries of a vector that starts from zero.
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

/// The part of a vector from `first` on.
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
