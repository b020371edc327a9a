//! One-hot encodes a discrete column.

use serde::{Deserialize, Serialize};

use super::names::number;

/// One feature per value of one coordinate, 1 for the current value; the other coordinates are ignored.
///
/// A value not seen during fitting has no feature: the vector is zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OneHot {
    column: usize,
    /// The values, increasing.
    values: Vec<f64>,
}

impl OneHot {
    pub fn new(column: usize, values: Vec<f64>) -> Self {
        Self { column, values }
    }

    pub fn column(&self) -> usize {
        self.column
    }

    pub fn outputs(&self) -> usize {
        self.values.len()
    }

    pub fn fits(&self, inputs: usize) -> bool {
        let increasing = self.values.windows(2).all(|pair| pair[0] < pair[1]);
        self.column < inputs && !self.values.is_empty() && increasing
    }

    /// The name of a feature; `input` names the coordinates.
    pub fn name(&self, index: usize, input: &dyn Fn(usize) -> String) -> String {
        let value = number(self.values[index]);
        format!("one-hot({}={value})", input(self.column))
    }

    /// Whether the value of an observation was seen.
    pub fn knows(&self, x: &[f64]) -> bool {
        self.index(x).is_some()
    }

    #[inline]
    pub fn write(&self, x: &[f64], put: &mut impl FnMut(usize, f64)) {
        if let Some(index) = self.index(x) {
            put(index, 1.0);
        }
    }

    #[inline]
    fn index(&self, x: &[f64]) -> Option<usize> {
        let value = x[self.column];
        let index = self.values.partition_point(|&v| v < value);
        (self.values.get(index) == Some(&value)).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_value_has_its_feature() {
        let map = OneHot::new(1, vec![-1.0, 2.0, 7.0]);
        let index = |value: f64| {
            let mut found = None;
            map.write(&[9.0, value], &mut |index, _| found = Some(index));
            found
        };
        let found = [-1.0, 2.0, 7.0, 3.0, f64::NAN].map(index);
        assert_eq!(found, [Some(0), Some(1), Some(2), None, None]);
        assert!(map.fits(2) && !map.fits(1));
    }
}
