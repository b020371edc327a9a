//! Puts off adding terms coefficient phi to sums, so that several are added at once.
//!
//! # Performance
//! A step of lanes waits for its stores above all. A sum that nobody reads yet need not be stored in every step: of each
//! term one line of coefficients is kept instead, and a copy of phi. Terms are added in their order, each rounded once, so the
//! bits do not depend on when that is done.

use robust_td_simd::{Simd, Vector, Wide, Work};

use super::line::{Line, WIDTH};

/// How many terms are added at once.
const KEPT: usize = 8;

/// Terms that are still to be added to some lines of sums.
#[derive(Debug, Clone, Default)]
pub struct Recent {
    count: usize,
    /// Coordinate after coordinate, the features of all terms side by side.
    phi: Vec<[f64; KEPT]>,
    /// The coefficients of each line.
    coefficients: Vec<[Line; KEPT]>,
}

/// Where a term is written to.
pub struct Place<'a> {
    first: bool,
    place: usize,
    phi: &'a mut [[f64; KEPT]],
    /// Its coefficients.
    pub coefficients: &'a mut Line,
}

impl<'a> Place<'a> {
    /// The d places of its features; none if they are kept already, since they are the same for all lines.
    #[inline(always)]
    pub fn phi(self) -> Option<impl Iterator<Item = &'a mut f64>> {
        let places = self.phi.iter_mut().map(move |phi| &mut phi[self.place]);
        self.first.then_some(places)
    }
}

impl Recent {
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets all terms.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The place of the next term for a line, in d dimensions.
    #[inline(always)]
    pub fn next(&mut self, d: usize, line: usize) -> Place<'_> {
        if self.phi.len() != d || self.coefficients.len() <= line {
            self.make_room(d, line);
        }
        let place = self.count % KEPT;
        Place {
            first: line == 0,
            place,
            phi: &mut self.phi,
            coefficients: &mut self.coefficients[line][place],
        }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, d: usize, line: usize) {
        assert!(
            self.is_empty(),
            "the first term has as many lines as the others"
        );
        self.phi.resize(d, [0.0; KEPT]);
        self.coefficients.resize(line + 1, [Line::default(); KEPT]);
    }

    /// A sum of a line with the terms so far.
    #[inline(always)]
    fn total<S: Simd>(&self, s: S, line: usize, j: usize, sum: &Line) -> S::Wide {
        let mut total = s.load16(sum);
        for i in 0..self.count {
            let (factor, x) = (&self.coefficients[line][i], self.phi[j][i]);
            total = s.load16(factor).fma(s.splat16(x), total);
        }
        total
    }

    /// Counts the term that was written for every line; adds all terms if there is no place for another.
    #[inline(always)]
    pub fn push<S: Simd>(&mut self, s: S, sums: &mut [Line]) {
        self.count += 1;
        if self.count == KEPT {
            let d = self.phi.len();
            for (k, coefficients) in self.coefficients.iter().enumerate() {
                let sums = &mut sums[k * d..][..d];
                add_full(s, coefficients, &self.phi, sums);
            }
            self.count = 0;
        }
    }
}

/// Adds as many terms as there can be to the sums of a line.
#[inline(always)]
fn add_full<S: Simd>(s: S, coefficients: &[Line; KEPT], phi: &[[f64; KEPT]], sums: &mut [Line]) {
    let mut factors = [s.splat16(0.0); KEPT];
    for (factor, line) in factors.iter_mut().zip(coefficients) {
        *factor = s.load16(line);
    }
    for (sum, phi) in sums.iter_mut().zip(phi) {
        let mut total = s.load16(sum);
        for i in 0..KEPT {
            total = factors[i].fma(s.splat16(phi[i]), total);
        }
        total.store(sum);
    }
}

/// Adds the terms so far to their sums.
pub struct AddAll<'a> {
    /// The terms.
    pub recent: &'a Recent,
    /// The coordinates of one line after the other.
    pub sums: &'a mut [Line],
}

impl Work for AddAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        let d = self.recent.phi.len();
        for line in 0..self.recent.coefficients.len() {
            for (j, sum) in self.sums[line * d..][..d].iter_mut().enumerate() {
                self.recent.total(s, line, j, sum).store(sum);
            }
        }
    }
}

/// Writes the sums of one lane with the terms so far.
pub struct OfLane<'a> {
    /// The terms.
    pub recent: &'a Recent,
    /// The coordinates of the lane's line.
    pub sums: &'a [Line],
    /// The lane.
    pub lane: usize,
    /// Its coordinates.
    pub out: &'a mut [f64],
}

impl Work for OfLane<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) {
        let (line, place) = (self.lane / WIDTH, self.lane % WIDTH);
        for (j, (out, sum)) in self.out.iter_mut().zip(self.sums).enumerate() {
            *out = self.recent.total(s, line, j, sum).lane(place);
        }
    }
}
