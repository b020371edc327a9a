//! Standardises every coordinate by its running moments, for streams that can be read only once.

use serde::{Deserialize, Serialize};

/// x_i -> (x_i - mean_i) / deviation_i with the running mean and deviation (Welford), clipped to [-10, 10].
///
/// Early and late features of the same observation differ, so results on short streams are rough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Running {
    #[serde(deserialize_with = "crate::count::read")]
    count: u64,
    #[serde(with = "crate::exact_float")]
    mean: Vec<f64>,
    /// Sum of the squared deviations from the mean.
    #[serde(with = "crate::exact_float")]
    spread: Vec<f64>,
}

/// Values are clipped at this many deviations, so that one outlier cannot make a step diverge.
const CLIP: f64 = 10.0;

impl Running {
    pub fn new(inputs: usize) -> Self {
        Self {
            count: 0,
            mean: vec![0.0; inputs],
            spread: vec![0.0; inputs],
        }
    }

    pub fn outputs(&self) -> usize {
        self.mean.len()
    }

    pub fn fits(&self, inputs: usize) -> bool {
        self.mean.len() == inputs && self.spread.len() == inputs
    }

    /// The largest squared norm that clipping allows.
    pub fn norm_sq_bound(&self) -> f64 {
        CLIP * CLIP * self.mean.len() as f64
    }

    /// Updates the moments with one observation.
    pub fn observe(&mut self, x: &[f64]) {
        self.count += 1;
        for (i, &x) in x.iter().enumerate() {
            let before = x - self.mean[i];
            self.mean[i] += before / self.count as f64;
            self.spread[i] += before * (x - self.mean[i]);
        }
    }

    #[inline]
    pub fn write(&self, x: &[f64], put: &mut impl FnMut(usize, f64)) {
        for (i, &x) in x.iter().enumerate() {
            let variance = self.spread[i] / self.count.max(1) as f64;
            let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
            put(i, ((x - self.mean[i]) / deviation).clamp(-CLIP, CLIP));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moments_are_those_of_what_came() {
        let mut map = Running::new(1);
        for x in [1.0, 2.0, 3.0, 6.0] {
            map.observe(&[x]);
        }
        let written = |x: f64| {
            let mut value = f64::NAN;
            map.write(&[x], &mut |_, v| value = v);
            value
        };
        assert_eq!(written(3.0), 0.0);
        assert!((written(6.0) - 3.0 / 3.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!((written(1e9), written(-1e9)), (CLIP, -CLIP));
    }
}
