//! Tests the lanes: the formulas, and bit-identical results from all kernels.

use robust_td_simd::{Kernel, Portable, Simd, Work};

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
        std::array::from_fn(|_| Line::new(self.take()))
    }
}

/// Everything that the kernels write, as bits; the norms of the lanes are separate.
struct All {
    seed: u64,
    sparse: bool,
}

impl Work for All {
    type Output = [Vec<u64>; 2];

    #[inline(always)]
    fn run<S: Simd>(&mut self, s: S) -> [Vec<u64>; 2] {
        let mut numbers = Numbers(Stream::new(self.seed, 0));
        let factors = Line::new(numbers.take());
        let [rows, sum_rows, copies, sums]: [[Line; 5]; 4] = [(); 4].map(|()| numbers.lines());
        let (weights, x): ([Line; 5], [Line; 25]) = (numbers.lines(), numbers.lines());
        let [mut y, mut total]: [[Line; 25]; 2] = [numbers.lines(), numbers.lines()];
        let mut watch = Watch {
            norms: Line::default(),
            largest: Line::new(numbers.take()),
            squares: Line::new(numbers.take()),
        };
        let mut measure = Measure {
            theta: copies.to_vec(),
            sums: sums.to_vec(),
        };
        let (mut one, mut several) = (Lanes::zero(5, 1), Lanes::zero(5, 5));
        let mut errors = Vec::new();
        let mut map = Map {
            rows: &rows,
            sum_rows: &sum_rows,
            weights: &weights,
            x: &x,
            y: &mut y,
            total: &mut total,
        };
        map.run(s);
        // More steps than the buffer of deferred moves holds.
        for t in 0..21 {
            let (psi, phi): ([f64; 5], [f64; 5]) = (numbers.take(), numbers.take());
            let change = Change {
                psi: view(&psi, self.sparse),
                phi: &view(&phi, self.sparse),
                reward: 0.7,
            };
            let mut all = AdvanceAll {
                lanes: &mut several,
                change: &change,
                reward: 0.6,
                weights: &weights,
                eta: 0.2,
            };
            all.run(s);
            let mut watched = AdvanceAndWatch {
                lanes: &mut one,
                change: &change,
                eta: 0.3,
                factors: &factors,
                watch: &mut watch,
                measure: (t % 3 > 0).then_some(&mut measure),
                leader: t % WIDTH,
            };
            errors.push(Line::of(watched.run(s)));
        }
        let mut norms = Norms {
            theta: &one.theta,
            norms: &mut total[0],
        };
        norms.run(s);
        for lanes in [&mut one, &mut several] {
            let mut add = AddAll {
                recent: &lanes.recent,
                sums: &mut lanes.moves,
            };
            add.run(s);
        }
        let lanes =
            [&one.theta, &one.moves, &several.theta, &several.moves].map(|lines| &lines[..]);
        let others: [&[Line]; 5] = [&measure.sums, &errors, &y, &total, &[watch.squares]];
        let written = [lanes.concat(), others.concat()].concat();
        let bits = |lines: Vec<Line>| lines.into_iter().flat_map(|line| line.0.map(f64::to_bits));
        [written, vec![watch.norms, watch.largest]].map(|lines| bits(lines).collect())
    }
}

/// Five features as a dense or a sparse vector.
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
fn all_kernels_give_the_same_bits() {
    for seed in 0..20 {
        let [dense, sparse] = [false, true].map(|sparse| {
            let expected = All { seed, sparse }.run(Portable::PLAIN);
            for kernel in Kernel::available() {
                assert_eq!(kernel.run(All { seed, sparse }), expected, "{kernel}");
            }
            expected
        });
        // Sparse steps correct the norms, dense ones sum them again.
        assert_eq!(dense[0], sparse[0]);
    }
}

/// A short dot product must sum in the same order as the vectors and [`Features::dot`].
#[test]
fn a_temporal_difference_error_is_the_same_by_features() {
    let mut numbers = Numbers(Stream::new(5, 0));
    for length in 0..=20 {
        let (psi, theta): ([f64; 20], [f64; 20]) = (numbers.take(), numbers.take());
        let (psi, theta) = (Features::Dense(&psi[..length]), &theta[..length]);
        let phi = &psi;
        let change = Change {
            psi,
            phi,
            reward: 0.25,
        };
        assert_eq!(
            change.td_error(Portable::PLAIN, theta),
            0.25 + psi.dot(theta)
        );
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
    let error = run(AdvanceAndWatch {
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
    // The moves so far are 16 and 20, whether added yet or not.
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
    run(Map {
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
