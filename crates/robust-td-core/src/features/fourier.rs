//! Computes the Fourier cosine basis of Konidaris, Osentoski and Thomas (AAAI 2011).

use serde::{Deserialize, Serialize};

use super::names::factor;
use super::range::Range;

/// x -> cos(pi k . u) with u = x scaled to [0, 1]^d, for frequency vectors k with entries up to `order`.
///
/// Coupled: all (order+1)^d vectors k. Uncoupled: only the `order * d + 1` vectors with at most one nonzero
/// entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fourier {
    order: usize,
    coupled: bool,
    range: Range,
}

impl Fourier {
    /// The number of features; `None` on overflow.
    pub fn count(order: usize, coupled: bool, inputs: usize) -> Option<usize> {
        if coupled {
            order
                .checked_add(1)?
                .checked_pow(u32::try_from(inputs).ok()?)
        } else {
            order.checked_mul(inputs)?.checked_add(1)
        }
    }

    pub fn new(order: usize, coupled: bool, range: Range) -> Self {
        Self {
            order,
            coupled,
            range,
        }
    }

    pub fn outputs(&self) -> usize {
        Self::count(self.order, self.coupled, self.range.inputs()).unwrap_or(usize::MAX)
    }

    pub fn fits(&self, inputs: usize) -> bool {
        let count = Self::count(self.order, self.coupled, inputs);
        self.range.fits(inputs) && count.is_some_and(|count| count <= super::MAX_FEATURES)
    }

    /// The frequency vector of a feature.
    fn frequencies(&self, index: usize) -> Vec<usize> {
        let mut frequencies = vec![0; self.range.inputs()];
        if self.coupled {
            let mut rest = index;
            for frequency in &mut frequencies {
                *frequency = rest % (self.order + 1);
                rest /= self.order + 1;
            }
        } else if index > 0 {
            frequencies[(index - 1) / self.order] = (index - 1) % self.order + 1;
        }
        frequencies
    }

    /// The name of a feature; `input` names the coordinates.
    pub fn name(&self, index: usize, input: &dyn Fn(usize) -> String) -> String {
        let times = |k: usize, of: String| match k {
            1 => of,
            _ => format!("{k} {of}"),
        };
        let frequencies = self.frequencies(index).into_iter().enumerate();
        let terms: Vec<_> = frequencies.filter(|&(_, k)| k > 0).collect();
        match terms[..] {
            [] => "1".into(),
            [(i, k)] => format!("cos({})", times(k, format!("pi {}", factor(input(i))))),
            _ => {
                let terms = terms.iter().map(|&(i, k)| times(k, factor(input(i))));
                format!("cos(pi({}))", terms.collect::<Vec<_>>().join(" + "))
            }
        }
    }

    #[inline]
    pub fn write(&self, x: &[f64], put: &mut impl FnMut(usize, f64)) {
        let unit = |i: usize| std::f64::consts::PI * self.range.unit(i, x[i]);
        if !self.coupled {
            put(0, 1.0);
            for i in 0..x.len() {
                for k in 1..=self.order {
                    let index = i * self.order + k;
                    put(index, (k as f64 * unit(i)).cos());
                }
            }
            return;
        }
        // The index of k is the number with the digits k_{d-1} ... k_0 to the base order + 1.
        for index in 0..self.outputs() {
            let (mut rest, mut angle) = (index, 0.0);
            for i in 0..x.len() {
                let frequency = rest % (self.order + 1);
                if frequency > 0 {
                    angle += frequency as f64 * unit(i);
                }
                rest /= self.order + 1;
            }
            put(index, angle.cos());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_coordinate_gives_discrete_cosines() {
        // On the midpoints of a grid of 8, cosines with frequencies below 8 are orthogonal.
        let map = Fourier::new(3, true, Range::uniform(-1.0, 3.0, 1));
        let mut gram = [[0.0; 4]; 4];
        for i in 0..8 {
            let mut row = [0.0; 4];
            let x = -1.0 + 4.0 * (i as f64 + 0.5) / 8.0;
            map.write(&[x], &mut |k, value| row[k] = value);
            for a in 0..4 {
                for b in 0..4 {
                    gram[a][b] += row[a] * row[b];
                }
            }
        }
        for a in 0..4 {
            for b in 0..4 {
                let diagonal = if a == 0 { 8.0 } else { 4.0 };
                let expected = if a == b { diagonal } else { 0.0 };
                assert!((gram[a][b] - expected).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn coupled_is_every_frequency_vector() {
        let map = Fourier::new(2, true, Range::uniform(0.0, 2.0, 2));
        assert_eq!(map.outputs(), 9);
        let x = [0.3, 1.7];
        map.write(&x, &mut |index, value| {
            let (k0, k1) = ((index % 3) as f64, (index / 3) as f64);
            let angle = std::f64::consts::PI * (k0 * x[0] / 2.0 + k1 * x[1] / 2.0);
            assert!((value - angle.cos()).abs() < 1e-15);
        });
    }

    #[test]
    fn uncoupled_is_one_coordinate_at_a_time() {
        let map = Fourier::new(2, false, Range::uniform(0.0, 1.0, 2));
        let mut row = vec![f64::NAN; map.outputs()];
        map.write(&[1.0, 0.5], &mut |k, value| row[k] = value);
        for (found, expected) in row.iter().zip([1.0, -1.0, 1.0, 0.0, -1.0]) {
            assert!((found - expected).abs() < 1e-15, "{row:?}");
        }
    }
}
