//! Tests the work on lanes: the formulas, and the same bits by all vectors.

use super::*;
use crate::phi::Features;
use crate::random::Stream;

/// Random numbers.
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
    let factors = Line(numbers.take());
    let [rows, sum_rows, copies, sums]: [[Line; 5]; 4] = [(); 4].map(|()| numbers.lines());
    let (weights, x): ([Line; 5], [Line; 25]) = (numbers.lines(), numbers.lines());
    let [mut y, mut total]: [[Line; 25]; 2] = [numbers.lines(), numbers.lines()];
    let mut watch = Watch {
        norms: Line::default(),
        largest: Line(numbers.take()),
        squares: Line(numbers.take()),
    };
    let mut measure = Measure {
        theta: copies.to_vec(),
        sums: sums.to_vec(),
    };
    let (mut one, mut several) = (Lanes::zero(5, 1), Lanes::zero(5, 5));
    let mut errors = Vec::new();
    // SAFETY: the caller answers for the instructions.
    unsafe {
        let mut map = Map {
            rows: &rows,
            sum_rows: &sum_rows,
            weights: &weights,
            x: &x,
            y: &mut y,
            total: &mut total,
        };
        map.run::<V>();
        // More steps than moves are put off for.
        for t in 0..21 {
            let (psi, phi): ([f64; 5], [f64; 5]) = (numbers.take(), numbers.take());
            let change = Change {
                psi: view(&psi, sparse),
                phi: &view(&phi, sparse),
                reward: 0.7,
            };
            let mut all = AdvanceAll {
                lanes: &mut several,
                change: &change,
                reward: 0.6,
                weights: &weights,
                eta: 0.2,
            };
            all.run::<V>();
            let mut watched = AdvanceAndWatch {
                lanes: &mut one,
                change: &change,
                eta: 0.3,
                factors: &factors,
                watch: &mut watch,
                measure: (t % 3 > 0).then_some(&mut measure),
                leader: t % WIDTH,
            };
            errors.push(Line::of(watched.run::<V>()));
        }
        let mut norms = Norms {
            theta: &one.theta,
            norms: &mut total[0],
        };
        norms.run::<V>();
        for lanes in [&mut one, &mut several] {
            let mut add = AddAll {
                recent: &lanes.recent,
                sums: &mut lanes.moves,
            };
            add.run::<V>();
        }
    }
    let lanes = [&one.theta, &one.moves, &several.theta, &several.moves].map(|lines| &lines[..]);
    let others: [&[Line]; 5] = [&measure.sums, &errors, &y, &total, &[watch.squares]];
    let written = [lanes.concat(), others.concat()].concat();
    let bits = |lines: Vec<Line>| lines.into_iter().flat_map(|line| line.0.map(f64::to_bits));
    [written, vec![watch.norms, watch.largest]].map(|lines| bits(lines).collect())
}

/// Lists of up to twenty numbers, read and written in part, and their sums, as bits.
unsafe fn parts<V: Vector>(seed: u64) -> Vec<u64> {
    let mut numbers = Numbers(Stream::new(seed, 0));
    let mut bits = Vec::new();
    for length in 0..=20 {
        let (x, mut y): ([f64; 20], [f64; 20]) = (numbers.take(), [7.0; 20]);
        let mut line = Line::default();
        // SAFETY: the caller answers for the instructions.
        let sum = unsafe {
            let x = V::load_some(&x[..length]);
            x.store(&mut line);
            x.store_some(&mut y[..length]);
            x.sum()
        };
        let (read, whole) = (length.min(WIDTH), &x[..length.min(WIDTH)]);
        assert_eq!((&line.0[..read], &y[..read]), (whole, whole));
        assert!(line.0[read..].iter().all(|x| *x == 0.0) && y[read..].iter().all(|y| *y == 7.0));
        assert_eq!(sum, Features::Dense(whole).dot(&vec![1.0; read]));
        bits.push(sum.to_bits());
    }
    bits
}

/// What different vectors give for a seed.
macro_rules! same_bits {
    ($work:ident($($argument:expr),*)) => {{
        // SAFETY: arrays need no special instructions.
        let expected = unsafe { $work::<[f64; WIDTH]>($($argument),*) };
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{__m256d, __m512d};
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: just detected.
                assert_eq!(unsafe { $work::<[__m256d; 4]>($($argument),*) }, expected);
            }
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: just detected.
                assert_eq!(unsafe { $work::<[__m512d; 2]>($($argument),*) }, expected);
            }
        }
        expected
    }};
}

/// Five features, all of them told or the same as a sparse vector.
fn view(values: &[f64; 5], sparse: bool) -> Features<'_> {
    match sparse {
        false => Features::Dense(values),
        true => Features::Sparse {
            indices: &[0, 1, 2, 3, 4],
            values,
        },
    }
}

#[test]
fn all_vectors_give_the_same_bits() {
    for seed in 0..20 {
        let [dense, sparse] = [false, true].map(|sparse| same_bits!(all(seed, sparse)));
        // Sparse steps correct the norms, dense ones sum them anew.
        assert_eq!(dense[0], sparse[0]);
        same_bits!(parts(seed));
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
    let mut lanes = Lanes {
        dimension: 2,
        theta: of(&[2.0, 1.0]),
        moves: of(&[1.0, 0.0]),
        recent: Recent::default(),
        counted: 3,
    };
    let mut watch = Watch {
        norms: Line::of(5.0),
        largest: Line::of(30.0),
        squares: Line::of(1.0),
    };
    let mut measure = Measure {
        theta: of(&[3.0, 0.5]),
        sums: of(&[1.0, -1.0]),
    };
    let error = with_vectors(AdvanceAndWatch {
        lanes: &mut lanes,
        change: &change,
        eta: 0.5,
        factors: &Line::of(0.25),
        watch: &mut watch,
        measure: Some(&mut measure),
        leader: 15,
    });
    // delta = 10 + 2 - 2, the step is 0.5 * 0.25 * 10 = 1.25.
    assert_eq!(lanes.theta, of(&[5.75, 6.0]));
    // The moves so far are 16 and 20, whether they are added yet or not.
    assert_eq!(lanes.moves, of(&[1.0, 0.0]));
    assert_eq!(lanes.average(3), [5.75 - 16.0 / 4.0, 6.0 - 20.0 / 4.0]);
    lanes.settle();
    assert_eq!(lanes.moves, of(&[16.0, 20.0]));
    // The other theta's delta is 10 + 3 - 1.
    assert_eq!(measure.sums, of(&[37.0, 47.0]));
    let watched = [watch.largest[7], watch.squares[9], error];
    assert_eq!(watched, [69.0625, 101.0, 10.0]);
    let line = |numbers: [f64; 3]| {
        let mut line = Line::of(f64::NAN);
        line.0[..3].copy_from_slice(&numbers);
        line
    };
    let (mut y, mut total) = (of(&[f64::NAN; 2]), of(&[1.0, 1.0]));
    with_vectors(Map {
        rows: &[line([1.0, 0.5, 2.0]), line([-1.0, 1.0, 7.0])],
        sum_rows: &[line([1.0, 2.0, 3.0]), line([0.0, -1.0, 2.0])],
        weights: &of(&[-1.0]),
        x: &of(&[4.0, 8.0]),
        y: &mut y,
        total: &mut total,
    });
    assert_eq!(y, of(&[6.0, -3.0]));
    assert_eq!(total, of(&[18.0, -9.0]));
}
