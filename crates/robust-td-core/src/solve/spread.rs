//! Temporary.
use crate::solve::quantile::two_sided;
/// The error of a sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub standard_error: f64,
    pub freedom: f64,
    pub reliable: bool,
}
impl Spread {
    #[must_use]
    pub fn half_width(&self, confidence: f64) -> f64 {
        if !self.reliable {
            return f64::INFINITY;
        }
        self.standard_error * two_sided(confidence, self.freedom)
    }
}
#[must_use]
pub fn ordered(c: &[f64], support: usize) -> Spread {
    independent(c, support)
}
#[must_use]
pub fn independent(c: &[f64], support: usize) -> Spread {
    let k = c.len() as f64;
    let mean = c.iter().sum::<f64>() / k;
    let s: f64 = c.iter().map(|x| (x - mean) * (x - mean)).sum();
    Spread {
        standard_error: (s * k / (k - 1.0)).sqrt(),
        freedom: (support as f64 - 1.0).max(1.0),
        reliable: support > 2,
    }
}
