//! Holds sixteen numbers side by side, and stores many of them as one list.

use std::ops::{Index, IndexMut};

use serde::{Deserializer, Serializer, de::Error as _};

use crate::exact_float::ExactFloat;

/// Lanes of one line.
pub const WIDTH: usize = 16;

/// Sixteen lanes side by side.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C, align(64))]
pub struct Line(pub [f64; WIDTH]);

const _: () = assert!(size_of::<Line>() == WIDTH * size_of::<f64>());

impl Line {
    /// The same number in all lanes.
    #[must_use]
    pub fn of(value: f64) -> Self {
        Self([value; WIDTH])
    }

    /// The numbers of one line after the other.
    #[inline(always)]
    #[must_use]
    pub fn numbers(lines: &[Self]) -> &[f64] {
        // SAFETY: a line is sixteen numbers and nothing else (see above), so those of a list follow each other without gaps.
        unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * WIDTH) }
    }
}

impl Index<usize> for Line {
    type Output = f64;

    #[inline(always)]
    fn index(&self, lane: usize) -> &f64 {
        &self.0[lane]
    }
}

impl IndexMut<usize> for Line {
    #[inline(always)]
    fn index_mut(&mut self, lane: usize) -> &mut f64 {
        &mut self.0[lane]
    }
}

impl ExactFloat for Line {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_vec().write(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Vec::<f64>::read(deserializer)?;
        let line = numbers.try_into().map(Self);
        line.map_err(|numbers: Vec<f64>| D::Error::invalid_length(numbers.len(), &"16 numbers"))
    }
}

/// The numbers of one line after the other.
impl ExactFloat for Vec<Line> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers: Vec<f64> = self.iter().flat_map(|line| line.0).collect();
        numbers.write(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Vec::<f64>::read(deserializer)?;
        let (lines, rest) = numbers.as_chunks::<WIDTH>();
        match rest {
            [] => Ok(lines.iter().copied().map(Line).collect()),
            _ => Err(D::Error::invalid_length(
                numbers.len(),
                &"a multiple of 16 numbers",
            )),
        }
    }
}
