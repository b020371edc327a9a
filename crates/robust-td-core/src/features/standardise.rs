//! Shifts and scales every coordinate to mean 0 and standard deviation 1.

use serde::{Deserialize, Serialize};

/// x_i -> (x_i - mean_i) / deviation_i.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Standardise {
    #[serde(with = "crate::exact_float")]
    mean: Vec<f64>,
    #[serde(with = "crate::exact_float")]
    deviation: Vec<f64>,
}

impl Standardise {
    /// The map for given moments. A constant coordinate is only shifted.
    pub fn new(mean: Vec<f64>, mut deviation: Vec<f64>) -> Self {
        for deviation in &mut deviation {
            if !(*deviation > 0.0) {
                *deviation = 1.0;
            }
        }
        Self { mean, deviation }
    }

    pub fn outputs(&self) -> usize {
        self.mean.len()
    }

    pub fn fits(&self, inputs: usize) -> bool {
        self.mean.len() == inputs
            && self.deviation.len() == inputs
            && self.deviation.iter().all(|&d| d > 0.0)
    }

    #[inline]
    pub fn write(&self, x: &[f64], put: &mut impl FnMut(usize, f64)) {
        let moments = self.mean.iter().zip(&self.deviation);
        for (i, (x, (mean, deviation))) in x.iter().zip(moments).enumerate() {
            put(i, (x - mean) / deviation);
        }
    }

    /// Writes all coordinates.
    #[inline]
    pub fn write_dense(&self, x: &[f64], out: &mut [f64]) {
        let moments = self.mean.iter().zip(&self.deviation);
        for ((out, x), (mean, deviation)) in out.iter_mut().zip(x).zip(moments) {
            *out = (x - mean) / deviation;
        }
    }
}
