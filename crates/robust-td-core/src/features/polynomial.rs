//! Computes all monomials up to a total degree, including the constant 1.

use serde::{Deserialize, Serialize};

use super::names::factor;
use crate::error::{Error, Result};

/// The largest degree: beyond it powers overflow or vanish for ordinary numbers, and a monomial takes a product per degree.
pub(super) const MAX_DEGREE: usize = 64;

/// x -> (1, x_0, ..., x_0^2, x_0 x_1, ...): degree by degree, each monomial once.
///
/// A monomial is one coordinate times a monomial of the degree below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Shape", into = "Shape")]
pub(super) struct Polynomial {
    shape: Shape,
    /// Per monomial from degree 1 on: the monomial of the degree below, and the coordinate.
    factors: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    inputs: usize,
    degree: usize,
}

impl TryFrom<Shape> for Polynomial {
    type Error = Error;

    fn try_from(Shape { inputs, degree }: Shape) -> Result<Self> {
        match Self::count(inputs, degree) {
            Some(count) if count <= super::MAX_FEATURES => Ok(Self::new(inputs, degree)),
            _ => Err(Error::Saved {
                contradiction: format!("polynomials of degree {degree} in {inputs} coordinates"),
            }),
        }
    }
}

impl From<Polynomial> for Shape {
    fn from(polynomial: Polynomial) -> Self {
        polynomial.shape
    }
}

impl Polynomial {
    /// The number of monomials, (inputs + degree) choose degree; `None` on overflow and for too large a degree.
    pub fn count(inputs: usize, degree: usize) -> Option<usize> {
        let next = |count: usize, k: usize| Some(count.checked_mul(inputs.checked_add(k)?)? / k);
        (degree <= MAX_DEGREE).then_some(())?;
        (1..=degree).try_fold(1, next)
    }

    pub fn new(inputs: usize, degree: usize) -> Self {
        let mut factors = Vec::new();
        // The monomials of the degree below, with the first coordinate that may still be multiplied.
        let mut below = vec![(0_u32, 0_u32)];
        for _ in 0..degree {
            let mut level = Vec::new();
            for (monomial, first) in below {
                for coordinate in first..inputs as u32 {
                    factors.push((monomial, coordinate));
                    level.push((factors.len() as u32, coordinate));
                }
            }
            below = level;
        }
        let shape = Shape { inputs, degree };
        Self { shape, factors }
    }

    pub fn outputs(&self) -> usize {
        self.factors.len() + 1
    }

    pub fn fits(&self, inputs: usize) -> bool {
        self.shape.inputs == inputs
    }

    /// The name of a feature; `input` names the coordinates.
    pub fn name(&self, mut index: usize, input: &dyn Fn(usize) -> String) -> String {
        // From the last factor to the first; equal factors are next to each other.
        let mut powers: Vec<(u32, usize)> = Vec::new();
        while index > 0 {
            let (below, coordinate) = self.factors[index - 1];
            match powers.last_mut() {
                Some((last, power)) if *last == coordinate => *power += 1,
                _ => powers.push((coordinate, 1)),
            }
            index = below as usize;
        }
        let factors = powers.iter().rev().map(|&(coordinate, power)| {
            let name = input(coordinate as usize);
            match (power, powers.len()) {
                (1, 1) => name,
                (1, _) => factor(name),
                _ => format!("{}^{power}", factor(name)),
            }
        });
        let factors: Vec<String> = factors.collect();
        if factors.is_empty() {
            return "1".into();
        }
        factors.join("*")
    }

    #[inline]
    pub fn write(&self, x: &[f64], put: &mut impl FnMut(usize, f64)) {
        put(0, 1.0);
        for i in 0..self.factors.len() {
            put(i + 1, self.monomial(i + 1, x));
        }
    }

    #[inline]
    fn monomial(&self, mut index: usize, x: &[f64]) -> f64 {
        let mut value = 1.0;
        while index > 0 {
            let (below, coordinate) = self.factors[index - 1];
            value *= x[coordinate as usize];
            index = below as usize;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_monomial_comes_once() {
        let map = Polynomial::new(2, 3);
        let mut values = Vec::new();
        map.write(&[2.0, 3.0], &mut |_, value| values.push(value));
        let expected = [1.0, 2.0, 3.0, 4.0, 6.0, 9.0, 8.0, 12.0, 18.0, 27.0];
        assert_eq!(values, expected);
        for (inputs, degree) in [(1, 5), (3, 2), (4, 3), (6, 0)] {
            let count = Polynomial::count(inputs, degree);
            assert_eq!(count, Some(Polynomial::new(inputs, degree).outputs()));
        }
        assert_eq!(Polynomial::count(usize::MAX / 2, 9), None);
    }
}
