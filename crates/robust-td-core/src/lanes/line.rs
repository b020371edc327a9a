//! Stores lines of sixteen numbers as one list.

use serde::{Deserializer, Serializer, de::Error as _};

use crate::exact_float::ExactFloat;

/// The number of lanes in one line.
pub const WIDTH: usize = 16;

/// Sixteen lanes side by side.
pub type Line = robust_td_simd::Line<WIDTH>;

impl ExactFloat for Line {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_vec().write(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Vec::<f64>::read(deserializer)?;
        let line = numbers.try_into().map(Self::new);
        line.map_err(|numbers: Vec<f64>| D::Error::invalid_length(numbers.len(), &"16 numbers"))
    }
}

/// All lines as one list of numbers.
impl ExactFloat for Vec<Line> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers: Vec<f64> = self.iter().flat_map(|line| line.0).collect();
        numbers.write(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Vec::<f64>::read(deserializer)?;
        let (lines, rest) = numbers.as_chunks::<WIDTH>();
        match rest {
            [] => Ok(lines.iter().copied().map(Line::new).collect()),
            _ => Err(D::Error::invalid_length(
                numbers.len(),
                &"a multiple of 16 numbers",
            )),
        }
    }
}
