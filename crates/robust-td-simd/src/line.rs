//! Stores numbers side by side in whole cache lines.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// N numbers, a multiple of eight, in whole cache lines: a 512-bit access that straddles two lines costs twice as much.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Line<const N: usize>(pub [f64; N]);

impl<const N: usize> Line<N> {
    /// A line contains its numbers and no padding.
    const NO_PADDING: () = assert!(size_of::<Self>() == N * size_of::<f64>());

    /// A line of these numbers.
    #[inline]
    #[must_use]
    pub const fn new(numbers: [f64; N]) -> Self {
        Self(numbers)
    }

    /// The same number in all lanes.
    #[inline]
    #[must_use]
    pub const fn of(value: f64) -> Self {
        Self([value; N])
    }

    /// All lines as one list of numbers.
    #[inline(always)]
    #[must_use]
    pub fn numbers(lines: &[Self]) -> &[f64] {
        let () = Self::NO_PADDING;
        // SAFETY: without padding, the numbers of consecutive lines are contiguous.
        unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * N) }
    }

    /// All lines as one mutable list of numbers.
    #[inline(always)]
    #[must_use]
    pub fn numbers_mut(lines: &mut [Self]) -> &mut [f64] {
        let () = Self::NO_PADDING;
        // SAFETY: as for `numbers`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * N) }
    }
}

impl<const N: usize> Default for Line<N> {
    #[inline]
    fn default() -> Self {
        Self::of(0.0)
    }
}

impl<const N: usize> Index<usize> for Line<N> {
    type Output = f64;

    #[inline(always)]
    fn index(&self, place: usize) -> &f64 {
        &self.0[place]
    }
}

impl<const N: usize> IndexMut<usize> for Line<N> {
    #[inline(always)]
    fn index_mut(&mut self, place: usize) -> &mut f64 {
        &mut self.0[place]
    }
}

impl Serialize for Line<8> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Line<8> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Deserialize::deserialize(deserializer).map(Self)
    }
}
