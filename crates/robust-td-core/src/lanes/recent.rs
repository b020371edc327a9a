//! Defers the addition of terms coefficient phi to sums, so that several are added at once.
//!
//! # Performance
//! A step of lanes is limited mainly by its stores. A sum that is not read yet need not be stored at every step: instead, one line of
//! coefficients and a copy of phi are kept per term. Terms are added in order, each rounded once, so the
//! bits do not depend on when they are added.

use robust_td_simd::{Simd, Vector, Wide, Work};

use super::line::{Line, WIDTH};

/// The number of terms added at once.
const KEPT: usize = 8;

/// Terms not yet added to some lines of sums.
#[derive(Debug, Clone, Default)]
pub struct Recent {
    count: usize,
    /// For each coordinate, the features of all terms side by side.
    phi: Vec<[f64; KEPT]>,
    /// The coefficients of each line.
    coefficients: Vec<[Line; KEPT]>,
}

/// The slot for a term.
pub struct Place<'a> {
    first: bool,
    place: usize,
    phi: &'a mut [[f64; KEPT]],
    /// Its coefficients.
    pub coefficients: &'a mut Line,
}

impl<'a> Place<'a> {
    /// The d slots for its features; `None` if already written, since all lines share them.
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

    /// Discards all terms.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The slot of the next term for a line, in d dimensions.
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

    /// The sum of a line including the terms so far.
    #[inline(always)]
    fn total<S: Simd>(&self, s: S, line: usize, j: usize, sum: &Line) -> S::Wide {
        let mut total = s.load16(sum);
        for i in 0..self.count {
            let (factor, x) = (&self.coefficients[line][i], self.phi[j][i]);
            total = s.load16(factor).fma(s.splat16(x), total);
        }
        total
    }

    /// Counts the term just written for every line; adds all terms when the buffer is full.
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

/// Adds a full buffer of terms to the sums of a line.
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
    /// All coordinates of the first line, then of the next.
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

/// Writes the sums of one lane including the terms so far.
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
