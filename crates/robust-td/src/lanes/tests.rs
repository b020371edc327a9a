//! Tests the work on lanes: the formulas, and the same bits by all vectors.

use super::advance::{Advance, AdvanceAll, AdvanceAndWatch, Change, Measure, Watch};
use super::line::{Line, WIDTH};
use super::linear::Map;
use super::norms::Norms;
use super::vector::Vector;
use super::work::{Work, with_vectors};
use crate::learner::Features;
use crate::random::Stream;

/// Numbers for a step in five dimensions.
struct Numbers(Stream);

impl Numbers {
    fn take<const N: usize>(&mut self) -> [f64; N] {
        std::array::from_fn(|_| self.0.uniform() - 0.5)
    }

    fn lines<const N: usize>(&mut self) -> [Line; N] {
        std::array::from_fn(|_| Line(self.take()))
    }
}

/// Everything that any work writes, done by one kind of vector, as bits; the norms of the lanes apart.
unsafe fn all<V: Vector>(seed: u64, sparse: bool) -> [Vec<u64>; 2] {
    let mut numbers = Numbers(Stream::new(seed, 0));
    let (psi, phi): ([f64; 5], [f64; 5]) = (numbers.take(), numbers.take());
    let rows: [f64; 30] = numbers.take();
    let [factors, mut norms, mut largest, mut squares] = numbers.lines();
    let mut error = 0.0;
    let [mut theta, mut moves, mut sums, copies]: [[Line; 5]; 4] =
        [(); 4].map(|()| numbers.lines());
    let (weights, x): ([Line; 5], [Line; 25]) = (numbers.lines(), numbers.lines());
    let mut y: [Line; 25] = numbers.lines();
    let indices = [0, 1, 2, 3, 4];
    let view = |values| match sparse {
        false => Features::Dense(values),
        true => Features::Sparse {
            indices: &indices,
            values,
        },
    };
    let change = Change {
        psi: view(&psi),
        phi: &view(&phi),
        reward: 0.7,
    };
    // SAFETY: the caller answers for the instructions.
    unsafe {
        let mut map = Map {
            rows: &rows,
            stride: 6,
            weights: &weights,
            x: &x,
            y: &mut y,
        };
        map.run::<V>();
        let mut summed = Norms {
            theta: &theta,
            norms: &mut norms,
        };
        summed.run::<V>();
        let mut all = AdvanceAll {
            change: &change,
            reward: 0.6,
            eta: 0.2,
            weights: &weights[..1],
            counted: 2.0,
            dimension: 5,
            theta: &mut theta,
            moves: &mut moves,
        };
        all.run::<V>();
        let advance = Advance {
            change: &change,
            counted: 3.0,
            theta: &mut theta,
            moves: &mut moves,
        };
        let watch = Watch {
            norms: &mut norms,
            largest: &mut largest,
            squares: &mut squares,
            leader: 11,
            error: &mut error,
        };
        let mut watched = AdvanceAndWatch {
            advance,
            eta: 0.3,
            factors: &factors,
            watch,
            measure: Some(Measure {
                theta: &copies,
                sums: &mut sums,
            }),
        };
        watched.run::<V>();
    }
    let written = [&theta[..], &moves, &sums, &y, &[squares, Line::of(error)]].concat();
    let bits = |lines: Vec<Line>| lines.into_iter().flat_map(|line| line.0.map(f64::to_bits));
    [written, vec![norms, largest]].map(|lines| bits(lines).collect())
}

#[test]
fn all_vectors_give_the_same_bits() {
    for seed in 0..20 {
        // SAFETY: arrays need no special instructions.
        let expected = [false, true].map(|sparse| unsafe { all::<[f64; WIDTH]>(seed, sparse) });
        // Sparse steps correct the norms, dense ones sum them anew.
        assert_eq!(expected[0][0], expected[1][0]);
        #[cfg(target_arch = "x86_64")]
        for (sparse, expected) in [false, true].into_iter().zip(&expected) {
            use std::arch::x86_64::{__m256d, __m512d};
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: just detected.
                assert_eq!(unsafe { all::<[__m256d; 4]>(seed, sparse) }, *expected);
            }
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: just detected.
                assert_eq!(unsafe { all::<[__m512d; 2]>(seed, sparse) }, *expected);
            }
        }
    }
}

/// The same products and sums as by hand, on numbers that need no rounding.
#[test]
fn a_step_is_that_of_the_formula() {
    let change = Change {
        psi: Features::Dense(&[1.0, -2.0]),
        phi: &Features::Dense(&[3.0, 4.0]),
        reward: 10.0,
    };
    let of = |numbers: &[f64]| -> Vec<Line> { numbers.iter().map(|x| Line::of(*x)).collect() };
    let [mut theta, mut moves, mut sums] = [[2.0, 1.0], [1.0, 0.0], [1.0, -1.0]].map(|x| of(&x));
    let [mut norms, mut largest, mut squares] = [5.0, 30.0, 1.0].map(Line::of);
    let mut error = 0.0;
    let advance = Advance {
        change: &change,
        counted: 4.0,
        theta: &mut theta,
        moves: &mut moves,
    };
    let watch = Watch {
        norms: &mut norms,
        largest: &mut largest,
        squares: &mut squares,
        leader: 15,
        error: &mut error,
    };
    with_vectors(AdvanceAndWatch {
        advance,
        eta: 0.5,
        factors: &Line::of(0.25),
        watch,
        measure: Some(Measure {
            theta: &of(&[3.0, 0.5]),
            sums: &mut sums,
        }),
    });
    // delta = 10 + 2 - 2, the step is 0.5 * 0.25 * 10 = 1.25.
    assert_eq!(theta, of(&[5.75, 6.0]));
    assert_eq!(moves, of(&[16.0, 20.0]));
    // The other theta's delta is 10 + 3 - 1.
    assert_eq!(sums, of(&[37.0, 47.0]));
    assert_eq!([largest[7], squares[9], error], [69.0625, 101.0, 10.0]);
    let mut y = of(&[1.0, 1.0]);
    with_vectors(Map {
        rows: &[1.0, 2.0, 3.0, f64::NAN, 0.0, -1.0, 2.0, f64::NAN],
        stride: 4,
        weights: &of(&[-1.0]),
        x: &of(&[4.0, 8.0]),
        y: &mut y,
    });
    assert_eq!(y, of(&[18.0, -9.0]));
}
